//! What a trial will take, before it runs. Everything follows from the sizes; nothing is measured.

use dataset::Manifest;
use trainer::{Backbone, Learning, Trial, backbone::Stored};

/// Bytes of the program itself: its code, its threads, and what the allocator keeps.
pub const PROGRAM: u64 = 24 << 20;

/// Bytes of a float of the tables.
const FLOAT: u64 = 4;

/// What one trial takes at most.
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
    /// Of a trial on a prepared dataset, with so much `memory` for ranking.
    pub fn of(trial: &Trial, manifest: &Manifest, memory: usize) -> Self {
        let held = PROGRAM + manifest.memory();
        let training = trainer::memory(trial, manifest, ranking(&trial.backbone, manifest, manifest.validation, memory));
        let (model, ranking) = (model(&trial.backbone, manifest), ranking(&trial.backbone, manifest, manifest.test, memory));
        // A checkpoint is read as a whole, then taken apart.
        let ranking = held + model + ranking.max(model);
        let work = trial.learning.as_ref().map(|learning| work(learning, manifest)).unwrap_or_default();
        Self { training: (PROGRAM + manifest.reading_memory()).max(held + training), ranking, ..work }
    }
}

/// The stored model.
fn model(backbone: &Backbone, manifest: &Manifest) -> u64 {
    let (users, items) = (manifest.users as u64, manifest.items as u64);
    match backbone.stored() {
        Stored::Vectors { dim } => (users + items) * dim as u64 * FLOAT,
        Stored::Network { dim, weights } => ((users + items) * dim as u64 + weights as u64) * FLOAT,
        Stored::ItemWeights => items * items * FLOAT,
    }
}

/// What ranking takes beside the model.
fn ranking(backbone: &Backbone, manifest: &Manifest, held_out: usize, memory: usize) -> u64 {
    let dim = match backbone.stored() {
        Stored::Vectors { dim } | Stored::Network { dim, .. } => dim,
        Stored::ItemWeights => 0,
    };
    evaluator::rank::rank_memory(manifest.users, manifest.items, dim, held_out, rayon::current_num_threads(), memory) as u64
}

fn work(learning: &Learning, manifest: &Manifest) -> Estimate {
    let (pairs, epochs) = (manifest.train as u64, u64::from(learning.training.epochs));
    // Of a positive: its own and its negatives'; every item where the sampler takes all.
    let scores = learning.candidates().map_or(manifest.items as u64, |negatives| 1 + negatives as u64);
    let steps = epochs.saturating_mul(pairs.div_ceil(u64::from(learning.training.batch_size.max(1))));
    Estimate { steps, scores: epochs.saturating_mul(pairs).saturating_mul(scores), ..Estimate::default() }
}
