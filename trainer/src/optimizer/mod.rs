//! How parameters move.

use serde::{Deserialize, Serialize};

/// `optimizer` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Adam as PyTorch has it: every row moves in every step; weight decay is added to the gradient.
    Adam(Adam),
    /// Adam on the rows that have a gradient; the others stay, and do not age.
    LazyAdam(Adam),
}

/// The values of `adam` and of `lazy-adam` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adam {
    /// Length of a step.
    pub learning_rate: f64,
    /// Weight of the squared norm in the gradient.
    #[serde(default)]
    pub weight_decay: f64,
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
