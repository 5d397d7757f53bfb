//! The sweep's own tables. One file for each: its row, how it is written and how it is read; `docs/tables.md` says the same to users.

pub mod all_trials;
pub mod claims;
pub mod curves;
pub mod leaderboard;
pub mod reproduction;
pub mod trials;
pub mod tuning;

pub use all_trials::RankedRow;
pub use claims::{ClaimRow, TestedClaim};
pub use curves::CurveRow;
pub use leaderboard::LeaderboardRow;
pub use reproduction::{Ours, ReproductionRow};
pub use trials::{Status, TrialRow};
pub use tuning::TuningRow;

use arrow::{
    array::{Array, PrimitiveArray, RecordBatch, StringArray},
    datatypes::ArrowPrimitiveType,
};
use dataset::{
    Error, Location, Result,
    table::{self, Column},
};
use evaluator::{Metric, MetricAt};
use std::sync::Arc;

pub(crate) fn texts<T: AsRef<str>>(name: &'static str, values: impl Iterator<Item = T>) -> Column {
    (name, Arc::new(values.map(Some).collect::<StringArray>()), false)
}

pub(crate) fn texts_or_null<T: AsRef<str>>(name: &'static str, values: impl Iterator<Item = Option<T>>) -> Column {
    (name, Arc::new(StringArray::from_iter(values)), true)
}

pub(crate) fn numbers<T: ArrowPrimitiveType>(name: &'static str, values: impl Iterator<Item = T::Native>) -> Column {
    (name, Arc::new(PrimitiveArray::<T>::from_iter_values(values)), false)
}

pub(crate) fn numbers_or_null<T: ArrowPrimitiveType>(name: &'static str, values: impl Iterator<Item = Option<T::Native>>) -> Column {
    (name, Arc::new(values.collect::<PrimitiveArray<T>>()), true)
}

/// Typed access to the columns of a table that was read from `at`.
struct Reader<'a> {
    batch: &'a RecordBatch,
    at: &'a Location,
}

impl Reader<'_> {
    fn text(&self, name: &str) -> Result<impl Fn(usize) -> String + '_> {
        let column: &StringArray = table::column(self.batch, name, self.at)?;
        Ok(move |row| column.value(row).to_owned())
    }

    fn text_or_null(&self, name: &str) -> Result<impl Fn(usize) -> Option<String> + '_> {
        let column: &StringArray = table::column(self.batch, name, self.at)?;
        Ok(move |row| column.is_valid(row).then(|| column.value(row).to_owned()))
    }

    fn number<T: ArrowPrimitiveType>(&self, name: &str) -> Result<impl Fn(usize) -> T::Native + '_> {
        let column: &PrimitiveArray<T> = table::column(self.batch, name, self.at)?;
        Ok(move |row| column.value(row))
    }

    fn number_or_null<T: ArrowPrimitiveType>(&self, name: &str) -> Result<impl Fn(usize) -> Option<T::Native> + '_> {
        let column: &PrimitiveArray<T> = table::column(self.batch, name, self.at)?;
        Ok(move |row| column.is_valid(row).then(|| column.value(row)))
    }

    fn refuse(&self, row: usize, reason: impl std::fmt::Display) -> Error {
        Error::content(self.at, format!("row {}: {reason}", row + 1))
    }
}

/// The metric whose name and cutoff stand in two columns.
fn metric_at(name: &str, cutoff: Option<u32>) -> Result<MetricAt, String> {
    let metric = Metric::ALL.into_iter().find(|metric| metric.name() == name).ok_or_else(|| format!("`{name}` is no metric"))?;
    Ok(MetricAt { metric, cutoff })
}
