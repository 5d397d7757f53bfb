//! What a sweep should ask of a cluster's GPUs.
//!
//! A trial on several GPUs exchanges gradients and does part of its work on each of them again, so as long as there are trials for all GPUs,
//! one each ends a sweep soonest. More than one pays where GPUs would be idle, and is needed where a batch does not fit into one.

use super::{H200, Machine, Step, Work, memory, start};
use crate::plan::{Found, Plan};
use cluster::Resources;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Bytes of a GPU that are reckoned with: what the larger A100 and the H100 have. An H200 has 141 GB.
const GPU: f64 = 80e9;
/// How many times sooner a sweep must end for several GPUs a trial; the model is not finer than that.
const WORTH: f64 = 1.25;

/// One or two lines for a sweep whose trials ask for GPUs, and nothing for others.
pub(in super::super) fn advice(plan: &Plan, found: &[Found], resources: &Resources) -> String {
    if resources.gpus == 0 {
        return String::new();
    }
    match works(plan, found) {
        None => "GPUs: how many a trial should have is known after `ranksweep prepare`\n".to_owned(),
        Some(works) if works.is_empty() => "GPUs: no trial of this sweep learns in steps; leave `gpus` out\n".to_owned(),
        Some(works) => Sweep::new(&works, resources).words(),
    }
}

/// What each trial that learns has to do, in the plan's order; `None` where a dataset is not prepared.
fn works(plan: &Plan, found: &[Found]) -> Option<Vec<Work>> {
    let mut works = Vec::new();
    for (dataset, found) in plan.datasets.iter().zip(found) {
        let Found::Prepared(manifest) = found else { return None };
        let trials = plan.trials().filter(|(.., trial)| dataset.is_of(trial));
        works.extend(trials.filter_map(|(.., planned)| Work::of(&planned.trial, manifest)));
    }
    Some(works)
}

/// Trials on a cluster.
pub(super) struct Sweep<'a> {
    works: &'a [Work],
    machine: Machine,
    /// GPUs of a trial, as the file has it.
    asked: u32,
    /// GPUs that the sweep may hold at once.
    gpus: u32,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(works: &'a [Work], resources: &Resources) -> Self {
        let machine = Machine { node: H200.node.max(resources.gpus), ..H200 };
        let asked = resources.gpus.saturating_mul(resources.nodes);
        Self { works, machine, asked, gpus: asked.saturating_mul(resources.parallelism) }
    }

    pub(super) fn words(&self) -> String {
        let taken = |ranks: u32| self.works.iter().map(|work| memory(work, ranks)).fold(0.0, f64::max) / 1e9;
        match self.choices().find(|&ranks| taken(ranks) <= GPU / 1e9) {
            Some(1) => self.of_one() + &self.of_idle(),
            Some(ranks) => format!(
                "GPUs: at least {ranks} a trial ({}): the largest takes {:.0} GB of a GPU alone, {:.0} GB on each of {ranks}; {:.0} GB are reckoned with\n",
                self.shape(ranks),
                taken(1),
                taken(ranks),
                GPU / 1e9
            ),
            None => format!(
                "GPUs: the largest trial takes {:.0} GB of a GPU, and {:.0} GB are reckoned with; more GPUs a trial do not help, as {}: lower `dim` or \
                 `batch_size`, or use larger GPUs\n",
                taken(1),
                GPU / 1e9,
                if self.whole() > 0 { "a loss of this sweep needs whole batches" } else { "each holds all tables" }
            ),
        }
    }

    /// How many trials have a loss that looks at a batch as a whole, which ranks cannot share out.
    fn whole(&self) -> usize {
        self.works.iter().filter(|work| !work.splits).count()
    }

    /// One GPU a trial, and what several would give.
    fn of_one(&self) -> String {
        let (one, trials) = (self.shape(1), self.works.len());
        if self.whole() > 0 {
            let whole = self.whole();
            return format!(
                "GPUs: one a trial ({one}): of {trials} trials {whole} have a loss that looks at a batch as a whole, and take no more\n"
            );
        }
        let several = if self.asked > 1 { self.asked } else { self.machine.node };
        let times = self.seconds(1).sum::<f64>() / self.seconds(several).sum::<f64>();
        format!(
            "GPUs: one a trial ({one}) is best for this sweep on up to {trials}: its trials exchange nothing, while {several} GPUs make a trial about \
             {times:.1} times as fast (modelled: docs/scaling.md)\n"
        )
    }

    /// Several GPUs a trial, where the sweep may hold so many more than it has trials that they end it sooner.
    fn of_idle(&self) -> String {
        match self.best() {
            (1, _) => String::new(),
            (ranks, times) => format!(
                "      with all {} that it may hold at once, {ranks} a trial ({}, `parallelism: {}`) end it about {times:.1} times sooner than one each\n",
                self.gpus,
                self.shape(ranks),
                self.gpus / ranks
            ),
        }
    }

    /// How many GPUs a trial should have when all are to be had, and how many times sooner than with one each the sweep then ends: the
    /// fewest that are as good as the best, as far as the model can tell.
    pub(super) fn best(&self) -> (u32, f64) {
        let ends: Vec<(u32, f64)> = self.choices().map(|ranks| (ranks, self.ends(ranks))).collect();
        let (alone, soonest) = (self.ends(1), ends.iter().map(|&(_, end)| end).fold(f64::INFINITY, f64::min));
        let fewest = ends.into_iter().find(|&(_, end)| end <= WORTH.sqrt() * soonest && WORTH * end <= alone);
        fewest.map_or((1, 1.0), |(ranks, end)| (ranks, alone / end))
    }

    /// Numbers of GPUs that every trial could have: each gets a row of the batch, and the nodes are full.
    fn choices(&self) -> impl Iterator<Item = u32> + use<> {
        let rows = self.works.iter().map(|work| if work.splits { work.rows as u32 } else { 1 }).min().unwrap_or(1);
        let most = self.gpus.min(rows).max(1);
        (0..u32::BITS).map(|power| 1 << power).take_while(move |&ranks| ranks <= most)
    }

    /// Of each trial, with so many GPUs.
    fn seconds(&self, ranks: u32) -> impl Iterator<Item = f64> {
        let start = move |work| start(work, &self.machine, ranks).seconds;
        self.works.iter().map(move |work| start(work) + work.steps * Step::on(work, &self.machine, ranks).seconds(&self.machine))
    }

    /// When the last trial ends, if each takes the first GPUs that are free.
    fn ends(&self, ranks: u32) -> f64 {
        const NANO: f64 = 1e-9;
        let at_once = (self.gpus / ranks).max(1) as usize;
        let mut free: BinaryHeap<Reverse<u64>> = std::iter::repeat_n(Reverse(0), at_once.min(self.works.len())).collect();
        let mut last = 0;
        for seconds in self.seconds(ranks) {
            let Reverse(start) = free.pop().expect("some GPUs are free in the end");
            let end = start + (seconds / NANO).round() as u64;
            last = last.max(end);
            free.push(Reverse(end));
        }
        last as f64 * NANO
    }

    /// What the sweep file asks for so many.
    fn shape(&self, ranks: u32) -> String {
        let gpus = ranks.min(self.machine.node);
        format!("`gpus: {gpus}`, `nodes: {}`", ranks / gpus)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::work::tests::GOWALLA, *};

    fn sweep(works: &[Work], gpus: u32) -> Sweep<'_> {
        Sweep { works, machine: H200, asked: 1, gpus }
    }

    /// Five equal trials on two GPUs: three rounds of one GPU each, five of both.
    #[test]
    fn trials_take_the_gpus_that_are_free() {
        let works = [GOWALLA; 5];
        let sweep = sweep(&works, 2);
        let (one, two) = (sweep.seconds(1).next().unwrap(), sweep.seconds(2).next().unwrap());
        assert!((sweep.ends(1) - 3.0 * one).abs() < 1e-8);
        assert!((sweep.ends(2) - 5.0 * two).abs() < 1e-8);
    }

    /// A long trial and two short ones: the short ones share a GPU.
    #[test]
    fn the_longest_trial_holds_the_end() {
        let works = [GOWALLA, Work { steps: 79.0, ..GOWALLA }, Work { steps: 79.0, ..GOWALLA }];
        let sweep = sweep(&works, 2);
        assert!((sweep.ends(1) - sweep.seconds(1).next().unwrap()).abs() < 1e-8);
    }

    #[test]
    fn a_trial_has_no_more_gpus_than_rows() {
        let works = [Work { rows: 6.0, ..GOWALLA }];
        assert_eq!(sweep(&works, 64).choices().collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(sweep(&works, 3).choices().collect::<Vec<_>>(), [1, 2]);
        let whole = [GOWALLA, Work { splits: false, ..GOWALLA }];
        assert_eq!(sweep(&whole, 64).choices().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn whole_nodes_are_asked_for() {
        assert_eq!(sweep(&[GOWALLA], 64).shape(32), "`gpus: 8`, `nodes: 4`");
        assert_eq!(sweep(&[GOWALLA], 64).shape(4), "`gpus: 4`, `nodes: 1`");
    }
}
