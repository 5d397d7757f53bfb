//! `friedman.parquet`: whether the methods of a comparison differ at all. One row.

use crate::report::across::AcrossDatasets;
use crate::tables::{numbers, numbers_or_null, texts};
use arrow::{
    array::BooleanArray,
    datatypes::{Float64Type, UInt32Type},
};
use dataset::{FileEntry, Location, Result, table};
use std::{iter::once, sync::Arc};

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub(crate) fn write(at: &Location, across: &AcrossDatasets) -> Result<FileEntry> {
    let found = &across.friedman;
    let count = |name, count: usize| numbers::<UInt32Type>(name, once(count as u32));
    let value = |name, value: f64| numbers::<Float64Type>(name, once(value));
    let columns = vec![
        texts("metric", once(across.at.metric.name())),
        numbers_or_null::<UInt32Type>("cutoff", once(across.at.cutoff)),
        count("methods", across.methods.len()),
        count("datasets", across.datasets.len()),
        value("chi_square", found.chi_square),
        value("chi_square_p", found.chi_square_p),
        value("f", found.f),
        value("f_p", found.f_p),
        numbers_or_null::<Float64Type>("exact_p", once(found.exact_p)),
        value("alpha", across.alpha()),
        ("significant", Arc::new(BooleanArray::from(vec![across.differs()])), false),
        value("critical_difference", across.critical_difference),
    ];
    table::write(at, &table::batch(columns))
}
