//! One resolved trial: everything that determines the result of a training.

use crate::{Backbone, Loss, Optimizer, Sampler};
use evaluator::MetricAt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Raised when the same trial would give other numbers than before.
pub const TRAINER_VERSION: u32 = 1;

/// A method with every value fixed and one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// [`TRAINER_VERSION`] of the build that made the plan.
    pub version: u32,
    /// Fingerprint of the prepared dataset.
    pub dataset: String,
    /// The model.
    pub backbone: Backbone,
    /// How it learns; `None` for backbones that fit without sampling.
    pub learning: Option<Learning>,
    /// The validation metric that stops training and picks values.
    pub select_by: MetricAt,
}

/// How a backbone learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// What is minimised.
    pub loss: Loss,
    /// Where negatives come from.
    pub sampler: Sampler,
    /// How parameters move.
    pub optimizer: Optimizer,
    /// Epochs, batches and stopping.
    pub training: Training,
    /// Seed of the parameters, the order of the pairs and the negatives.
    pub seed: u64,
}

/// Epochs, batches and stopping: the `training` block without `select_by`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Passes over the train interactions, at most.
    pub epochs: u32,
    /// Pairs of a step.
    pub batch_size: u32,
    /// Epochs between two evaluations on validation.
    pub evaluate_every: u32,
    /// Evaluations without improvement after which training stops; `None` trains to the end.
    #[serde(default)]
    pub patience: Option<u32>,
}

impl Trial {
    /// Hash of everything that determines the result, 16 hex digits: the folder's name under `trials/`.
    pub fn id(&self) -> String {
        let text = serde_json::to_string(self).expect("a trial is plain data");
        hex::encode(&Sha256::digest(text)[..8])
    }
}
