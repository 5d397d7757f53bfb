//! What recall divides the hits by.

use serde::{Deserialize, Serialize};

/// The denominator of recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename = "Recall", rename_all = "kebab-case")]
pub enum RecallDenominator {
    /// All held-out items of the user.
    Standard,
    /// Held-out items of the user, at most the cutoff (Mult-VAE; paper 002, appendix A).
    Capped,
}
