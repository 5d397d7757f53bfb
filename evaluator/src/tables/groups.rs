//! `groups.parquet`: what every trial reached in groups of users by the length of their histories and, where lists were kept, of items by popularity.
//!
//! ```text
//! trial, method, dataset: utf8   seed, split_seed: uint64, null where there is none   of: utf8   group, low, high, size: uint32   metric: utf8   cutoff: uint32, null for auc   value: float64
//! ```
//! Rows follow the trials as given; of each trial users come first, then items, each by metric, cutoff and group. What the numbers mean is said in
//! [`GroupValue`].

use super::{columns, significance::named};
use crate::{
    Result, TrialValues,
    groups::{GroupValue, Grouping},
};
use arrow::array::{Array, ArrayRef, Float64Array, StringArray, UInt32Array, UInt64Array};
use dataset::{FileEntry, Location, table};
use std::{collections::HashMap, sync::Arc};

/// Writes the groups of all trials.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it cannot be stored.
pub fn write_groups(at: &Location, trials: &[TrialValues]) -> Result<FileEntry> {
    let rows = || trials.iter().flat_map(|trial| trial.groups.iter().map(move |row| (trial, row)));
    let of_trial = |name, field: fn(&TrialValues) -> &str| columns::strings(at, name, rows().map(move |(trial, _)| field(trial)));
    let seeds =
        |field: fn(&TrialValues) -> Option<u64>| -> ArrayRef { Arc::new(rows().map(|(trial, _)| field(trial)).collect::<UInt64Array>()) };
    let number = |name, field: fn(&GroupValue) -> u32| (name, columns::numbers(rows().map(|(_, row)| field(row))), false);
    let cutoffs: ArrayRef = Arc::new(rows().map(|(_, row)| row.cutoff).collect::<UInt32Array>());
    let batch = table::batch(vec![
        of_trial("trial", |trial| &trial.trial)?,
        of_trial("method", |trial| &trial.method)?,
        of_trial("dataset", |trial| &trial.dataset)?,
        ("seed", seeds(|trial| trial.seed), true),
        ("split_seed", seeds(|trial| trial.split_seed), true),
        columns::strings(at, "of", rows().map(|(_, row)| row.of.name()))?,
        number("group", |row| row.group),
        number("low", |row| row.low),
        number("high", |row| row.high),
        number("size", |row| row.size),
        columns::strings(at, "metric", rows().map(|(_, row)| &row.metric))?,
        ("cutoff", cutoffs, true),
        columns::reals("value", rows().map(|(_, row)| row.value)),
    ]);
    Ok(table::write(at, &batch)?)
}

/// Gives trials the groups that [`write_groups`] wrote of them.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it is missing or is not this table.
pub fn read_groups(at: &Location, trials: &mut [TrialValues]) -> Result<()> {
    let batch = table::read(at)?;
    let text = |name| table::column::<StringArray>(&batch, name, at);
    let number = |name| table::column::<UInt32Array>(&batch, name, at);
    let (trial, of, metric) = (text("trial")?, text("of")?, text("metric")?);
    let (group, low, high, size, cutoff) = (number("group")?, number("low")?, number("high")?, number("size")?, number("cutoff")?);
    let value: &Float64Array = table::column(&batch, "value", at)?;
    let places: HashMap<String, usize> = trials.iter().enumerate().map(|(place, trial)| (trial.trial.clone(), place)).collect();
    for row in 0..batch.num_rows() {
        let Some(&place) = places.get(trial.value(row)) else { continue };
        trials[place].groups.push(GroupValue {
            of: named(at, "of", &Grouping::ALL, Grouping::name, of.value(row))?,
            group: group.value(row),
            low: low.value(row),
            high: high.value(row),
            size: size.value(row),
            metric: metric.value(row).to_owned(),
            cutoff: cutoff.is_valid(row).then(|| cutoff.value(row)),
            value: value.value(row),
        });
    }
    Ok(())
}
