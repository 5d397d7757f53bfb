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
//! step, at the cost of the whole table. `lazy-adam` leaves such rows alone: neither parameters nor moments change, and only t goes on; under
//! models over the train graph, and for items under the sampler `all`, every row counts as one with a gradient in every step, and the two are the same. Weight decay is the
//! coupled one (part of the gradient), not AdamW's. Kingma and Ba, ICLR 2015.
//!
//! `batch_l2` is what LightGCN and MixGCF have in the place of weight decay, which falls on the rows of the batch alone. It adds to the loss
//!
//! ```text
//! batch_l2 / (2 B) (sum_u |e_u|^2 + sum_i |e_i|^2 + sum_j |e_j|^2)
//! ```
//! over the users, positives and drawn negatives of the batch's B rows, a vector as often as it stands there; e are the rows of the tables, before
//! any propagation. As weight decay, it is in the gradient and not in the loss that is shown.

use super::StepDecay;
use serde::{Deserialize, Serialize};

/// The values of `adam` and of `lazy-adam` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adam {
    /// Length of a step, above 0.
    pub learning_rate: f64,
    /// How the learning rate falls from epoch to epoch.
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

fn first_decay() -> f64 {
    0.9
}

fn second_decay() -> f64 {
    0.999
}

fn epsilon() -> f64 {
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

    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        let within = |key: &str, value: f64, range: std::ops::Range<f64>| match range.contains(&value) {
            true => Ok(()),
            false => Err(format!("{key} is {value}, expected at least {} and below {}", range.start, range.end)),
        };
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(format!("learning_rate is {}, expected a number above 0", self.learning_rate));
        }
        self.learning_rate_decay.map_or(Ok(()), StepDecay::check)?;
        within("weight_decay", self.weight_decay, 0.0..f64::INFINITY)?;
        within("batch_l2", self.batch_l2.unwrap_or_default(), 0.0..f64::INFINITY)?;
        within("beta1", self.beta1, 0.0..1.0)?;
        within("beta2", self.beta2, 0.0..1.0)?;
        match self.epsilon as f32 > 0.0 && self.epsilon.is_finite() {
            true => Ok(()),
            false => Err(format!("epsilon is {}, expected a number above 0: a row without gradient would divide by it", self.epsilon)),
        }
    }

    /// The bias-corrected learning rate of a step, counted from 1.
    pub(super) fn rate(&self, step: u64) -> f64 {
        self.learning_rate / (1.0 - self.beta1.powf(step as f64))
    }

    /// What the root of the second moment is multiplied by in a step, counted from 1.
    pub(super) fn root_scale(&self, step: u64) -> f64 {
        1.0 / (1.0 - self.beta2.powf(step as f64)).sqrt()
    }
}
