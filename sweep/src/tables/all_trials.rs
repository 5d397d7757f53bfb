//! `all_trials.parquet`: test metrics of every trial that was trained to its end, picked or not. Its bytes are the same whenever the sweep is.

use super::{numbers, numbers_or_null, texts, texts_or_null};
use arrow::{
    array::BooleanArray,
    datatypes::{Float64Type, UInt32Type, UInt64Type},
};
use dataset::{FileEntry, Location, Result, table};
use evaluator::tables::MetricRow;
use std::sync::Arc;

/// The warning beside every test value that validation did not pick: to choose by it is to tune on test.
const NOT_FOR_SELECTING: &str = "not for selecting";

/// A trial by one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedRow {
    /// The columns of `metrics.parquet`.
    pub measured: MetricRow,
    /// The values of the trial: a flat JSON object.
    pub parameters: serde_json::Value,
    /// Whether validation picked its values.
    pub selected: bool,
}

impl RankedRow {
    fn note(&self) -> Option<&'static str> {
        (!self.selected).then_some(NOT_FOR_SELECTING)
    }
}

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub fn write(at: &Location, rows: &[RankedRow]) -> Result<FileEntry> {
    let measured = || rows.iter().map(|row| &row.measured);
    let columns = vec![
        texts("trial", measured().map(|row| &row.trial)),
        texts("method", measured().map(|row| &row.method)),
        texts("dataset", measured().map(|row| &row.dataset)),
        numbers_or_null::<UInt64Type>("seed", measured().map(|row| row.seed)),
        numbers_or_null::<UInt64Type>("split_seed", measured().map(|row| row.split_seed)),
        texts("split", measured().map(|row| row.split.name())),
        texts("metric", measured().map(|row| row.metric.metric.name())),
        numbers_or_null::<UInt32Type>("cutoff", measured().map(|row| row.metric.cutoff)),
        numbers::<Float64Type>("value", measured().map(|row| row.value)),
        numbers::<UInt32Type>("users", measured().map(|row| row.users as u32)),
        numbers::<UInt32Type>("tied_users", measured().map(|row| row.tied_users as u32)),
        numbers::<UInt32Type>("unknown_users", measured().map(|row| row.unknown_users as u32)),
        numbers_or_null::<UInt32Type>("sampled_candidates", measured().map(|row| row.sampled_candidates)),
        texts("parameters", rows.iter().map(|row| row.parameters.to_string())),
        ("selected", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.selected)))), false),
        texts_or_null("note", rows.iter().map(RankedRow::note)),
    ];
    table::write(at, &table::batch(columns))
}
