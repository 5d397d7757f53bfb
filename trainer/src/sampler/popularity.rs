//! By the items' train counts to a power.

use serde::{Deserialize, Serialize};

/// `popularity` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Popularity {
    /// Negatives for each positive.
    pub negatives: u32,
    /// Power of the train counts.
    #[serde(default = "one")]
    pub exponent: f64,
}

fn one() -> f64 {
    1.0
}
