//! Light graph convolution.

use crate::backbone::Init;
use serde::{Deserialize, Serialize};

/// `light-gcn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LightGcn {
    /// Length of a vector.
    pub dim: u32,
    /// Number of propagations.
    pub layers: u32,
    /// How the vectors start.
    #[serde(default)]
    pub init: Init,
}
