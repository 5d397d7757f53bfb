//! Stochastic gradient descent.
//!
//! ```text
//! g = dL/dp + weight_decay p
//! m = momentum m + g
//! p = p - learning_rate m
//! ```
//! Without momentum and weight decay a row without a gradient stays where it is, and a step touches the rows of the batch alone; with one of them every row moves in
//! every step, at the cost of the whole table. Without dampening and without Nesterov's form. Its learning rates are far above those of Adam, as losses are means over a
//! batch: a vector's gradient is its share of one.

use super::{Facts, Optimizer, OptimizerKind, Shared, Step, StepDecay, kind::check_within};
use serde::{Deserialize, Serialize};

/// `sgd` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sgd {
    /// What a gradient is multiplied by, above 0.
    pub learning_rate: f64,
    /// How the learning rate falls from epoch to epoch: `{every: 5, factor: 0.95}` multiplies it by so much after each five epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate_decay: Option<StepDecay>,
    /// What is left of the last step's direction in the next.
    #[serde(default)]
    pub momentum: f64,
    /// Weight of the squared norm in the gradient.
    #[serde(default)]
    pub weight_decay: f64,
    /// Weight of the squared norms of the vectors, before propagation, of a batch's users, positives and negatives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_l2: Option<f64>,
}

impl OptimizerKind for Sgd {
    fn facts(&self) -> Facts {
        Facts {
            paper: "PyTorch's `SGD`",
            idle_rows: "stay, which is exact; with momentum or weight decay they move in every step",
            cost: "O(B d) without momentum and weight decay, O((m + n) d) with one of them",
        }
    }

    fn shared(&self) -> Shared {
        let &Self { learning_rate, learning_rate_decay, weight_decay, batch_l2, .. } = self;
        Shared { learning_rate, learning_rate_decay, weight_decay, batch_l2 }
    }

    fn with_learning_rate(&self, learning_rate: f64) -> Optimizer {
        Optimizer::Sgd(Self { learning_rate, ..self.clone() })
    }

    fn step(&self, _step: u64) -> Step {
        Step {
            weight_decay: self.weight_decay as f32,
            shrinkage: 1.0,
            first_decay: self.momentum as f32,
            first_gain: 1.0,
            second_decay: 0.0,
            second_gain: 0.0,
            second_scale: 0.0,
            rate: self.learning_rate as f32,
            epsilon: 1.0,
        }
    }

    fn moves_all_rows(&self) -> bool {
        self.momentum > 0.0 || self.weight_decay > 0.0
    }

    fn check_own_values(&self) -> Result<(), String> {
        check_within("momentum", f64::from(self.momentum as f32), 0.0..1.0)
    }
}
