//! Every item that is not a train positive of the user.
//!
//! ```text
//! negatives of (u, i): all items but the train items of u, of which i and all other train positives of u are
//! ```
//! Nothing is drawn: every item of the catalogue is scored, and the scores of the user's train items, the positive's own among them, are
//! masked. This is the full form of a loss, at a cost of the whole catalogue for each positive. Papers that sum over all items have the user's
//! other positives among them; that form is not built.

use super::{Facts, Pool, SamplerKind};
use serde::{Deserialize, Serialize};

/// `all` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct All {}

impl SamplerKind for All {
    fn facts(&self) -> Facts {
        Facts { paper: "–", values: "–", state: "none", cost: "n scores" }
    }

    fn draws(&self) -> (Pool, Option<u32>) {
        (Pool::All(self.clone()), None)
    }
}
