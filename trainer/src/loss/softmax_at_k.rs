//! Softmax loss at K (SL@K).

use serde::{Deserialize, Serialize};

/// `softmax-at-k` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftmaxAtK {
    /// Length of the list that is optimised, K.
    pub cutoff: u32,
    /// Temperature of the softmax, above 0.
    pub temperature: f64,
    /// Temperature of the weights, above 0.
    pub weight_temperature: f64,
    /// Epochs between two updates of the quantiles.
    pub quantile_every: u32,
}
