//! Adam.
//!
//! ```text
//! g = dL/dp + weight_decay p
//! m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
//! p = p - learning_rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
//! ```
//! `adam` moves every row in every step, as PyTorch's dense Adam does: a row without gradient still moves by its momentum and its
//! weight decay. Where a step touches few rows, the others are left behind, and make all their steps at once when they are next looked at:
//! see `catch_up.rs`. With weight decay they cannot, as each step then depends on where the one before has led; every row is moved in every
//! step, at the cost of the whole table. `lazy-adam` leaves such rows alone. Weight decay is the coupled one, a part of the gradient; `adam-w` has the other.
//!
//! `batch_l2` is what LightGCN and MixGCF have in the place of weight decay, which falls on the rows of the batch alone. It adds to the loss
//!
//! ```text
//! batch_l2 / (2 B) (sum_u |e_u|^2 + sum_i |e_i|^2 + sum_j |e_j|^2)
//! ```
//! over the users, positives and drawn negatives of the batch's B rows, a vector as often as it stands there; e are the rows of the tables, before
//! any propagation. As weight decay, it is in the gradient and not in the loss that is shown.

use super::{
    Facts, Moments, Optimizer, OptimizerKind, Shared, Step, StepDecay,
    kind::{check_epsilon, check_within},
};
use serde::{Deserialize, Serialize};

/// `adam` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adam {
    /// Length of a step, above 0.
    pub learning_rate: f64,
    /// How the learning rate falls from epoch to epoch: `{every: 5, factor: 0.95}` multiplies it by so much after each five epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate_decay: Option<StepDecay>,
    /// Weight of the squared norm in the gradient.
    #[serde(default)]
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

pub(super) fn first_decay() -> f64 {
    0.9
}

pub(super) fn second_decay() -> f64 {
    0.999
}

pub(super) fn epsilon() -> f64 {
    1e-8
}

impl Adam {
    /// Adam with this learning rate, and the defaults of all else.
    pub fn new(learning_rate: f64) -> Self {
        Self {
            learning_rate,
            learning_rate_decay: None,
            weight_decay: 0.0,
            batch_l2: None,
            beta1: first_decay(),
            beta2: second_decay(),
            epsilon: epsilon(),
        }
    }

    /// Its values without those that all optimizers have, but for the learning rate.
    pub(super) fn moments(&self) -> Moments {
        let &Self { learning_rate, beta1, beta2, epsilon, .. } = self;
        Moments { learning_rate, beta1, beta2, epsilon }
    }
}

impl OptimizerKind for Adam {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Kingma and Ba, ICLR 2015; PyTorch's `Adam`",
            idle_rows: "move by their momentum; without weight decay they make their steps at once when they are next looked at",
            cost: "O(B d) without weight decay, O((m + n) d) with it",
        }
    }

    fn shared(&self) -> Shared {
        let &Self { learning_rate, learning_rate_decay, weight_decay, batch_l2, .. } = self;
        Shared { learning_rate, learning_rate_decay, weight_decay, batch_l2 }
    }

    fn with_learning_rate(&self, learning_rate: f64) -> Optimizer {
        Optimizer::Adam(Self { learning_rate, ..self.clone() })
    }

    fn step(&self, step: u64) -> Step {
        let moments = self.moments();
        Step {
            weight_decay: self.weight_decay as f32,
            shrinkage: 1.0,
            first_decay: self.beta1 as f32,
            first_gain: (1.0 - self.beta1) as f32,
            second_decay: self.beta2 as f32,
            second_gain: (1.0 - self.beta2) as f32,
            second_scale: moments.root_scale(step) as f32,
            rate: moments.rate(step) as f32,
            epsilon: self.epsilon as f32,
        }
    }

    fn moves_all_rows(&self) -> bool {
        true
    }

    fn idles(&self) -> Option<Moments> {
        (self.weight_decay == 0.0).then(|| self.moments())
    }

    fn check_own_values(&self) -> Result<(), String> {
        check_within("beta1", self.beta1, 0.0..1.0)?;
        check_within("beta2", self.beta2, 0.0..1.0)?;
        check_epsilon(self.epsilon)
    }
}
