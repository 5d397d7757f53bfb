//! Categorical cross-entropy.

use serde::{Deserialize, Serialize};

/// `cce` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cce {}
