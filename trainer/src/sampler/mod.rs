//! Where negatives come from. Each sampler states its proposal and returns ids and log-probabilities.

use serde::{Deserialize, Serialize};

mod all;
mod popularity;
mod uniform;

pub use all::All;
pub use popularity::Popularity;
pub use uniform::Uniform;

/// `samplers` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampler {
    /// Every item that is not a train positive of the user.
    All(All),
    /// Uniform over the items that are not train positives of the user.
    Uniform(Uniform),
    /// By the items' train counts.
    Popularity(Popularity),
}
