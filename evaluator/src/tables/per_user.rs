//! `per_user/<trial>.parquet`: every metric of a trial for every user with held-out items; those of all users' lists have no rows.
//!
//! ```text
//! trial: utf8   user: uint32   user_id: utf8   metric: utf8   cutoff: uint32, null for auc   value: float64
//! ```
//! Rows follow the metrics as given, then the users.

use super::{columns, content};
use crate::{MetricAt, Result, TrialValues};
use arrow::array::{Float64Array, StringArray, UInt32Array};
use dataset::{Files, Location, table};
use std::{collections::HashSet, iter::repeat_n, sync::Arc};

/// The file's name in its folder.
pub(super) fn file(trial: &str) -> String {
    format!("{trial}.parquet")
}

/// Writes one table for each trial into a folder; gives their names, and what a marker says of them.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when one cannot be stored, or one of its columns would hold more than 2 GiB of text.
pub fn write_per_user(folder: &Location, trials: &[TrialValues]) -> Result<Files> {
    let mut files = Files::new();
    for trial in trials {
        let at = folder.join(&file(&trial.trial));
        let TrialValues { users, user_ids, values, .. } = trial;
        let values: Vec<&(MetricAt, Vec<f64>)> = values.iter().filter(|(at, _)| at.metric.is_per_user()).collect();
        let metrics = values.iter().flat_map(|(metric, values)| repeat_n(*metric, values.len()));
        let [metric, cutoff] = columns::metric_columns(&at, metrics)?;
        let batch = table::batch(vec![
            columns::strings(&at, "trial", repeat_n(&trial.trial, users.len() * values.len()))?,
            ("user", columns::numbers(values.iter().flat_map(|_| users.iter().copied())), false),
            columns::strings(&at, "user_id", values.iter().flat_map(|_| user_ids.iter()))?,
            metric,
            cutoff,
            ("value", Arc::new(Float64Array::from_iter_values(values.iter().flat_map(|(_, values)| values.iter().copied()))), false),
        ]);
        files.insert(file(&trial.trial), table::write(&at, &batch)?);
    }
    Ok(files)
}

/// Removes the tables of other trials from a folder; what is no such table, or lies in a folder inside, stays.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when the folder cannot be listed, or a file not removed.
pub fn drop_other_trials(folder: &Location, trials: &[TrialValues]) -> Result<()> {
    let kept: HashSet<String> = trials.iter().map(|trial| folder.join(&file(&trial.trial)).to_string()).collect();
    let inside = format!("{folder}/");
    for other in folder.list()? {
        let path = other.to_string();
        let is_table = path.strip_prefix(&inside).is_some_and(|name| !name.contains('/') && name.ends_with(".parquet"));
        if is_table && !kept.contains(&path) && is_of_a_trial(&other) {
            other.delete()?;
        }
    }
    Ok(())
}

/// Whether a file is a table that [`write_per_user`] wrote, or what is left of one that is damaged under a trial's name.
fn is_of_a_trial(at: &Location) -> bool {
    let is_id = |name: &str| name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    at.name().strip_suffix(".parquet").is_some_and(is_id) || read_per_user(at).is_ok()
}

/// The users' dense ids, their own ids, and each metric's values in the order of the users.
type PerUser = (Vec<u32>, Arc<[String]>, Vec<(MetricAt, Vec<f64>)>);

/// Reads one table that [`write_per_user`] wrote.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it is missing, is not this table, or its metrics have different users.
pub fn read_per_user(at: &Location) -> Result<PerUser> {
    let batch = table::read(at)?;
    let users: &UInt32Array = table::column(&batch, "user", at)?;
    let user_ids: &StringArray = table::column(&batch, "user_id", at)?;
    let value: &Float64Array = table::column(&batch, "value", at)?;
    let metrics = columns::metrics(&batch, at)?;
    let count = metrics.iter().take_while(|&&metric| Some(&metric) == metrics.first()).count();
    let mut values = Vec::new();
    for first in (0..metrics.len()).step_by(count.max(1)) {
        let rows = first..(first + count).min(metrics.len());
        let same_users = users.values()[rows.clone()] == users.values()[..count];
        if !same_users || metrics[rows.clone()].iter().any(|&metric| metric != metrics[first]) {
            return Err(content(at, format!("the users of {} are not those of {}", metrics[first], metrics[0])));
        }
        values.push((metrics[first], value.values()[rows].to_vec()));
    }
    let user_ids = (0..count).map(|row| user_ids.value(row).to_owned()).collect();
    Ok((users.values()[..count].to_vec(), user_ids, values))
}
