//! The values of two sweeps on the users that both ranked, known by their own ids: dense ids are those of a dataset, which may differ.

use crate::on_users::on_users;
use evaluator::{MetricAt, TrialValues, findings::counted};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

/// The trials of a dataset of both sweeps as those of one, each method twice, on the splits that count.
pub(super) struct SharedUsers {
    /// The trials, with values on the users that both ranked on their split, but for those of `repeated`.
    pub(super) values: Vec<TrialValues>,
    /// The trials of a sweep's methods of which the other sweep has all trials: in `values` they stand once, as the other's.
    pub(super) repeated: Vec<TrialValues>,
    /// How many trials of each method the first sweep alone has, and the second alone.
    pub(super) alone: Vec<[usize; 2]>,
    /// Users that both ranked, in any of the splits.
    pub(super) users: usize,
    /// Users that each ranked, in any of the splits.
    pub(super) users_of: [usize; 2],
    /// How many splits count.
    pub(super) splits: usize,
}

/// The name of a method of the first sweep or the second among those of both.
pub(super) fn named(side: usize, method: &str) -> String {
    format!("{side} {method}")
}

/// A split that both sweeps have.
struct OnSplit<'a> {
    /// The split's seed in the first sweep.
    seed: Option<u64>,
    /// The trials of each sweep.
    trials: [Vec<&'a TrialValues>; 2],
    /// Users that each ranked.
    ranked: [HashSet<&'a str>; 2],
    /// Users that both ranked.
    users: BTreeSet<&'a str>,
}

impl SharedUsers {
    /// The trials of these methods that both sweeps ranked on a dataset; none where a sweep has no result on it. Where each has one split these are taken for
    /// the same one, and of several those are compared that have the same seed: `only` is that of a sweep with a single split. Those splits count on which both have results of every method; where there is
    /// none, methods are left out as [`counted`] does, and without any method all splits of both count.
    pub(super) fn new(sides: [&[TrialValues]; 2], only: [Option<u64>; 2], dataset: &str, at: MetricAt, methods: &[String]) -> Option<Self> {
        let of = sides.map(|values| values.iter().filter(|values| values.dataset == dataset).collect::<Vec<_>>());
        if of.iter().any(Vec::is_empty) {
            return None;
        }
        let common = common_splits(&of, only);
        let counting = counting(&common, methods);
        let is_counted = |split: &OnSplit| counting.is_empty() || counting.iter().any(|trial| trial.split_seed == split.seed);
        let splits: Vec<&OnSplit> = common.iter().filter(|split| is_counted(split)).collect();
        let values = on_shared_users(&splits, &counting, at);
        let alone: Vec<[usize; 2]> = methods.iter().map(|method| trials_alone(&values, method)).collect();
        let within: HashSet<String> =
            methods.iter().zip(&alone).filter_map(|(method, &alone)| Some(named(within_the_other(alone)?, method))).collect();
        let (repeated, values): (Vec<TrialValues>, Vec<TrialValues>) = values.into_iter().partition(|trial| within.contains(&trial.method));
        let users = splits.iter().flat_map(|split| &split.users).collect::<HashSet<_>>().len();
        let users_of = [0, 1].map(|side: usize| splits.iter().flat_map(|split| &split.ranked[side]).collect::<HashSet<_>>().len());
        Some(Self { values, repeated, alone, users, users_of, splits: splits.len() })
    }
}

impl<'a> OnSplit<'a> {
    fn new(seed: Option<u64>, trials: [Vec<&'a TrialValues>; 2]) -> Self {
        let ranked = [0, 1].map(|side: usize| ids_of_all(&trials[side]));
        let users = ranked[0].intersection(&ranked[1]).copied().collect();
        Self { seed, trials, ranked, users }
    }
}

/// The splits of both, in the order of the first sweep's.
fn common_splits<'a>(of: &[Vec<&'a TrialValues>; 2], only: [Option<u64>; 2]) -> Vec<OnSplit<'a>> {
    let seeds = [0, 1].map(|side: usize| {
        let mut seen = HashSet::new();
        of[side].iter().map(|trial| trial.split_seed).filter(|seed| seen.insert(*seed)).collect::<Vec<_>>()
    });
    let pairs: Vec<[Option<u64>; 2]> = match [seeds[0].as_slice(), seeds[1].as_slice()] {
        [&[first], &[second]] => vec![[first, second]],
        [first, second] => {
            let same = |one: Option<u64>, other: Option<u64>| one.or(only[0]) == other.or(only[1]);
            first.iter().filter_map(|&one| Some([one, second.iter().copied().find(|&other| same(one, other))?])).collect()
        }
    };
    let on = |side: usize, seed: Option<u64>| of[side].iter().copied().filter(|trial| trial.split_seed == seed).collect::<Vec<_>>();
    pairs.into_iter().map(|[first, second]| OnSplit::new(first, [on(0, first), on(1, second)])).collect()
}

/// The first sweep's trials that count: of methods and on splits of which both have results.
fn counting<'a>(splits: &[OnSplit<'a>], methods: &[String]) -> Vec<&'a TrialValues> {
    let mut of_both: Vec<&TrialValues> = Vec::new();
    for split in splits.iter().filter(|split| !split.users.is_empty()) {
        let [first, second] = &split.trials;
        let has_other = |method: &String| methods.contains(method) && second.iter().any(|other| other.method == *method);
        of_both.extend(first.iter().copied().filter(|trial| has_other(&trial.method)));
    }
    counted(&of_both)
}

/// The trials of both whose method and split count, with values on the users that both ranked there.
fn on_shared_users(splits: &[&OnSplit], counting: &[&TrialValues], at: MetricAt) -> Vec<TrialValues> {
    let all: BTreeSet<&str> = splits.iter().flat_map(|split| split.users.iter().copied()).collect();
    let number: HashMap<&str, u32> = all.into_iter().zip(0..).collect();
    let mut values = Vec::new();
    for (place, split) in splits.iter().enumerate() {
        let ids: Arc<[String]> = split.users.iter().map(|&id| id.to_owned()).collect();
        let is_counted = |method: &str| counting.iter().any(|trial| trial.method == method && trial.split_seed == split.seed);
        for (side, trials) in split.trials.iter().enumerate() {
            values.extend(trials.iter().filter(|trial| is_counted(&trial.method)).filter_map(|trial| {
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
    values
}

/// How many trials of a method the first sweep alone has, and the second alone.
fn trials_alone(values: &[TrialValues], method: &str) -> [usize; 2] {
    let [first, second] = [0, 1].map(|side| {
        let name = named(side, method);
        values.iter().filter(|trial| trial.method == name).map(|trial| trial.trial.as_str()).collect::<HashSet<_>>()
    });
    [first.difference(&second).count(), second.difference(&first).count()]
}

/// The sweep that has no trial of a method which the other lacks, by how many each alone has; the second where both have the same trials.
fn within_the_other(alone: [usize; 2]) -> Option<usize> {
    match alone {
        [_, 0] => Some(1),
        [0, _] => Some(0),
        _ => None,
    }
}

/// The users that all of these trials ranked.
fn ids_of_all<'a>(trials: &[&'a TrialValues]) -> HashSet<&'a str> {
    let mut sets = trials.iter().map(|trial| trial.user_ids.iter().map(String::as_str).collect::<HashSet<_>>());
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |common, set| common.intersection(&set).copied().collect())
}
