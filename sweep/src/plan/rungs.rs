//! The rungs of successive halving: epochs at which configurations are compared, and how many there are at most.
//!
//! ```text
//! epochs          r, r f, r f^2, ... below training's, then training's       r is `epochs`, f is `factor`
//! configurations  n, n / f, n / f^2, ... rounded down, at least 1            of each method that learns
//! ```
//! Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS 2016. A method that fits
//! without sampling has no epochs: all of its configurations are fit in the first rung, and none is stopped.

use super::{Configuration, Method, Plan, PlannedDataset};
use serde::Serialize;

/// One rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rung {
    /// Epochs of its trials, those of the rungs before it included.
    pub epochs: u32,
    /// Trials that reach it, of all methods; fewer where trials fail.
    pub trials: usize,
}

/// The epochs of each rung.
pub(super) fn epochs(first: u32, factor: u32, last: u32) -> Vec<u32> {
    let below = std::iter::successors(Some(first), |&epochs| epochs.checked_mul(factor)).take_while(|&epochs| epochs < last);
    below.chain([last]).collect()
}

/// How many of a method's configurations reach a rung; the first is 0.
pub(super) fn survivors(configurations: usize, factor: u32, rung: usize) -> usize {
    let goes_on = |count: usize, _| promoted(count, factor);
    (0..rung).fold(configurations, goes_on)
}

/// How many of a rung's configurations go on to the next: one in `factor`, and at least one.
pub fn promoted(configurations: usize, factor: u32) -> usize {
    (configurations / factor as usize).max(1).min(configurations)
}

impl Plan {
    /// The rungs of successive halving with their trials; none for another search. One Indexed Job each, on a cluster.
    pub fn rungs(&self) -> Vec<Rung> {
        let Some(halving) = self.search.halving() else { return Vec::new() };
        let of = |method: &Method, rung: usize| match method.learns() {
            true => survivors(method.configurations.len(), halving.factor, rung) * method.repeats(),
            false if rung == 0 => method.configurations.len() * method.repeats(),
            false => 0,
        };
        let trials = |rung: usize| self.methods.iter().map(|method| of(method, rung)).sum();
        self.rung_epochs.iter().enumerate().map(|(rung, &epochs)| Rung { epochs, trials: trials(rung) }).collect()
    }

    /// Epochs that successive halving trains, when no training stops early, and those of training every configuration to the end.
    pub fn halved_epochs(&self) -> (u64, u64) {
        let learned = |method: &&Method| method.learns();
        let all = |method: &Method| method.configurations.len() * method.repeats();
        let trials: usize = self.methods.iter().filter(learned).map(all).sum();
        let last = self.rung_epochs.last().copied().unwrap_or_default();
        let closed: usize = self.methods.iter().filter(|method| !method.learns()).map(all).sum();
        let mut before = 0;
        let mut halved = 0;
        for (index, rung) in self.rungs().into_iter().enumerate() {
            let learning = rung.trials - if index == 0 { closed } else { 0 };
            halved += u64::from(rung.epochs - before) * learning as u64;
            before = rung.epochs;
        }
        (halved, trials as u64 * u64::from(last))
    }
}

impl Plan {
    /// The most that the search does in all trials on a dataset, or on one of its splits, where each does so much in all of its epochs.
    pub(super) fn halved(&self, dataset: &PlannedDataset, of_trials: &[u64]) -> u64 {
        let Some(halving) = self.search.halving().filter(|halving| !halving.asynchronous) else {
            return of_trials.iter().copied().fold(0, u64::saturating_add);
        };
        let last = u64::from(self.rung_epochs.last().copied().unwrap_or(1));
        let mut rest = of_trials;
        let mut total = 0;
        for method in self.methods.iter().filter(|method| method.dataset == dataset.name()) {
            let repeats = method.repeats_on(dataset);
            let (own, others) = rest.split_at(method.configurations.len() * repeats);
            rest = others;
            let mut costs = own.to_vec();
            costs.sort_unstable_by(|a, b| b.cmp(a)); // who goes on is not known, so that the costliest may
            let mut before = 0;
            for (rung, &epochs) in self.rung_epochs.iter().enumerate() {
                let here = survivors(method.configurations.len(), halving.factor, rung) * repeats;
                let of_rung = costs[..here].iter().map(|cost| cost / last * u64::from(epochs - before));
                total = of_rung.fold(total, u64::saturating_add);
                before = epochs;
            }
        }
        total
    }
}

impl Method {
    /// Whether its backbone learns in epochs.
    pub fn learns(&self) -> bool {
        self.configurations.iter().flat_map(|configuration| &configuration.trials).any(|planned| planned.trial.epochs().is_some())
    }

    /// Trials of each configuration: of each seed on each split.
    pub fn repeats(&self) -> usize {
        self.configurations.first().map_or(0, |configuration| configuration.trials.len())
    }

    /// Trials of each configuration on one split.
    fn repeats_on(&self, split: &PlannedDataset) -> usize {
        let on_split = |configuration: &Configuration| configuration.trials.iter().filter(|trial| split.is_of(trial)).count();
        self.configurations.first().map_or(0, on_split)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_grow_by_the_factor_up_to_trainings() {
        assert_eq!(epochs(4, 3, 32), [4, 12, 32]);
        assert_eq!(epochs(1, 3, 81), [1, 3, 9, 27, 81]);
        assert_eq!(epochs(2, 3, 20), [2, 6, 18, 20]);
        assert_eq!(epochs(5, 2, 6), [5, 6]);
        assert_eq!(epochs(u32::MAX / 2, 3, u32::MAX), [u32::MAX / 2, u32::MAX]);
    }

    /// The table of successive halving in Li et al., "Hyperband", JMLR 2018: 81 configurations, factor 3, brackets s = 4 and s = 3.
    #[test]
    fn one_configuration_in_factor_goes_on() {
        assert_eq!([0, 1, 2, 3, 4].map(|rung| survivors(81, 3, rung)), [81, 27, 9, 3, 1]);
        assert_eq!([0, 1, 2, 3].map(|rung| survivors(34, 3, rung)), [34, 11, 3, 1]);
        assert_eq!([0, 1, 2].map(|rung| survivors(2, 3, rung)), [2, 1, 1]);
        assert_eq!([0, 1].map(|rung| survivors(0, 3, rung)), [0, 0]);
    }
}
