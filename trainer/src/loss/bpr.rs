//! Bayesian personalised ranking.

use serde::{Deserialize, Serialize};

/// `bpr` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bpr {}
