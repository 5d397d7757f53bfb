//! Result tables as Parquet: one file here for each table, its columns and their order of rows in its head.
//!
//! The same values give the same bytes, whatever computed them.

mod checkpoints;
mod columns;
mod components;
mod groups;
mod metrics;
mod per_user;
mod significance;

pub use checkpoints::write_checkpoints;
pub use components::{read_components, write_components};
pub use groups::{read_groups, write_groups};
pub(crate) use metrics::mean;
pub use metrics::{MetricRow, read_metrics, write_metrics};
pub use per_user::{drop_other_trials, read_per_user, write_per_user};
pub use significance::{read_significance, write_significance};

use crate::{Error, MetricAt, Result, TrialValues};
use dataset::Location;

/// Reads back what [`write_metrics`] and [`write_per_user`] wrote of the same trials.
///
/// # Errors
/// [`Error::Dataset`] for a missing file or one that is not the table expected.
pub fn read_values(metrics: &Location, per_user: &Location) -> Result<Vec<TrialValues>> {
    read_values_at(metrics, &|name| Ok(per_user.join(name)))
}

/// Reads back what [`write_metrics`] and [`write_per_user`] wrote of the same trials; `per_user` knows where each table stands. Groups are read by
/// [`read_groups`].
///
/// # Errors
/// As for [`read_values`], and those of `per_user`.
pub fn read_values_at(metrics: &Location, per_user: &dyn Fn(&str) -> dataset::Result<Location>) -> Result<Vec<TrialValues>> {
    let mut trials: Vec<TrialValues> = Vec::new();
    let rows = read_metrics(metrics)?;
    for rows in rows.chunk_by(|one, next| one.trial == next.trial) {
        let row = rows[0].clone();
        let (users, mut user_ids, mut of_users) = read_per_user(&per_user(&per_user::file(&row.trial))?)?;
        if let Some(last) = trials.last().filter(|last| last.user_ids == user_ids) {
            user_ids = last.user_ids.clone(); // kept once for all trials of a dataset
        }
        let MetricRow { trial, method, dataset, seed, split_seed, split, tied_users, unknown_users, sampled_candidates, .. } = row;
        let values = rows.iter().map(|row| values_of(row, &mut of_users)).collect::<Result<_, String>>();
        let values = values.map_err(|reason| content(metrics, reason))?;
        let listed = None;
        trials.push(TrialValues {
            trial,
            method,
            dataset,
            seed,
            split_seed,
            split,
            users,
            user_ids,
            values,
            tied_users,
            listed,
            unknown_users,
            sampled_candidates,
            groups: Vec::new(),
        });
    }
    Ok(trials)
}

/// Takes the values behind a row of means: those of the users, or the one that is of all of them.
fn values_of(row: &MetricRow, of_users: &mut Vec<(MetricAt, Vec<f64>)>) -> Result<(MetricAt, Vec<f64>), String> {
    if !row.metric.metric.is_per_user() {
        return Ok((row.metric, vec![row.value]));
    }
    let place = of_users.iter().position(|(at, _)| *at == row.metric);
    place.map(|place| of_users.swap_remove(place)).ok_or_else(|| format!("the table of users of trial {} has no {}", row.trial, row.metric))
}

/// An error about a table's content.
fn content(at: &Location, reason: impl ToString) -> Error {
    dataset::Error::content(at, reason).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::{GroupValue, Grouping};
    use dataset::Split;

    fn values(trial: &str, shift: f64) -> TrialValues {
        TrialValues {
            trial: trial.to_owned(),
            method: format!("method {shift}"),
            dataset: "small".to_owned(),
            seed: Some(7),
            split_seed: None,
            split: Split::Test,
            users: vec![0, 3],
            user_ids: ["a".to_owned(), "d,\"e\"".to_owned()].into(),
            values: vec![
                ("ndcg@20".parse().unwrap(), vec![0.25 + shift, 0.5]),
                ("coverage@20".parse().unwrap(), vec![0.75]),
                ("auc".parse().unwrap(), vec![1.0, 0.1 + shift]),
            ],
            tied_users: 1,
            listed: None,
            unknown_users: 5,
            sampled_candidates: (shift > 0.0).then_some(100),
            groups: vec![
                group(Grouping::Users, "ndcg", Some(20)),
                group(Grouping::Users, "auc", None),
                group(Grouping::Items, "exposure", Some(20)),
            ],
        }
    }

    fn group(of: Grouping, metric: &str, cutoff: Option<u32>) -> GroupValue {
        GroupValue { of, group: 2, low: 5, high: 9, size: 31, metric: metric.to_owned(), cutoff, value: 0.375 }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = Location::parse("memory:///tables/values").unwrap();
        let trials = [values("b1", 0.125), values("a2", 0.0)];
        write_metrics(&folder.join("metrics.parquet"), &trials).unwrap();
        write_per_user(&folder.join("per_user"), &trials).unwrap();
        write_groups(&folder.join("groups.parquet"), &trials).unwrap();
        let mut read = read_values(&folder.join("metrics.parquet"), &folder.join("per_user")).unwrap();
        read_groups(&folder.join("groups.parquet"), &mut read).unwrap();
        assert_eq!(read, trials);
        let rows = read_metrics(&folder.join("metrics.parquet")).unwrap();
        let means: Vec<(String, f64)> = rows.iter().map(|row| (row.metric.to_string(), row.value)).collect();
        assert_eq!(means[0], ("ndcg@20".to_owned(), 0.4375));
        assert_eq!((rows.len(), rows[0].users, rows[2].metric.cutoff), (6, 2, None));
        assert_eq!((rows[1].value, rows[1].users), (0.75, 2));
        assert_eq!(trials.iter().flat_map(MetricRow::of).collect::<Vec<_>>(), rows);
    }

    #[test]
    fn a_missing_table_of_users_is_an_error() {
        let folder = Location::parse("memory:///tables/missing").unwrap();
        write_metrics(&folder.join("metrics.parquet"), &[values("b1", 0.0)]).unwrap();
        let message = read_values(&folder.join("metrics.parquet"), &folder.join("per_user")).unwrap_err().to_string();
        assert!(message.contains("per_user/b1.parquet does not exist"), "{message}");
    }
}
