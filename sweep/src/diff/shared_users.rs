//! The values of two sweeps on the users that both ranked, known by their own ids: dense ids are those of a dataset, which may differ.

use crate::{on_users::on_users, runner::StoredSweep};
use evaluator::{MetricAt, TrialValues};
use std::{collections::HashSet, sync::Arc};

/// The trials of a dataset of both sweeps as those of one, each method twice.
pub(super) struct SharedUsers {
    /// The trials of both, with values on the shared users alone.
    pub(super) values: Vec<TrialValues>,
    /// Users that both ranked.
    pub(super) users: usize,
    /// Users that each ranked.
    pub(super) users_of: [usize; 2],
}

/// The name of a method of the first sweep or the second among those of both.
pub(super) fn named(side: usize, method: &str) -> String {
    format!("{side} {method}")
}

impl SharedUsers {
    /// The trials that both sweeps ranked on a dataset; none where a sweep has no result on it.
    pub(super) fn new(sides: [&StoredSweep; 2], dataset: &str, at: MetricAt) -> Option<Self> {
        let of = |side: usize| sides[side].values.iter().filter(move |values| values.dataset == dataset);
        let common = |side: usize| -> Option<Vec<&str>> {
            let mut trials = of(side);
            let first = trials.next()?;
            let sets: Vec<HashSet<&str>> = trials.map(|trial| trial.user_ids.iter().map(String::as_str).collect()).collect();
            Some(first.user_ids.iter().map(String::as_str).filter(|id| sets.iter().all(|set| set.contains(id))).collect())
        };
        let (first, second) = (common(0)?, common(1)?);
        let users_of = [first.len(), second.len()];
        let second: HashSet<&str> = second.into_iter().collect();
        let shared: Vec<String> = first.into_iter().filter(|id| second.contains(id)).map(str::to_owned).collect();
        if shared.is_empty() {
            return Some(Self { values: Vec::new(), users: 0, users_of });
        }
        let (users, ids) = (shared.len(), Arc::<[String]>::from(shared));
        let values = (0..2).flat_map(|side| of(side).filter_map(|trial| of_side(trial, side, at, &ids)).collect::<Vec<_>>()).collect();
        Some(Self { values, users, users_of })
    }
}

/// A trial of one of the sweeps on these users alone.
fn of_side(trial: &TrialValues, side: usize, at: MetricAt, ids: &Arc<[String]>) -> Option<TrialValues> {
    Some(TrialValues { method: named(side, &trial.method), ..on_users(trial, ids, at)? })
}
