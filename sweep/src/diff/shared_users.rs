//! The values of two sweeps on the users that both ranked, known by their own ids: dense ids are those of a dataset, which may differ.

use crate::{on_users::on_users, runner::StoredSweep};
use evaluator::{MetricAt, TrialValues};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

/// The trials of a dataset of both sweeps as those of one, each method twice.
pub(super) struct SharedUsers {
    /// The trials of both on the splits that both have, with values on the users that both ranked there.
    pub(super) values: Vec<TrialValues>,
    /// Users that both ranked, in any split.
    pub(super) users: usize,
    /// Users that each ranked, in any of these splits.
    pub(super) users_of: [usize; 2],
    /// How many splits both have.
    pub(super) splits: usize,
}

/// The name of a method of the first sweep or the second among those of both.
pub(super) fn named(side: usize, method: &str) -> String {
    format!("{side} {method}")
}

/// The trials of both sweeps on one split.
type OnSplit<'a> = [Vec<&'a TrialValues>; 2];

impl SharedUsers {
    /// The trials that both sweeps ranked on a dataset; none where a sweep has no result on it. Where each has one split these are taken for the same
    /// one, and of several those are compared that have the same seed. Of methods that are `once` the second sweep's trials are left out, as they are the first's.
    pub(super) fn new(sides: [&StoredSweep; 2], dataset: &str, at: MetricAt, once: &[String]) -> Option<Self> {
        let of = sides.map(|side| side.values.iter().filter(|values| values.dataset == dataset).collect::<Vec<_>>());
        if of.iter().any(Vec::is_empty) {
            return None;
        }
        let splits = common_splits(&of);
        let ranked: Vec<[HashSet<&str>; 2]> = splits.iter().map(|split| [0, 1].map(|side| ids_of_all(&split[side]))).collect();
        let of_both: Vec<BTreeSet<&str>> = ranked.iter().map(|[first, second]| first.intersection(second).copied().collect()).collect();
        let all: BTreeSet<&str> = of_both.iter().flatten().copied().collect();
        let number: HashMap<&str, u32> = all.iter().copied().zip(0..).collect();
        let mut values = Vec::new();
        for (place, (split, users)) in splits.iter().zip(&of_both).enumerate() {
            let ids: Arc<[String]> = users.iter().map(|&id| id.to_owned()).collect();
            for side in [0, 1] {
                let counted = split[side].iter().filter(|trial| side == 0 || !once.contains(&trial.method));
                values.extend(counted.filter_map(|trial| {
                    let on = on_users(trial, &ids, at)?;
                    Some(TrialValues {
                        method: named(side, &on.method),
                        split_seed: (splits.len() > 1).then_some(place as u64),
                        users: on.user_ids.iter().map(|id| number[id.as_str()]).collect(),
                        ..on
                    })
                }));
            }
        }
        let users_of = [0, 1].map(|side| ranked.iter().flat_map(|ids| &ids[side]).collect::<HashSet<_>>().len());
        Some(Self { values, users: all.len(), users_of, splits: splits.len() })
    }
}

/// The trials of both by split, in the order of the first sweep's.
fn common_splits<'a>(of: &OnSplit<'a>) -> Vec<OnSplit<'a>> {
    let seeds = [0, 1].map(|side| {
        let mut seen = HashSet::new();
        of[side].iter().map(|trial| trial.split_seed).filter(|seed| seen.insert(*seed)).collect::<Vec<_>>()
    });
    let pairs: Vec<[Option<u64>; 2]> = match [seeds[0].as_slice(), seeds[1].as_slice()] {
        [&[first], &[second]] => vec![[first, second]],
        [first, second] => first.iter().filter(|seed| second.contains(seed)).map(|&seed| [seed, seed]).collect(),
    };
    let on = |side: usize, seed: Option<u64>| of[side].iter().copied().filter(|trial| trial.split_seed == seed).collect();
    pairs.into_iter().map(|[first, second]| [on(0, first), on(1, second)]).collect()
}

/// The users that all of these trials ranked.
fn ids_of_all<'a>(trials: &[&'a TrialValues]) -> HashSet<&'a str> {
    let mut sets = trials.iter().map(|trial| trial.user_ids.iter().map(String::as_str).collect::<HashSet<_>>());
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |common, set| common.intersection(&set).copied().collect())
}
