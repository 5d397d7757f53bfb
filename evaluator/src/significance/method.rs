//! What the trials of a method reached by one metric: one row of values over users for each replicate.
//!
//! A replicate is a seed; where a dataset has repeated splits it is a split, over whose seeds values are averaged. Users are those of any
//! split. A user that a split does not hold out has the split's mean there, and the others are scaled so that a row's mean is the
//! split's: `h_u = mean + [u held out] (y_u - mean) U / U_split`, of which a mean over users has the right variance.
//!
//! A metric of all users' lists (coverage) has one value for each trial, and rows of one value: what varies are the replicates alone.

use super::differences::mean;
use crate::{Error, MetricAt, Result, TrialValues};
use std::{borrow::Cow, collections::BTreeSet};

/// What stands behind a method's replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// The model fits at once: training it again gives the same.
    None,
    /// Trainings that differ in their seeds.
    Seeds,
    /// Splits, each with the mean over its seeds.
    Splits,
}

/// A method's values of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodValues<'a> {
    /// The method's key.
    pub method: String,
    /// The users' dense ids, ascending.
    pub users: Vec<u32>,
    /// Whether a replicate has one value of all users together, and not one of each.
    pub is_of_all_users: bool,
    /// Values of each replicate, one for each user, in the order of `users`; a single one of a metric of all users' lists.
    pub replicates: Vec<Cow<'a, [f64]>>,
    /// What the replicates are.
    pub replication: Replication,
    /// The means over users of single trials, by split; one group where the dataset has one split.
    pub trial_means: Vec<Vec<f64>>,
    /// Mean over replicates of each user's values, or of the single one.
    pub values: Vec<f64>,
}

impl<'a> MethodValues<'a> {
    /// A method from its replicates' values of the same users, from user 0 on.
    pub fn from_replicates(method: &str, replication: Replication, replicates: Vec<Cow<'a, [f64]>>) -> Self {
        let users = replicates.first().map_or(0, |values| values.len());
        Self {
            method: method.to_owned(),
            users: (0..users as u32).collect(),
            is_of_all_users: false,
            values: mean_over(&replicates, users),
            trial_means: vec![replicates.iter().map(|values| mean(values)).collect()],
            replicates,
            replication,
        }
    }

    /// The values of one method's trials at a place of their lists of metrics. `users` are those of all splits, ascending.
    pub(crate) fn new(trials: &[&'a TrialValues], place: usize, users: &[u32], splits: &[Option<u64>]) -> Self {
        let rows =
            |split: &Option<u64>| -> Vec<&'a TrialValues> { trials.iter().copied().filter(|trial| trial.split_seed == *split).collect() };
        let by_split: Vec<Vec<&TrialValues>> = splits.iter().map(rows).collect();
        let is_of_all_users = !trials[0].values[place].0.metric.is_per_user();
        let values_of = |trial: &'a TrialValues| trial.values[place].1.as_slice();
        let trial_means = by_split.iter().map(|trials| trials.iter().map(|trial| mean(values_of(trial))).collect()).collect();
        let (replicates, replication): (Vec<Cow<'a, [f64]>>, _) = if splits.len() > 1 {
            let row = |trials: &Vec<&TrialValues>| match is_of_all_users {
                true => mean_over(&trials.iter().map(|trial| trial.values[place].1.as_slice()).collect::<Vec<_>>(), 1),
                false => spread_out(trials, place, users),
            };
            (by_split.iter().map(|trials| Cow::Owned(row(trials))).collect(), Replication::Splits)
        } else {
            let replication = if trials.iter().all(|trial| trial.seed.is_none()) { Replication::None } else { Replication::Seeds };
            (trials.iter().map(|trial| Cow::Borrowed(values_of(trial))).collect(), replication)
        };
        let values = mean_over(&replicates, if is_of_all_users { 1 } else { users.len() });
        Self { method: trials[0].method.clone(), users: users.to_vec(), is_of_all_users, replicates, replication, trial_means, values }
    }

    /// The mean over users of each replicate.
    pub fn replicate_means(&self) -> Vec<f64> {
        self.replicates.iter().map(|values| mean(values)).collect()
    }

    /// The mean over users and replicates.
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Refuses values that are not finite, or none.
    pub(crate) fn check(&self, dataset: &str, metric: MetricAt) -> Result<()> {
        let refuse = |reason: String| Err(Error::Comparison { dataset: dataset.to_owned(), reason });
        let name = &self.method;
        if self.users.is_empty() {
            return refuse(format!("`{name}` was evaluated on no user"));
        }
        match self.values.iter().position(|value| !value.is_finite()) {
            Some(_) if self.is_of_all_users => refuse(format!("{metric} of `{name}` is {}", self.values[0])),
            Some(place) => refuse(format!("{metric} of `{name}` is {} for user {}", self.values[place], self.users[place])),
            None => Ok(()),
        }
    }
}

/// The users of all splits, ascending.
pub(crate) fn all_users(trials: &[&TrialValues]) -> Vec<u32> {
    let first = &trials[0].users;
    if trials.iter().all(|trial| trial.users == *first) {
        return first.clone();
    }
    trials.iter().flat_map(|trial| &trial.users).copied().collect::<BTreeSet<u32>>().into_iter().collect()
}

/// The mean over a split's trials for each user, spread out over the users of all splits.
fn spread_out(trials: &[&TrialValues], place: usize, users: &[u32]) -> Vec<f64> {
    let rows: Vec<&[f64]> = trials.iter().map(|trial| trial.values[place].1.as_slice()).collect();
    let held_out = &trials[0].users;
    let values = mean_over(&rows, held_out.len());
    let (mean, scale) = (mean(&values), users.len() as f64 / held_out.len() as f64);
    let mut found = held_out.iter().zip(values).peekable();
    let of_user = |user: &u32| found.next_if(|(other, _)| *other == user).map_or(mean, |(_, value)| mean + (value - mean) * scale);
    users.iter().map(of_user).collect()
}

/// For each user the mean over rows.
fn mean_over<T: std::ops::Deref<Target = [f64]>>(rows: &[T], users: usize) -> Vec<f64> {
    (0..users).map(|user| rows.iter().map(|row| row[user]).sum::<f64>() / rows.len() as f64).collect()
}

/// The first method whose copy each is, itself where it is none: a method whose trainings give every user what another's give, as losses that are one formula do, shows
/// nothing that the other does not.
pub(super) fn originals(methods: &[MethodValues<'_>]) -> Vec<usize> {
    let original =
        |place: usize| methods[..place].iter().position(|earlier| earlier.replicates == methods[place].replicates).unwrap_or(place);
    (0..methods.len()).map(original).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dataset::Split;

    /// A trial of one metric.
    pub(crate) fn trial(method: &str, seed: Option<u64>, split_seed: Option<u64>, users: &[u32], values: &[f64]) -> TrialValues {
        TrialValues {
            trial: format!("{method}-{}-{}", seed.unwrap_or_default(), split_seed.unwrap_or_default()),
            method: method.to_owned(),
            dataset: "tiny".to_owned(),
            seed,
            split_seed,
            split: Split::Test,
            users: users.to_vec(),
            user_ids: users.iter().map(u32::to_string).collect(),
            values: vec![("ndcg@20".parse().unwrap(), values.to_vec())],
            tied_users: 0,
            listed: None,
            unknown_users: 0,
            sampled_candidates: None,
            groups: Vec::new(),
        }
    }

    /// A method with these replicates, of users from 0 on.
    pub(crate) fn method(name: &str, replication: Replication, replicates: &[&[f64]]) -> MethodValues<'static> {
        MethodValues::from_replicates(name, replication, replicates.iter().map(|values| Cow::Owned(values.to_vec())).collect())
    }

    #[test]
    fn seeds_are_replicates() {
        let trials = [trial("mf", Some(1), None, &[0, 2], &[0.5, 0.25]), trial("mf", Some(2), None, &[0, 2], &[0.75, 0.25])];
        let found = MethodValues::new(&trials.iter().collect::<Vec<_>>(), 0, &[0, 2], &[None]);
        assert_eq!(
            (found.values.clone(), found.replicate_means(), found.replication),
            (vec![0.625, 0.25], vec![0.375, 0.5], Replication::Seeds)
        );
        assert_eq!((found.trial_means.clone(), found.mean()), (vec![vec![0.375, 0.5]], 0.4375));
        let fixed = [trial("pop", None, None, &[0, 2], &[0.5, 0.25])];
        assert_eq!(MethodValues::new(&[&fixed[0]], 0, &[0, 2], &[None]).replication, Replication::None);
    }

    /// Two splits that hold out other users; by hand: the first has the mean 0.3 over its seeds and users 1 and 2 of three.
    #[test]
    fn splits_are_replicates_whose_rows_have_their_means() {
        let trials = [
            trial("mf", Some(1), Some(7), &[1, 2], &[0.2, 0.6]),
            trial("mf", Some(2), Some(7), &[1, 2], &[0.0, 0.4]),
            trial("mf", Some(1), Some(8), &[1, 3], &[0.5, 0.3]),
        ];
        let trials: Vec<&TrialValues> = trials.iter().collect();
        let users = all_users(&trials);
        assert_eq!(users, [1, 2, 3]);
        let found = MethodValues::new(&trials, 0, &users, &[Some(7), Some(8)]);
        assert_eq!(found.replication, Replication::Splits);
        let expected = [[0.3 - 0.2 * 1.5, 0.3 + 0.2 * 1.5, 0.3], [0.4 + 0.1 * 1.5, 0.4, 0.4 - 0.1 * 1.5]];
        for (row, expected) in found.replicates.iter().zip(expected) {
            assert!(row.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-15), "{row:?}");
        }
        assert!((found.mean() - 0.35).abs() < 1e-15);
        assert_eq!(found.trial_means.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
    }
}
