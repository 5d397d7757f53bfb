//! Result tables as Parquet: one file here for each table, its columns and their order of rows in its head.
//!
//! The same values give the same bytes, whatever computed them.

mod checkpoints;
mod columns;
mod components;
mod metrics;
mod per_user;
mod significance;

pub use checkpoints::write_checkpoints;
pub use components::{read_components, write_components};
pub(crate) use metrics::mean;
pub use metrics::{MetricRow, read_metrics, write_metrics};
pub use per_user::{drop_other_trials, read_per_user, write_per_user};
pub use significance::{read_significance, write_significance};

use crate::{Error, Result, TrialValues};
use dataset::Location;

/// Reads back what [`write_metrics`] and [`write_per_user`] wrote of the same trials.
///
/// # Errors
/// [`Error::Dataset`] for a missing file or one that is not the table expected.
pub fn read_values(metrics: &Location, per_user: &Location) -> Result<Vec<TrialValues>> {
    read_values_at(metrics, &|name| Ok(per_user.join(name)))
}

/// Reads back what [`write_metrics`] and [`write_per_user`] wrote of the same trials; `per_user` knows where each table stands.
///
/// # Errors
/// As for [`read_values`], and those of `per_user`.
pub fn read_values_at(metrics: &Location, per_user: &dyn Fn(&str) -> dataset::Result<Location>) -> Result<Vec<TrialValues>> {
    let mut trials: Vec<TrialValues> = Vec::new();
    for row in read_metrics(metrics)? {
        if trials.last().is_some_and(|trial| trial.trial == row.trial) {
            continue;
        }
        let (users, mut user_ids, values) = read_per_user(&per_user(&per_user::file(&row.trial))?)?;
        if let Some(last) = trials.last().filter(|last| last.user_ids == user_ids) {
            user_ids = last.user_ids.clone(); // kept once for all trials of a dataset
        }
        let MetricRow { trial, method, dataset, seed, split_seed, split, tied_users, unknown_users, .. } = row;
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
        });
    }
    Ok(trials)
}

/// An error about a table's content.
fn content(at: &Location, reason: impl ToString) -> Error {
    dataset::Error::content(at, reason).into()
}

#[cfg(test)]
mod tests {
    use super::*;
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
            values: vec![("ndcg@20".parse().unwrap(), vec![0.25 + shift, 0.5]), ("auc".parse().unwrap(), vec![1.0, 0.1 + shift])],
            tied_users: 1,
            listed: None,
            unknown_users: 5,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = Location::parse("memory:///tables/values").unwrap();
        let trials = [values("b1", 0.125), values("a2", 0.0)];
        write_metrics(&folder.join("metrics.parquet"), &trials).unwrap();
        write_per_user(&folder.join("per_user"), &trials).unwrap();
        assert_eq!(read_values(&folder.join("metrics.parquet"), &folder.join("per_user")).unwrap(), trials);
        let rows = read_metrics(&folder.join("metrics.parquet")).unwrap();
        let means: Vec<(String, f64)> = rows.iter().map(|row| (row.metric.to_string(), row.value)).collect();
        assert_eq!(means[0], ("ndcg@20".to_owned(), 0.4375));
        assert_eq!((rows.len(), rows[0].users, rows[3].metric.cutoff), (4, 2, None));
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
