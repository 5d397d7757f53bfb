//! Uniform over the items that are not train positives of the user.

use serde::{Deserialize, Serialize};

/// `uniform` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Negatives for each positive.
    pub negatives: u32,
    /// Whether one positive may get the same negative twice.
    #[serde(default = "with_replacement")]
    pub replacement: bool,
}

fn with_replacement() -> bool {
    true
}
