//! Sampled softmax loss (SL).

use serde::{Deserialize, Serialize};

/// `softmax` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Softmax {
    /// Temperature, above 0.
    pub temperature: f64,
}
