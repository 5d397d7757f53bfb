//! How interactions are held out. One file for each kind.
//!
//! Items of test and validation that are not in train stay: they are in the catalogue, and every model ranks them.

mod given;
mod leave_last;
mod order;
mod random;
mod ratio;
mod temporal;
mod validation;

pub use given::Given;
pub use leave_last::LeaveLast;
pub use random::Random;
pub use temporal::Temporal;

pub(crate) use ratio::Ratio;

use crate::{Error, Result, edges::Edges};
use serde::{Deserialize, Serialize};

/// `split` in a sweep file, by its `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// A share of each user's interactions.
    Random(Random),
    /// One moment for all users.
    Temporal(Temporal),
    /// Each user's last interaction.
    LeaveLast(LeaveLast),
    /// The source comes split.
    Given(Given),
}

impl Default for Split {
    fn default() -> Self {
        Self::Given(Given::default())
    }
}

impl Split {
    /// Whether it parts interactions by their times.
    pub(crate) fn needs_timestamps(&self) -> bool {
        matches!(self, Self::Temporal(_) | Self::LeaveLast(_))
    }

    /// The seed of the draws; `None` where nothing is drawn, so that another seed would be the same split.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Self::Random(split) => Some(split.seed),
            Self::Given(split) => split.draws().then_some(split.seed),
            Self::Temporal(_) | Self::LeaveLast(_) => None,
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Random(split) => split.check(),
            Self::Temporal(split) => split.check(),
            Self::LeaveLast(_) => Ok(()),
            Self::Given(split) => split.check(),
        }
    }

    /// Moves interactions from train to test and validation.
    pub(crate) fn hold_out(&self, edges: &mut Edges) -> Result<()> {
        match self {
            Self::Random(split) => split.hold_out(edges),
            Self::Temporal(split) => split.hold_out(edges),
            Self::LeaveLast(split) => split.hold_out(edges),
            Self::Given(split) => split.hold_out(edges),
        }
    }
}

pub(crate) fn no_timestamps() -> Error {
    Error::setting("split.kind", "the source has no timestamps (expected a timestamp column, or `kind: random`)")
}

#[cfg(test)]
mod tests;
