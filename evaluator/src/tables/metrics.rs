//! `metrics.parquet`: every metric of every trial: the mean over users, or what is one value of all users' lists.
//!
//! ```text
//! trial, method, dataset: utf8   seed, split_seed: uint64, null where there is none   split: utf8   metric: utf8   cutoff: uint32, null for auc   value: float64   users, tied_users, unknown_users: uint32   sampled_candidates: uint32, null for the full catalogue
//! ```
//! Rows follow the trials as given, then the metrics as given. `users` is how many the mean is over; `tied_users` of them have a
//! held-out item whose rank depends on the rule for ties; without `auc`, one that may stand within the largest cutoff. `unknown_users` have
//! held-out items and no train interaction; they are among `users` only where all users were to be ranked.

use super::{columns, content};
use crate::{MetricAt, Result, TrialValues};
use arrow::array::{Array, ArrayRef, Float64Array, StringArray, UInt32Array, UInt64Array};
use dataset::{FileEntry, Location, Split, table};
use std::sync::Arc;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRow {
    /// The trial's id.
    pub trial: String,
    /// The method that the trial is a seed of.
    pub method: String,
    /// The dataset's name.
    pub dataset: String,
    /// The trial's seed; `None` where the model fits at once.
    pub seed: Option<u64>,
    /// The seed of the split, where the dataset has repeated splits.
    pub split_seed: Option<u64>,
    /// The part that was ranked.
    pub split: Split,
    /// The metric.
    pub metric: MetricAt,
    /// The mean over users, or the one value of all users' lists.
    pub value: f64,
    /// How many users were ranked.
    pub users: usize,
    /// How many of them have a held-out item whose rank depends on the rule for ties; without `auc`, one that may stand within the
    /// largest cutoff.
    pub tied_users: usize,
    /// How many users have held-out items and no train interaction, ranked or not.
    pub unknown_users: usize,
    /// How many drawn items of each user held-out ones were ranked among; `None` for the full catalogue.
    pub sampled_candidates: Option<u32>,
}

impl MetricRow {
    /// The rows of a trial, one for each of its metrics.
    pub fn of(trial: &TrialValues) -> impl Iterator<Item = Self> {
        let row = |(metric, values): &(MetricAt, Vec<f64>)| Self {
            trial: trial.trial.clone(),
            method: trial.method.clone(),
            dataset: trial.dataset.clone(),
            seed: trial.seed,
            split_seed: trial.split_seed,
            split: trial.split,
            metric: *metric,
            value: mean(values),
            users: trial.users.len(),
            tied_users: trial.tied_users,
            unknown_users: trial.unknown_users,
            sampled_candidates: trial.sampled_candidates,
        };
        trial.values.iter().map(row)
    }
}

/// Writes the means over users.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it cannot be stored.
pub fn write_metrics(at: &Location, trials: &[TrialValues]) -> Result<FileEntry> {
    let rows = || trials.iter().flat_map(|trial| trial.values.iter().map(move |(metric, values)| (trial, *metric, values)));
    let text = |name, field: fn(&TrialValues) -> &str| columns::strings(at, name, rows().map(move |(trial, _, _)| field(trial)));
    let [metric, cutoff] = columns::metric_columns(at, rows().map(|(_, metric, _)| metric))?;
    let seeds =
        |field: fn(&TrialValues) -> Option<u64>| -> ArrayRef { Arc::new(rows().map(|(trial, ..)| field(trial)).collect::<UInt64Array>()) };
    let means: ArrayRef = Arc::new(Float64Array::from_iter_values(rows().map(|(_, _, values)| mean(values))));
    let batch = table::batch(vec![
        text("trial", |trial| &trial.trial)?,
        text("method", |trial| &trial.method)?,
        text("dataset", |trial| &trial.dataset)?,
        ("seed", seeds(|trial| trial.seed), true),
        ("split_seed", seeds(|trial| trial.split_seed), true),
        text("split", |trial| trial.split.name())?,
        metric,
        cutoff,
        ("value", means, false),
        ("users", columns::numbers(rows().map(|(trial, _, _)| trial.users.len() as u32)), false),
        ("tied_users", columns::numbers(rows().map(|(trial, _, _)| trial.tied_users as u32)), false),
        ("unknown_users", columns::numbers(rows().map(|(trial, _, _)| trial.unknown_users as u32)), false),
        ("sampled_candidates", Arc::new(rows().map(|(trial, _, _)| trial.sampled_candidates).collect::<UInt32Array>()), true),
    ]);
    Ok(table::write(at, &batch)?)
}

/// Reads the rows of a table that [`write_metrics`] wrote.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it is missing or is not this table.
pub fn read_metrics(at: &Location) -> Result<Vec<MetricRow>> {
    let batch = table::read(at)?;
    let text = |name| table::column::<StringArray>(&batch, name, at);
    let number = |name| table::column::<UInt32Array>(&batch, name, at);
    let (trial, method, dataset, split) = (text("trial")?, text("method")?, text("dataset")?, text("split")?);
    let (users, tied_users, unknown_users) = (number("users")?, number("tied_users")?, number("unknown_users")?);
    // Tables of before sampled candidates have no such column.
    let sampled_candidates = batch.column_by_name("sampled_candidates").map(|_| number("sampled_candidates")).transpose()?;
    let optional = |name| table::column::<UInt64Array>(&batch, name, at);
    let (seed, split_seed) = (optional("seed")?, optional("split_seed")?);
    let value: &Float64Array = table::column(&batch, "value", at)?;
    let rows = columns::metrics(&batch, at)?.into_iter().enumerate().map(|(row, metric)| {
        let split_named = |split: &str| [Split::Train, Split::Validation, Split::Test].into_iter().find(|known| known.name() == split);
        Ok(MetricRow {
            trial: trial.value(row).to_owned(),
            method: method.value(row).to_owned(),
            dataset: dataset.value(row).to_owned(),
            seed: seed.is_valid(row).then(|| seed.value(row)),
            split_seed: split_seed.is_valid(row).then(|| split_seed.value(row)),
            split: split_named(split.value(row)).ok_or_else(|| content(at, format!("unknown split `{}`", split.value(row))))?,
            metric,
            value: value.value(row),
            users: users.value(row) as usize,
            tied_users: tied_users.value(row) as usize,
            unknown_users: unknown_users.value(row) as usize,
            sampled_candidates: sampled_candidates.filter(|counts| counts.is_valid(row)).map(|counts| counts.value(row)),
        })
    });
    rows.collect()
}

/// The mean, summed in the order of users; NaN of none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
