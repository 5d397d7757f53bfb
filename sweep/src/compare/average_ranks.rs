//! `average_ranks.parquet`: the methods of a comparison over several datasets.

use crate::report::across::{AcrossDatasets, Ranked};
use crate::tables::{numbers, numbers_or_null, texts};
use arrow::datatypes::{Float64Type, UInt32Type};
use dataset::{FileEntry, Location, Result, table};

/// Writes the table, one row for each method, the best average rank first.
///
/// # Errors
/// When it cannot be stored.
pub(crate) fn write(at: &Location, across: &AcrossDatasets) -> Result<FileEntry> {
    let methods = || across.methods.iter();
    let count = |name, of: fn(&Ranked) -> usize| numbers::<UInt32Type>(name, methods().map(|method| of(method) as u32));
    let columns = vec![
        texts("metric", methods().map(|_| across.at.metric.name())),
        numbers_or_null::<UInt32Type>("cutoff", methods().map(|_| across.at.cutoff)),
        texts("method", methods().map(|method| &method.key)),
        texts("title", methods().map(|method| &method.title)),
        numbers::<UInt32Type>("datasets", methods().map(|_| across.datasets.len() as u32)),
        numbers::<Float64Type>("average_rank", methods().map(|method| method.average_rank)),
        count("wins", |method| method.record.wins),
        count("ties", |method| method.record.ties),
        count("losses", |method| method.record.losses),
    ];
    table::write(at, &table::batch(columns))
}
