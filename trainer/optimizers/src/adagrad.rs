//! AdaGrad.
//!
//! ```text
//! g = dL/dp + weight_decay p
//! v = v + g^2
//! p = p - learning_rate g / (sqrt(v) + epsilon)
//! ```
//! Without weight decay a row without a gradient stays where it is, and a step touches the rows of the batch alone: that is not lazy but exact. With it every row moves
//! in every step, at the cost of the whole table. The release of GRU4Rec trains by it.

use super::{Facts, Optimizer, OptimizerKind, Shared, Step, StepDecay, kind::check_epsilon};
use serde::{Deserialize, Serialize};

/// `adagrad` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adagrad {
    /// Length of the first step, above 0.
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
    /// Added to the root of the sum of squares.
    #[serde(default = "epsilon")]
    pub epsilon: f64,
}

fn epsilon() -> f64 {
    1e-10
}

impl OptimizerKind for Adagrad {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Duchi, Hazan and Singer, JMLR 2011; PyTorch's `Adagrad`",
            idle_rows: "stay, which is exact; with weight decay they move in every step",
            cost: "O(B d) without weight decay, O((m + n) d) with it",
        }
    }

    fn shared(&self) -> Shared {
        let &Self { learning_rate, learning_rate_decay, weight_decay, batch_l2, .. } = self;
        Shared { learning_rate, learning_rate_decay, weight_decay, batch_l2 }
    }

    fn with_learning_rate(&self, learning_rate: f64) -> Optimizer {
        Optimizer::Adagrad(Self { learning_rate, ..self.clone() })
    }

    fn step(&self, _step: u64) -> Step {
        Step {
            weight_decay: self.weight_decay as f32,
            shrinkage: 1.0,
            first_decay: 0.0,
            first_gain: 1.0,
            second_decay: 1.0,
            second_gain: 1.0,
            second_scale: 1.0,
            rate: self.learning_rate as f32,
            epsilon: self.epsilon as f32,
        }
    }

    fn moves_all_rows(&self) -> bool {
        self.weight_decay > 0.0
    }

    fn check_own_values(&self) -> Result<(), String> {
        check_epsilon(self.epsilon)
    }
}
