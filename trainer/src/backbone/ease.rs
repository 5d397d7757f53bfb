//! EASE: a linear item-to-item model in closed form.

use serde::{Deserialize, Serialize};

/// `ease` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ease {
    /// Weight of the squared norm, above 0.
    pub regularization: f64,
}
