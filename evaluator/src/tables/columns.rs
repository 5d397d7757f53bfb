//! Columns in and out of batches.

use super::content;
use crate::{Metric, MetricAt, Result};
use arrow::array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array};
use dataset::{
    Location,
    table::{self, Column},
};
use std::sync::Arc;

/// The most bytes of text in one column: its offsets are 32 bits wide.
const TEXT_BYTES: usize = i32::MAX as usize;

/// A column of texts, of the table `at`.
///
/// # Errors
/// An error about the table's content for more bytes than a column holds.
pub(super) fn strings<T: AsRef<str>>(at: &Location, name: &'static str, values: impl Iterator<Item = T> + Clone) -> Result<Column> {
    let bytes: usize = values.clone().map(|value| value.as_ref().len()).sum();
    if bytes > TEXT_BYTES {
        let reason = format!("column `{name}` would hold {bytes} bytes of text, more than {TEXT_BYTES}; ask for fewer metrics or cutoffs");
        return Err(content(at, reason));
    }
    Ok((name, Arc::new(values.map(Some).collect::<StringArray>()), false))
}

pub(super) fn reals(name: &'static str, values: impl Iterator<Item = f64>) -> Column {
    (name, Arc::new(Float64Array::from_iter_values(values)), false)
}

pub(super) fn reals_or_null(name: &'static str, values: impl Iterator<Item = Option<f64>>) -> Column {
    (name, Arc::new(values.collect::<Float64Array>()), true)
}

pub(super) fn numbers(values: impl IntoIterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

/// The columns `metric` and `cutoff`, of the table `at`.
///
/// # Errors
/// As [`strings`].
pub(super) fn metric_columns(at: &Location, metrics: impl Iterator<Item = MetricAt> + Clone) -> Result<[Column; 2]> {
    let cutoffs: UInt32Array = metrics.clone().map(|metric| metric.cutoff).collect();
    Ok([strings(at, "metric", metrics.map(|metric| metric.metric.name()))?, ("cutoff", Arc::new(cutoffs), true)])
}

/// The metrics of the columns `metric` and `cutoff`, by row.
pub(super) fn metrics(batch: &RecordBatch, at: &Location) -> Result<Vec<MetricAt>> {
    let names: &StringArray = table::column(batch, "metric", at)?;
    let cutoffs: &UInt32Array = table::column(batch, "cutoff", at)?;
    let rows = (0..batch.num_rows()).map(|row| {
        let metric = Metric::ALL.into_iter().find(|metric| metric.name() == names.value(row));
        let metric =
            metric.ok_or_else(|| content(at, format!("unknown metric `{}`; was it written by a later version?", names.value(row))))?;
        Ok(MetricAt { metric, cutoff: cutoffs.is_valid(row).then(|| cutoffs.value(row)) })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::repeat_n;

    #[test]
    fn more_text_than_a_column_holds_is_an_error() {
        let at = Location::parse("memory:///tables/wide.parquet").unwrap();
        let id = "u".repeat(1 << 20);
        let message = strings(&at, "user_id", repeat_n(&id, 2048)).unwrap_err().to_string();
        assert!(message.contains("/tables/wide.parquet: column `user_id` would hold 2147483648 bytes"), "{message}");
        assert!(message.contains("more than 2147483647;"), "{message}");
    }
}
