//! Matrix factorisation: a learned vector for each user and each item, no biases.
//!
//! ```text
//! s(u, i) = similarity(p_u, q_i)
//! ```
//! Papers 000, 001, 003 and 004 use it with 32 or 64 dimensions. Koren et al., IEEE Computer 2009.

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
