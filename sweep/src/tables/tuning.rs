//! `tuning.parquet`: the best validation value that a search of each method may expect, by how many configurations it tries. Its bytes are
//! the same whenever the sweep is.

use super::{numbers, texts};
use arrow::datatypes::{Float64Type, UInt32Type};
use dataset::{FileEntry, Location, Result, table};
use evaluator::{MetricAt, significance::ExpectedBest};

/// A method of a dataset, after so many configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct TuningRow {
    /// The dataset's name in the sweep file.
    pub dataset: String,
    /// The method's key: the same in every table.
    pub method: String,
    /// The validation metric that picks values.
    pub select_by: MetricAt,
    /// The budget, and what it finds.
    pub best: ExpectedBest,
}

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub fn write(at: &Location, rows: &[TuningRow]) -> Result<FileEntry> {
    let columns = vec![
        texts("dataset", rows.iter().map(|row| &row.dataset)),
        texts("method", rows.iter().map(|row| &row.method)),
        texts("select_by", rows.iter().map(|row| row.select_by.to_string())),
        numbers::<UInt32Type>("budget", rows.iter().map(|row| row.best.budget)),
        numbers::<Float64Type>("expected_best", rows.iter().map(|row| row.best.mean)),
        numbers::<Float64Type>("std", rows.iter().map(|row| row.best.std)),
    ];
    table::write(at, &table::batch(columns))
}
