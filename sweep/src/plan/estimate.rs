//! Memory and work of a trial, before it runs. Everything follows from the sizes; nothing is measured.

use dataset::Manifest;
use evaluator::{MetricAt, metric};
use trainer::{Learning, Trial};

/// Bytes of the program itself: its code, its threads, and what the allocator keeps.
pub const PROGRAM: u64 = 24 << 20;

/// Memory and work of one trial, at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of the process while it trains: the program, the dataset, tables, moments, the batch, and ranking the validation part.
    pub training: u64,
    /// Bytes of the process while it ranks the test part with the trained model.
    pub ranking: u64,
    /// Steps of the optimizer, when training runs to the last epoch; 0 for what fits without sampling.
    pub steps: u64,
    /// Scores computed in these steps.
    pub scores: u64,
}

impl Estimate {
    /// The estimate of a trial on a prepared dataset, which is ranked by some metrics with so much `memory` for it.
    pub fn of(trial: &Trial, manifest: &Manifest, metrics: &[MetricAt], memory: usize) -> Self {
        let held = PROGRAM + manifest.memory();
        let stored = trial.stored(manifest);
        let order = if trial.backbone.reads_order() { manifest.order_memory() } else { 0 };
        let training = order + trainer::memory(trial, manifest, stored.ranking(manifest, manifest.validation, memory));
        let known = manifest.train + manifest.fold_in.unwrap_or(0);
        let lists = metric::memory(metrics, manifest.users, manifest.items, known, rayon::current_num_threads());
        let (model, ranking) = (stored.bytes(manifest), stored.ranking(manifest, manifest.test, memory) + lists as u64);
        // A checkpoint is read as a whole, then taken apart.
        let ranking = held + model + ranking.max(model);
        let work = trial.learning.as_ref().map(|learning| work(learning, manifest)).unwrap_or_default();
        Self { training: (PROGRAM + order + manifest.reading_memory()).max(held + training), ranking, ..work }
    }

    /// Bytes of the host, beside the program, for a trial that so many ranks of this process train on GPUs, with so much `memory` to rank the validation part.
    pub fn on_host(trial: &Trial, manifest: &Manifest, memory: usize, ranks: u32) -> u64 {
        let order = if trial.backbone.reads_order() { manifest.order_memory() } else { 0 };
        let of_rank = trainer::host_memory(trial, manifest, trial.stored(manifest).ranking(manifest, manifest.validation, memory));
        order + manifest.reading_memory().max(manifest.memory() + u64::from(ranks) * of_rank)
    }
}

fn work(learning: &Learning, manifest: &Manifest) -> Estimate {
    let [users, train] = [manifest.users, manifest.train].map(|count| count as u64);
    let (rows, epochs) = (rows(learning, users, train), u64::from(learning.training.epochs));
    // The scores of a row: those of its positives and of its negatives; every item where the sampler takes all.
    let positives = learning.loss.list().unwrap_or(1);
    let scores = learning.candidates().map_or(manifest.items, |negatives| positives + negatives) as u64;
    Estimate {
        steps: epochs.saturating_mul(steps(learning, users, train)),
        scores: epochs.saturating_mul(rows).saturating_mul(scores),
        ..Estimate::default()
    }
}

/// Rows of an epoch, at most: users where the loss sees a list of each one's positives, else train interactions.
pub(super) fn rows(learning: &Learning, users: u64, train: u64) -> u64 {
    learning.loss.list().map_or(train, |_| users)
}

/// Steps of an epoch, at most.
pub(super) fn steps(learning: &Learning, users: u64, train: u64) -> u64 {
    rows(learning, users, train).div_ceil(u64::from(learning.training.batch_size.max(1)))
}
