//! How many short trials a pod of a cluster trains, where the sweep file does not say.
//!
//! A pod of its own costs a trial at least 1.2 s: it is scheduled, its container starts, and it reads the dataset. So trials that take little
//! longer share one, as far as none of them waits that could run at once: with `T` trials, `P` pods at a time and `K` trials a pod,
//! `ceil(ceil(T / K) / P) K` may not exceed `ceil(T / P)`.
//!
//! The time of a trial is the most that it may be, by sizes alone, so that a sweep file and its sources give the same choice everywhere, before
//! and after they are prepared: all rows of a source are taken for train, and each multiplication for a nanosecond of a core, or for a fiftieth
//! of one where users are ranked. Training that `docs/performance.md` measures takes between a thirteenth of that and six tenths, ranking at
//! most nine tenths.

use super::{Plan, PlannedRef, Titles, estimate, show::count_of};
use anyhow::Result;
use cluster::Resources;
use models::Sizes;
use pipeline::{Noise, SizeEstimate};
use trainer::{Learning, Trial};

/// Seconds that the longest trial may take where trials share a pod.
const SHORT: f64 = 20.0;
/// Seconds that the trials of a pod may take together.
const TOGETHER: f64 = 60.0;
/// Seconds of a multiplication on one core, while it trains and while it ranks.
const TRAINING: f64 = 1e-9;
const RANKING: f64 = 2e-11;

/// How many trials a pod trains, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches {
    /// Trials of a pod.
    pub trials_per_pod: u32,
    reason: String,
}

impl Batches {
    /// A line for who submits: `trials_per_pod: 4, as ...`.
    pub fn words(&self) -> String {
        format!("trials_per_pod: {}, as {}\n", self.trials_per_pod, self.reason)
    }
}

/// The choice for a plan on a cluster; `None` where the file has made it, and where there is none: trials have several nodes each, or all can
/// run at once, each with what a pod has. Where trials share a GPU a pod has as many as do. `sizes` gives those of each dataset's source, in the plan's order.
///
/// # Errors
/// Those of `sizes`.
pub fn batches(plan: &Plan, resources: &Resources, sizes: impl FnOnce() -> Result<Vec<SizeEstimate>>) -> Result<Option<Batches>> {
    let at_once = u64::from(resources.parallelism);
    let stages = stages(plan);
    if let (None, sharing @ 2..) = (resources.trials_per_pod, resources.trials_per_gpu) {
        return Ok(Some(Batches { trials_per_pod: sharing, reason: "so many share its GPU (`trials_per_gpu`)".to_owned() }));
    }
    if resources.trials_per_pod.is_some() || resources.nodes > 1 || stages.iter().all(|&trials| trials <= at_once) {
        return Ok(None);
    }
    let one = |reason: String| Ok(Some(Batches { trials_per_pod: 1, reason }));
    let most = (1..=100).rev().find(|&several| stages.iter().all(|&trials| waits_for_none(trials, several, at_once))).unwrap_or(1);
    if most == 1 {
        return one("in the stage with the fewest trials all can run at once, one in each pod".to_owned());
    }
    let sizes = sizes()?;
    let mut longest: f64 = 0.0;
    for planned in plan.trials() {
        match seconds(plan, planned, &sizes, resources.cpu.value()) {
            Some(seconds) => longest = longest.max(seconds),
            None => return one(format!("nothing is known of how long a trial of {} takes", Titles::new(plan).of(planned.0))),
        }
    }
    let shown = longest.ceil().max(1.0);
    if longest > SHORT {
        return one(format!("the longest trial may take {shown} s, beside which the 1.2 s that a pod costs are little"));
    }
    let fits =
        |several: &u64| *several as f64 * longest <= TOGETHER && stages.iter().all(|&trials| waits_for_none(trials, *several, at_once));
    let several = (1..=most).rev().find(fits).unwrap_or(1);
    let (trials, pods) = (plan.trials().count(), stages[0].div_ceil(several));
    let of_first = if stages.len() > 1 { " of the first rung" } else { "" };
    let reason = format!(
        "the longest trial takes at most about {shown} s, and a pod of its own costs 1.2 s and more: {}{of_first} for {trials} trials",
        count_of(pods as usize, "pod")
    );
    Ok(Some(Batches { trials_per_pod: several as u32, reason }))
}

/// The trials of each stage that trains.
fn stages(plan: &Plan) -> Vec<u64> {
    let rungs: Vec<u64> = plan.rungs().iter().map(|rung| rung.trials as u64).filter(|&trials| trials > 0).collect();
    if rungs.is_empty() { vec![plan.trials().count() as u64] } else { rungs }
}

/// Whether so many trials in pods of several end as soon as in pods of one, `at_once` pods at a time.
fn waits_for_none(trials: u64, several: u64, at_once: u64) -> bool {
    trials.div_ceil(several).div_ceil(at_once) * several <= trials.div_ceil(at_once)
}

/// Seconds that a trial takes at most, about, on so many cores; `None` where nobody has counted its work.
fn seconds(plan: &Plan, (.., planned): PlannedRef<'_>, sizes: &[SizeEstimate], cores: f64) -> Option<f64> {
    let (dataset, found) = plan.datasets.iter().zip(sizes).find(|(dataset, _)| dataset.is_of(planned))?;
    // Noise adds as many interactions as there are, at most.
    let noise = if dataset.preparation.noise.is_some_and(|noise: Noise| !noise.is_off()) { 2 } else { 1 };
    let sizes = Sizes { users: found.users, items: found.items, train: noise * found.interactions, batch: 0, positives: 0 };
    let (training, ranking) = work(&planned.trial, sizes)?;
    Some((training * TRAINING + ranking * RANKING) / cores)
}

/// Multiplications of training, and of ranking the validation part as often as it is.
fn work(trial: &Trial, sizes: Sizes) -> Option<(f64, f64)> {
    let [users, items, train] = [sizes.users, sizes.items, sizes.train].map(|count| count as f64);
    if let Some(model) = trial.backbone.closed_form() {
        // One ranking, by weights between items at most.
        return Some((model.operations(sizes)?, train * items));
    }
    let (mean, Learning { training, .. }) = (trial.backbone.mean_of_layers()?, trial.learning.as_ref()?);
    let learning = trial.learning.as_ref()?;
    let dim = f64::from(mean.dim);
    let [rows, steps] = [estimate::rows, estimate::steps].map(|count| count(learning, sizes.users, sizes.train) as f64);
    let positives = learning.loss.list().unwrap_or(1) as f64;
    // A score, and its gradient in both of its vectors; and for each positive, what is done whatever is scored.
    let scores = 3.0 * learning.candidates().map_or(items, |candidates| positives + candidates as f64) + 10.0 * positives;
    // Edges in both directions, there and back.
    let propagated = 4.0 * f64::from(mean.layers) * train * steps;
    // Every row of the tables moves, or has to be looked at.
    let tables = 10.0 * (users + items) * if mean.layers > 0 { steps } else { 1.0 };
    let epochs = f64::from(training.epochs);
    let rankings = (epochs / f64::from(training.evaluate_every.max(1))).ceil() + 1.0;
    Some((epochs * dim * (rows * scores + propagated + tables), rankings * users * items * dim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SweepFile;

    /// So many trials of `mf` on gowalla, with one grid entry for each setting of a loss.
    fn plan(backbone: &str, loss: &str, sampler: &str, training: &str, seeds: u32) -> Plan {
        let seeds: Vec<String> = (1..=seeds).map(|seed| seed.to_string()).collect();
        let text = format!(
            "name: s\ndatasets: [{{name: d, source: {{format: synthetic}}, split: {{kind: random, test: 0.2}}}}]\ngrid:\n  - backbones: [{backbone}]\n    \
             losses: [{loss}]\n    samplers: [{sampler}]\n    optimizer: {{kind: adam, learning_rate: 0.1}}\ntraining: {training}\nseeds: [{}]\n",
            seeds.join(", ")
        );
        crate::plan::check(&SweepFile::parse(&text, "s.yaml").unwrap()).unwrap().plan(&["f".to_owned()]).unwrap()
    }

    fn bpr(seeds: u32) -> Plan {
        plan(
            "{kind: mf, dim: 64}",
            "{kind: bpr}",
            "{kind: uniform, negatives: 1}",
            "{epochs: 3, batch_size: 1024, evaluate_every: 1}",
            seeds,
        )
    }

    const GOWALLA: SizeEstimate = SizeEstimate { interactions: 810_128, users: 29_858, items: 40_988 };

    fn chosen(plan: &Plan, sizes: SizeEstimate, parallelism: u32) -> Option<Batches> {
        let resources = Resources { parallelism, ..Resources::default() };
        batches(plan, &resources, || Ok(vec![sizes])).unwrap()
    }

    /// Seconds of an epoch by docs/performance.md, on two cores, beside what is reckoned with. That page trains without a validation part.
    #[test]
    fn the_time_is_no_less_than_measured_and_not_by_far() {
        let softmax = "{kind: softmax-at-k, cutoff: 20, temperature: 0.2, weight_temperature: 2.25, quantile_every: 1}";
        let (mf, light_gcn) = ("{kind: mf, dim: 64}", "{kind: light-gcn, dim: 64, layers: 3}");
        let [one, thousand] = [1, 1000].map(|negatives| format!("{{kind: uniform, negatives: {negatives}}}"));
        let electronic = SizeEstimate { interactions: 182_398, users: 0, items: 0 };
        let cases = [
            (mf, "{kind: bpr}", &one, 1024, GOWALLA, 0.261),
            (mf, softmax, &thousand, 1024, GOWALLA, 8.77),
            (mf, softmax, &thousand, 1024, electronic, 1.5),
            (light_gcn, "{kind: bpr}", &one, 2048, GOWALLA, 10.3),
        ];
        for (backbone, loss, sampler, batch, sizes, measured) in cases {
            let plan = plan(backbone, loss, sampler, &format!("{{epochs: 1, batch_size: {batch}}}"), 1);
            let (.., planned) = plan.trials().next().unwrap();
            let sizes = Sizes { users: sizes.users, items: sizes.items, train: sizes.interactions, batch: 0, positives: 0 };
            let reckoned = work(&planned.trial, sizes).unwrap().0 * TRAINING / 2.0;
            assert!((1.5 * measured..13.5 * measured).contains(&reckoned), "{backbone} {loss}: {reckoned} s, measured {measured} s");
        }
    }

    #[test]
    fn short_trials_share_a_pod_and_none_waits_that_could_run() {
        // By hand: 3 epochs of 810,128 pairs, 64 numbers, 16 multiplications each, and the tables' 10 x 70,846 rows; one evaluation each epoch of
        // 29,858 users and 40,988 items, and one at the end, at a fiftieth.
        let by_hand = (3.0 * 64.0 * (810_128.0 * 16.0 + 708_460.0) * 1e-9 + 4.0 * 29_858.0 * 40_988.0 * 64.0 * 2e-11) / 2.0;
        let plan = bpr(40);
        let found = seconds(&plan, plan.trials().next().unwrap(), &[GOWALLA], 2.0).unwrap();
        assert!((found - by_hand).abs() < 1e-9 * by_hand, "{found} {by_hand}");
        // Four slots: ten waves of one. Ten in a pod are one wave; eleven would be as long as eleven.
        let of_four = chosen(&plan, GOWALLA, 4).unwrap();
        assert_eq!(of_four.trials_per_pod, 10);
        assert_eq!(
            of_four.words(),
            "trials_per_pod: 10, as the longest trial takes at most about 5 s, and a pod of its own costs 1.2 s and more: 4 pods for 40 trials\n"
        );
        assert!(include_str!("../../../docs/cluster.md").contains(&format!("\non a cluster: {}", of_four.words())), "the page's example");
        // 32 slots: 40 trials are two waves, and twenty pods of two one wave of twice the time.
        assert_eq!(chosen(&plan, GOWALLA, 32).unwrap().trials_per_pod, 2);
        // A hundred in 32 slots are four waves: 25 pods of four are one; three would be two waves of three.
        assert_eq!((2..5).map(|several| waits_for_none(100, several, 32)).collect::<Vec<_>>(), [true, false, true]);
        // 25 waves: twenty pods of five are five waves of five. Of those that take less than a minute together, no more are as soon done.
        assert_eq!(chosen(&bpr(100), GOWALLA, 4).unwrap().trials_per_pod, 5);
    }

    #[test]
    fn a_pod_each_has_its_reason() {
        let said = |plan: &Plan, sizes, parallelism| chosen(plan, sizes, parallelism).map(|choice| (choice.trials_per_pod, choice.words()));
        assert_eq!(said(&bpr(3), GOWALLA, 32), None, "all run at once");
        let many = SizeEstimate { interactions: 100_000_000, ..GOWALLA };
        let (one, words) = said(&bpr(40), many, 4).unwrap();
        assert!(one == 1 && words.starts_with("trials_per_pod: 1, as the longest trial may take ") && words.contains("little"), "{words}");
        let unknown = plan("{kind: sim-gcl, dim: 8, layers: 2}", "{kind: bpr}", "{kind: uniform, negatives: 1}", "{epochs: 1}", 9);
        let (one, words) = said(&unknown, GOWALLA, 4).unwrap();
        assert!(one == 1 && words.starts_with("trials_per_pod: 1, as nothing is known of how long a trial of "), "{words}");
    }

    #[test]
    fn what_the_file_says_stands() {
        for (trials_per_pod, nodes) in [(Some(3), 1), (Some(1), 1), (None, 2)] {
            let resources = Resources { trials_per_pod, nodes, parallelism: 1, ..Resources::default() };
            assert_eq!(batches(&bpr(40), &resources, || unreachable!()).unwrap(), None);
        }
    }

    /// Also of trials that could all run at once.
    #[test]
    fn what_shares_a_gpu_shares_a_pod() {
        let resources = |trials_per_pod| Resources { gpus: 1, trials_per_gpu: 4, trials_per_pod, ..Resources::default() };
        let of_four = batches(&bpr(40), &resources(None), || unreachable!()).unwrap().unwrap();
        assert_eq!(of_four.words(), "trials_per_pod: 4, as so many share its GPU (`trials_per_gpu`)\n");
        assert_eq!(batches(&bpr(40), &resources(Some(8)), || unreachable!()).unwrap(), None);
    }
}
