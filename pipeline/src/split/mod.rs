//! How interactions are held out. One file for each kind.
//!
//! Items of test and validation that are not in train stay: they are in the catalogue, and every model ranks them.

mod borders;
mod given;
mod last;
mod leave_last;
mod leave_n;
mod order;
mod random;
mod ratio;
mod temporal;
mod validation;

pub use given::Given;
pub use last::Last;
pub use leave_last::LeaveLast;
pub use leave_n::{LeaveN, Pick};
pub use random::Random;
pub use temporal::Temporal;

pub(crate) use borders::{Borders, SortedTimes, Times};
pub(crate) use order::Order;
pub(crate) use ratio::Ratio;

use crate::{Error, Result, edges::Edges};
use serde::{Deserialize, Serialize};

/// What a split says of itself; where nothing is said, it needs nothing.
trait SplitKind {
    /// Whether it parts interactions by their times.
    fn needs_timestamps(&self) -> bool {
        false
    }

    /// Whether it takes the source's own parts.
    fn takes_given_parts(&self) -> bool {
        false
    }

    /// Whether it holds out a validation part.
    fn has_validation(&self) -> bool;

    /// The seed of the draws; `None` where nothing is drawn, so that another seed would be the same split.
    fn seed(&self) -> Option<u64> {
        None
    }

    /// Whether the values can be used.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The moments that part the interactions of all users, where it parts them so; `None` for `times` where the source has none.
    ///
    /// # Errors
    /// When no moment does, or the interactions have no times that it needs.
    fn borders(&self, _times: Option<&mut dyn Times>) -> Result<Borders> {
        Ok(Borders::default())
    }

    /// Moves interactions of some users from train to test and validation, each user's for itself.
    ///
    /// # Errors
    /// When the interactions have no times that it needs.
    fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()>;
}

/// Makes the enum of all splits. A line is a split: its words, and its settings, whose name in kebab-case is the `kind` of sweep files.
macro_rules! splits {
    ($($(#[$words:meta])* $split:ident,)+) => {
        /// `split` in a sweep file, by its `kind`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Split {
            $($(#[$words])* $split($split),)+
        }

        impl Split {
            fn kind(&self) -> &dyn SplitKind {
                match self {
                    $(Self::$split(split) => split,)+
                }
            }
        }
    };
}

splits! {
    /// A share of each user's interactions.
    Random,
    /// One moment for all users.
    Temporal,
    /// Each user's last interaction.
    LeaveLast,
    /// So many interactions of each user.
    LeaveN,
    /// The source comes split.
    Given,
}

impl Default for Split {
    fn default() -> Self {
        Self::Given(Given::default())
    }
}

impl Split {
    /// Whether the split parts interactions by their times.
    pub(crate) fn needs_timestamps(&self) -> bool {
        self.kind().needs_timestamps()
    }

    /// Whether the split takes the source's own parts.
    pub fn takes_given_parts(&self) -> bool {
        self.kind().takes_given_parts()
    }

    /// Whether the split holds out a validation part.
    pub fn has_validation(&self) -> bool {
        self.kind().has_validation()
    }

    /// The seed of the draws; `None` where nothing is drawn, so that another seed would be the same split.
    pub fn seed(&self) -> Option<u64> {
        self.kind().seed()
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.kind().check()
    }

    /// The moments that part the interactions of all users, where it parts them so.
    pub(crate) fn borders(&self, times: Option<&mut dyn Times>) -> Result<Borders> {
        self.kind().borders(times)
    }

    /// Moves interactions of some users from train to test and validation.
    pub(crate) fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()> {
        self.kind().hold_out(edges, borders)
    }
}

pub(crate) fn no_timestamps() -> Error {
    Error::setting("split.kind", "the source has no timestamps (expected a timestamp column, or `kind: random`)")
}

#[cfg(test)]
mod tests;
