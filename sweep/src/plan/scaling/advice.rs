//! Advice on what a sweep should ask of a cluster's GPUs.
//!
//! A trial on several GPUs exchanges gradients and does part of its work on each of them again, so as long as there are trials for all GPUs,
//! one each ends a sweep soonest. More than one pays where GPUs would be idle, and is needed where a batch does not fit into one. Trials so small that one leaves a
//! GPU mostly idle may share it, where their tables and batches fit beside each other.

use super::{Work, memory, sent};
use crate::{
    file::AskedDevice,
    plan::{Found, Plan, show::count_of},
};
use cluster::Resources;

/// Bytes of a GPU that are reckoned with: what the larger A100 and the H100 have. An H200 has 141 GB.
const GPU: f64 = 80e9;
/// GPUs of a node, where the file asks for fewer.
const NODE: u32 = 8;

/// A few lines for a sweep whose trials ask for GPUs, and nothing for others.
pub(in super::super) fn advice(plan: &Plan, found: &[Found], resources: &Resources, device: AskedDevice) -> String {
    if resources.gpus == 0 && resources.trials_per_gpu == 1 && device != AskedDevice::Cuda {
        return String::new();
    }
    match (works(plan, found), resources.trials_per_gpu) {
        (None, 1) => "GPUs: how many a trial should have is known after `ranksweep prepare`\n".to_owned(),
        (None, _) => "GPUs: whether so many trials fit beside each other is known after `ranksweep prepare`\n".to_owned(),
        (Some(works), _) if works.is_empty() => {
            let key = if resources.gpus > 0 { "gpus" } else { "trials_per_gpu" };
            format!("GPUs: no trial of this sweep learns in steps; leave `{key}` out\n")
        }
        (Some(works), sharing) => {
            let sweep = ClusterTrials::new(&works, resources);
            (if sharing == 1 { sweep.words() } else { sweep.of_sharing(sharing) }) + &sweep.of_candle()
        }
    }
}

/// The work of each trial that learns, in the plan's order; `None` where a dataset is not prepared.
fn works<'a>(plan: &'a Plan, found: &'a [Found]) -> Option<Vec<Work<'a>>> {
    let mut works = Vec::new();
    for (dataset, found) in plan.datasets.iter().zip(found) {
        let Found::Prepared(manifest) = found else { return None };
        let trials = plan.trials().filter(|(.., trial)| dataset.is_of(trial));
        works.extend(trials.filter_map(|(.., planned)| Work::of(&planned.trial, manifest)));
    }
    Some(works)
}

/// Trials on a cluster.
struct ClusterTrials<'a> {
    works: &'a [Work<'a>],
    /// GPUs of a node.
    node: u32,
    /// GPUs of a trial, as the file has it.
    asked: u32,
    /// GPUs that the sweep may hold at once.
    gpus: u32,
}

impl<'a> ClusterTrials<'a> {
    fn new(works: &'a [Work<'a>], resources: &Resources) -> Self {
        let asked = resources.gpus.saturating_mul(resources.nodes);
        Self { works, node: NODE.max(resources.gpus), asked, gpus: asked.saturating_mul(resources.parallelism) }
    }

    fn words(&self) -> String {
        let taken = |ranks: u32| self.largest(|work| memory(work, ranks)) / 1e9;
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

    fn largest(&self, bytes: impl Fn(&Work<'_>) -> f64) -> f64 {
        self.works.iter().map(bytes).fold(0.0, f64::max)
    }

    /// How many trials have a loss that looks at a batch as a whole, which ranks cannot share out.
    fn whole(&self) -> usize {
        self.works.iter().filter(|work| !work.splits).count()
    }

    /// What trials without kernels take, where there are any.
    fn of_candle(&self) -> String {
        let by_candle = |work: &Work<'_>| if work.is_by_candle() { memory(work, 1) } else { 0.0 };
        let count = self.works.iter().filter(|work| work.is_by_candle()).count();
        match count {
            0 => String::new(),
            _ => format!(
                "      by candle's operations: {}, of which the largest takes up to {:.2} GB of one GPU\n",
                count_of(count, "trial"),
                self.largest(by_candle) / 1e9
            ),
        }
    }

    /// What trials that share a GPU take of it together.
    fn of_sharing(&self, sharing: u32) -> String {
        let largest = self.largest(|work| memory(work, 1));
        let (key, together) = (format!("`trials_per_gpu: {sharing}`"), f64::from(sharing) * largest);
        if together <= GPU {
            return format!("GPUs: {sharing} trials share each ({key}), of which they take up to {:.2} GB together\n", together / 1e9);
        }
        let fit = (GPU / largest) as u32;
        let remedy = if fit > 1 { format!("`trials_per_gpu: {fit}` fits") } else { "leave `trials_per_gpu` out".to_owned() };
        format!(
            "GPUs: {sharing} trials share each ({key}), and take up to {:.0} GB of it together, where {:.0} GB are reckoned with: {remedy}\n",
            together / 1e9,
            GPU / 1e9
        )
    }

    /// One GPU a trial, and what several would send each other.
    fn of_one(&self) -> String {
        let (one, trials) = (self.shape(1), self.works.len());
        if self.whole() > 0 {
            let whole = self.whole();
            return format!(
                "GPUs: one a trial ({one}): of {trials} trials {whole} have a loss that looks at a batch as a whole, and take no more\n"
            );
        }
        let several = if self.asked > 1 { self.asked } else { self.node };
        let megabytes = self.largest(|work| sent(work, several)) / 1e6;
        format!(
            "GPUs: one a trial ({one}) is best for this sweep on up to {trials}: its trials exchange nothing, while each of {several} that share one sends \
             {megabytes:.1} MB in a step of the largest (docs/scaling.md)\n"
        )
    }

    /// GPUs that one trial each leaves idle.
    fn of_idle(&self) -> String {
        let trials = u32::try_from(self.works.len()).unwrap_or(u32::MAX);
        match self.choices().take_while(|ranks| ranks.saturating_mul(trials) <= self.gpus).last() {
            None | Some(1) => String::new(),
            Some(ranks) => format!(
                "      of {} that it may hold at once {} have no trial then; with up to {ranks} a trial ({}) all have work: time one trial on either before\n",
                self.gpus,
                self.gpus - trials,
                self.shape(ranks)
            ),
        }
    }

    /// Numbers of GPUs that every trial could have: each gets a row of the batch, and the nodes are full.
    fn choices(&self) -> impl Iterator<Item = u32> + use<> {
        let rows = self.works.iter().map(|work| if work.splits { work.rows as u32 } else { 1 }).min().unwrap_or(1);
        let (most, node) = (self.gpus.min(rows).max(1), self.node);
        (0..u32::BITS)
            .map(|power| 1 << power)
            .take_while(move |&ranks| ranks <= most)
            .filter(move |&ranks| ranks <= node || ranks % node == 0)
    }

    /// The settings of a sweep file that ask for so many ranks.
    fn shape(&self, ranks: u32) -> String {
        let gpus = ranks.min(self.node);
        format!("`gpus: {gpus}`, `nodes: {}`", ranks / gpus)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::work::tests::GOWALLA, *};

    fn sweep<'a>(works: &'a [Work<'a>], gpus: u32) -> ClusterTrials<'a> {
        ClusterTrials { works, node: NODE, asked: 1, gpus }
    }

    #[test]
    fn a_trial_has_no_more_gpus_than_rows() {
        let works = [Work { rows: 6.0, ..GOWALLA }];
        assert_eq!(sweep(&works, 64).choices().collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(sweep(&works, 3).choices().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            ClusterTrials { node: 12, ..sweep(&[GOWALLA], 48) }.choices().collect::<Vec<_>>(),
            [1, 2, 4, 8],
            "12 and 24 are no powers of two"
        );
        let whole = [GOWALLA, Work { splits: false, ..GOWALLA }];
        assert_eq!(sweep(&whole, 64).choices().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn whole_nodes_are_asked_for() {
        assert_eq!(sweep(&[GOWALLA], 64).shape(32), "`gpus: 8`, `nodes: 4`");
        assert_eq!(sweep(&[GOWALLA], 64).shape(4), "`gpus: 4`, `nodes: 1`");
    }
}
