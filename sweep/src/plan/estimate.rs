//! What a trial will take, before it runs: floors that follow from the sizes, not measurements.

use dataset::Manifest;
use trainer::{Backbone, Learning, Trial, backbone::Ease};

/// Bytes of a float of the tables.
const FLOAT: u64 = 4;

/// What one trial takes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes: tables, the optimizer's moments, the graph and the buffers of one step.
    pub memory: u64,
    /// Steps of the optimizer, when training runs to the last epoch; 0 for what fits without sampling.
    pub steps: u64,
    /// Scores computed in these steps.
    pub scores: u64,
}

impl Estimate {
    /// Of a trial on a prepared dataset.
    pub fn of(trial: &Trial, manifest: &Manifest) -> Self {
        let (users, items, pairs) = (manifest.users as u64, manifest.items as u64, manifest.train as u64);
        let model = model(&trial.backbone, users, items, pairs);
        match &trial.learning {
            None => Self { memory: model, ..Self::default() },
            Some(learning) => Self { memory: model + step(learning, items), ..work(learning, items, pairs) },
        }
    }
}

/// Parameters with two moments of Adam and a gradient, and what the forward pass keeps.
fn model(backbone: &Backbone, users: u64, items: u64, pairs: u64) -> u64 {
    let table = |dim: u32| (users + items) * u64::from(dim) * FLOAT;
    match backbone {
        Backbone::Popularity(_) => items * FLOAT,
        Backbone::Ease(_) => Ease::memory(items as usize) as u64,
        Backbone::Mf(mf) => 4 * table(mf.dim),
        // Also the propagated vectors and their gradient; the graph holds a column and a weight for both directions of an edge.
        Backbone::LightGcn(gcn) => 6 * table(gcn.dim) + 2 * pairs * (4 + FLOAT),
    }
}

/// Scores of one positive: its own and its negatives'; every item where the sampler takes all.
fn scores(learning: &Learning, items: u64) -> u64 {
    learning.sampler.negatives().map_or(items, |negatives| 1 + negatives as u64)
}

/// Ids, log-probabilities, scores and their gradient for one batch.
fn step(learning: &Learning, items: u64) -> u64 {
    u64::from(learning.training.batch_size) * scores(learning, items) * 4 * FLOAT
}

fn work(learning: &Learning, items: u64, pairs: u64) -> Estimate {
    let epochs = u64::from(learning.training.epochs);
    let steps = epochs * pairs.div_ceil(u64::from(learning.training.batch_size.max(1)));
    Estimate { memory: 0, steps, scores: epochs * pairs * scores(learning, items) }
}
