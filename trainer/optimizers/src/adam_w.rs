//! Adam with decoupled weight decay.
//!
//! ```text
//! m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
//! p = (1 - learning_rate weight_decay) p - learning_rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
//! ```
//! where g is the gradient of the loss alone: weight decay shrinks every value by the same share, and Adam's scale of the gradient does not see it. Every row moves in
//! every step, at the cost of the whole table; with a weight decay of 0 it is `adam`. The learning rate times the weight decay is below 1.

use super::{
    Adam, Facts, Moments, Optimizer, OptimizerKind, Shared, Step, StepDecay,
    adam::{epsilon, first_decay, second_decay},
};
use serde::{Deserialize, Serialize};

/// `adam-w` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdamW {
    /// Length of a step, above 0.
    pub learning_rate: f64,
    /// How the learning rate falls from epoch to epoch: `{every: 5, factor: 0.95}` multiplies it by so much after each five epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate_decay: Option<StepDecay>,
    /// By how much of the learning rate every value shrinks in a step.
    #[serde(default = "weight_decay")]
    pub weight_decay: f64,
    /// Weight of the squared norms of the vectors, before propagation, of a batch's users, positives and negatives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_l2: Option<f64>,
    /// Decay of the first moment.
    #[serde(default = "first_decay")]
    pub beta1: f64,
    /// Decay of the second moment.
    #[serde(default = "second_decay")]
    pub beta2: f64,
    /// Added to the root of the second moment.
    #[serde(default = "epsilon")]
    pub epsilon: f64,
}

fn weight_decay() -> f64 {
    0.01
}

impl AdamW {
    /// Adam of the same values, without weight decay.
    fn adam(&self) -> Adam {
        let &Self { learning_rate, learning_rate_decay, batch_l2, beta1, beta2, epsilon, .. } = self;
        Adam { learning_rate, learning_rate_decay, weight_decay: 0.0, batch_l2, beta1, beta2, epsilon }
    }
}

impl OptimizerKind for AdamW {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Loshchilov and Hutter, ICLR 2019; PyTorch's `AdamW`",
            idle_rows: "shrink and move by their momentum",
            cost: "O(B d) without weight decay, O((m + n) d) with it",
        }
    }

    fn shared(&self) -> Shared {
        Shared { weight_decay: self.weight_decay, ..self.adam().shared() }
    }

    fn with_learning_rate(&self, learning_rate: f64) -> Optimizer {
        Optimizer::AdamW(Self { learning_rate, ..self.clone() })
    }

    fn step(&self, step: u64) -> Step {
        Step { shrinkage: (1.0 - self.learning_rate * self.weight_decay) as f32, ..self.adam().step(step) }
    }

    fn moves_all_rows(&self) -> bool {
        true
    }

    fn idles(&self) -> Option<Moments> {
        (self.weight_decay == 0.0).then(|| self.adam().moments())
    }

    fn check_own_values(&self) -> Result<(), String> {
        self.adam().check_own_values()?;
        let Self { learning_rate, weight_decay, .. } = self;
        match learning_rate * weight_decay < 1.0 {
            true => Ok(()),
            false => Err(format!(
                "weight_decay is {weight_decay} at a learning_rate of {learning_rate}, expected a product below 1: a step would turn values over"
            )),
        }
    }
}
