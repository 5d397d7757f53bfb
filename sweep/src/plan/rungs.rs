//! The rungs of a search: how far configurations are trained before they are compared, and how many trials there are at most.
//!
//! ```text
//! successive halving
//! epochs          r, r f, r f^2, ... below training's, then training's       r is `epochs`, f is `factor`; where blocks of the grid have their own
//!                                                                            training, below the least, and then the end of each method
//! configurations  n, n / f, n / f^2, ... rounded down, at least 1            of each method that learns
//!
//! tuning seeds, in any search: those rungs with the first seeds alone, then one more
//! epochs          training's
//! configurations  1, with the other seeds                                    of each method that has several
//! ```
//! Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS 2016. A method that fits
//! without sampling has no epochs: all of its configurations are fit in the first rung, and none is stopped.

use super::{Configuration, Method, Plan, PlannedDataset, PlannedTrial};
use crate::file::Search;
use serde::Serialize;

/// One rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rung {
    /// Epochs of its trials, those of the rungs before it included.
    pub epochs: u32,
    /// Trials that reach it, of all methods; fewer where trials fail.
    pub trials: usize,
    /// Whether its trials are of the picked configurations, with the seeds that nothing was picked by.
    pub repeats: bool,
}

/// The epochs of each rung of a search whose methods have so many epochs at most; none where every trial is trained to its end at once. All rungs but the
/// last are before the end of every method, and the last is where the longest ends.
pub(super) fn epochs(search: &Search, of_methods: &[u32]) -> Vec<u32> {
    let [shortest, longest] = [of_methods.iter().min(), of_methods.iter().max()].map(|epochs| epochs.copied().unwrap_or_default());
    let compared = search.halving().map(|halving| [below(halving.epochs, halving.factor, shortest), vec![longest]].concat());
    match search.tuning_seeds() {
        Some(_) => [compared.unwrap_or(vec![longest]), vec![longest]].concat(),
        None => compared.unwrap_or_default(),
    }
}

/// The epochs of the rungs of successive halving that are before so many.
fn below(first: u32, factor: u32, end: u32) -> Vec<u32> {
    std::iter::successors(Some(first), |&epochs| epochs.checked_mul(factor)).take_while(|&epochs| epochs < end).collect()
}

/// How many of a method's configurations reach a rung; the first is 0.
fn survivors(configurations: usize, factor: u32, rung: usize) -> usize {
    let goes_on = |count: usize, _| promoted(count, factor);
    (0..rung).fold(configurations, goes_on)
}

/// How many of a rung's configurations go on to the next: one in `factor`, and at least one.
pub fn promoted(configurations: usize, factor: u32) -> usize {
    (configurations / factor as usize).max(1).min(configurations)
}

/// What a search does of one method, on all splits of its dataset or on one of them.
struct Share<'a> {
    plan: &'a Plan,
    method: &'a Method,
    /// Trials of each configuration that values are picked by.
    tuning: usize,
    /// Trials of each configuration that are trained where it is picked.
    repeated: usize,
}

impl<'a> Share<'a> {
    /// That of the trials of a configuration for which `counts` holds.
    fn of(plan: &'a Plan, method: &'a Method, counts: impl Fn(&PlannedTrial) -> bool) -> Self {
        let trials = method.configurations.first().map_or(&[][..], |configuration| &configuration.trials);
        let tunes = plan.tunes(method);
        let count = |which: bool| tunes.iter().zip(trials).filter(|(tunes, trial)| **tunes == which && counts(trial)).count();
        Self { plan, method, tuning: count(true), repeated: count(false) }
    }

    /// Trials at a rung, at most.
    fn trials(&self, rung: usize) -> usize {
        let (configurations, last) = (self.method.configurations.len(), self.plan.compared(self.method));
        let factor = self.plan.search.halving().map_or(1, |halving| halving.factor);
        match rung {
            rung if rung < last => survivors(configurations, factor, rung) * self.tuning,
            rung if rung == last => self.repeated,
            _ => 0,
        }
    }

    /// Epochs that are trained from the rung before to this one.
    fn epochs(&self, rung: usize) -> u32 {
        let (compared, last) = (self.plan.compared(self.method), self.last());
        let until = |rung: usize| if rung + 1 < compared { self.plan.rung_epochs[rung] } else { last };
        match rung {
            0 => until(0), // all of its work at once where it does not learn
            rung if rung < compared => until(rung) - until(rung - 1),
            _ => last,
        }
    }

    /// Epochs of a trial to its end; as the longest of the plan where the method does not learn.
    fn last(&self) -> u32 {
        self.method.epochs().or(self.plan.rung_epochs.last().copied()).unwrap_or(1)
    }
}

impl Plan {
    /// Whether values are picked by each trial of a method's configurations, by its place: not by those with other than the first
    /// `tuning_seeds` seeds, which are trained for the picked configuration alone. A method with one configuration has nothing to pick.
    pub fn tunes(&self, method: &Method) -> Vec<bool> {
        let Some(configuration) = method.configurations.first() else { return Vec::new() };
        let trials = &configuration.trials;
        let seeds = self.search.tuning_seeds().filter(|_| method.configurations.len() > 1).map_or(usize::MAX, |seeds| seeds as usize);
        let before = |at: usize| trials[..at].iter().filter(|other| other.split_seed == trials[at].split_seed).count();
        (0..trials.len()).map(|at| before(at) < seeds).collect()
    }

    /// At how many rungs a method's configurations are compared.
    pub fn compared(&self, method: &Method) -> usize {
        match method.learns() {
            true => self.rung_epochs.len() - usize::from(self.search.tuning_seeds().is_some()),
            false => 1,
        }
    }

    /// The rungs of the search with their trials; none where every trial is trained to its end at once. One Indexed Job each, on a cluster.
    pub fn rungs(&self) -> Vec<Rung> {
        let shares: Vec<Share<'_>> = self.methods.iter().map(|method| Share::of(self, method, |_| true)).collect();
        let trials = |rung: usize| shares.iter().map(|share| share.trials(rung)).sum();
        let repeats = |rung: usize| self.search.tuning_seeds().is_some() && rung + 1 == self.rung_epochs.len();
        let rungs = self.rung_epochs.iter().enumerate();
        rungs.map(|(rung, &epochs)| Rung { epochs, trials: trials(rung), repeats: repeats(rung) }).collect()
    }

    /// Epochs that the search trains, when no training stops early, and those of training every trial to its end.
    pub fn searched_epochs(&self) -> (u64, u64) {
        let learning = || self.methods.iter().filter(|method| method.learns()).map(|method| Share::of(self, method, |_| true));
        let searched = |share: Share<'_>| -> u64 {
            (0..self.rung_epochs.len()).map(|rung| u64::from(share.epochs(rung)) * share.trials(rung) as u64).sum()
        };
        let all = |share: Share<'_>| (share.method.configurations.len() * share.method.repeats()) as u64 * u64::from(share.last());
        (learning().map(searched).sum(), learning().map(all).sum())
    }

    /// The most that the search does in all trials on a dataset, or on one of its splits, where each does so much in all of its epochs.
    pub(super) fn searched(&self, dataset: &PlannedDataset, of_trials: &[u64]) -> u64 {
        let is_asynchronous = self.search.halving().is_some_and(|halving| halving.asynchronous);
        if self.rung_epochs.is_empty() || is_asynchronous {
            return of_trials.iter().copied().fold(0, u64::saturating_add);
        }
        let mut rest = of_trials;
        let mut total: u64 = 0;
        for method in self.methods.iter().filter(|method| method.dataset == dataset.name()) {
            let (own, others) = rest.split_at(method.configurations.len() * method.repeats_on(dataset));
            rest = others;
            let mut costs = own.to_vec();
            costs.sort_unstable_by(|a, b| b.cmp(a)); // who goes on is not known, so that the costliest may
            let share = Share::of(self, method, |trial| dataset.is_of(trial));
            for rung in 0..self.rung_epochs.len() {
                let (epochs, all) = (u64::from(share.epochs(rung)), u64::from(share.last()));
                let of_rung = costs[..share.trials(rung)].iter().map(|cost| cost / all * epochs);
                total = of_rung.fold(total, u64::saturating_add);
            }
        }
        total
    }
}

impl Method {
    /// Whether its backbone learns in epochs.
    pub fn learns(&self) -> bool {
        self.epochs().is_some()
    }

    /// Epochs of each of its trials, at most; `None` where its backbone fits at once.
    pub fn epochs(&self) -> Option<u32> {
        self.configurations.iter().flat_map(|configuration| &configuration.trials).find_map(|planned| planned.trial.epochs())
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
    use serde_json::json;

    #[test]
    fn epochs_grow_by_the_factor_up_to_trainings() {
        let halved = |first, factor, of_methods: &[u32]| {
            let halving = json!({"successive-halving": {"epochs": first, "factor": factor}});
            epochs(&serde_json::from_value(halving).unwrap(), of_methods)
        };
        assert_eq!(halved(4, 3, &[32]), [4, 12, 32]);
        assert_eq!(halved(1, 3, &[81, 81]), [1, 3, 9, 27, 81]);
        assert_eq!(halved(2, 3, &[20]), [2, 6, 18, 20]);
        assert_eq!(halved(5, 2, &[6]), [5, 6]);
        assert_eq!(halved(u32::MAX / 2, 3, &[u32::MAX]), [u32::MAX / 2, u32::MAX]);
        assert_eq!(halved(2, 3, &[400, 20, 18]), [2, 6, 400], "no method is stopped where another ends");
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
