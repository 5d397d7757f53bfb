//! Matrix factorisation.

use crate::backbone::Init;
use serde::{Deserialize, Serialize};

/// `mf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mf {
    /// Length of a vector.
    pub dim: u32,
    /// How the vectors start.
    #[serde(default)]
    pub init: Init,
}
