//! How interactions are held out. One file for each kind.
//!
//! Items of test and validation that are not in train stay: they are in the catalogue, and every model ranks them.

mod amount;
mod borders;
mod cold_start;
mod cross_validation;
mod drawn_users;
mod first;
mod given;
mod last;
mod leave_last;
mod leave_n;
mod link_prediction;
mod random;
mod ratio;
mod shuffled;
mod temporal;
mod users;
mod validation;

pub use amount::Amount;
pub use cold_start::ColdStart;
pub use cross_validation::CrossValidation;
pub use given::Given;
pub use last::Last;
pub use leave_last::LeaveLast;
pub use leave_n::{LeaveN, Pick};
pub use link_prediction::LinkPrediction;
pub use random::Random;
pub use temporal::Temporal;
pub use users::Users;

pub(crate) use borders::{Borders, SortedTimes, Times};
pub(crate) use drawn_users::{DrawnUsers, UserIds};
pub(crate) use first::{Count, First};
pub(crate) use ratio::Ratio;

use crate::{Error, Result, edges::Edges, links::Links};
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

    /// Whether it holds users out as a whole, whom no training sees and who are ranked by a part of their histories.
    fn holds_users_out(&self) -> bool {
        false
    }

    /// How the source's rows are links between the nodes of one set; `None` where users and items are two sets.
    fn links(&self) -> Option<Links> {
        None
    }

    /// Whether it holds out a validation part.
    fn has_validation(&self) -> bool;

    /// What to write in a sweep file for such a part.
    fn validation_key(&self) -> &'static str {
        "validation: 0.1"
    }

    /// The seed of the draws; `None` where nothing is drawn, so that another seed would be the same split.
    fn seed(&self) -> Option<u64> {
        None
    }

    /// The number that tells repeated splits of a dataset apart.
    fn repetition(&self) -> Option<u64> {
        self.seed()
    }

    /// What that number is, in words.
    fn repeats_by(&self) -> &'static str {
        "split seed"
    }

    /// The splits that it stands for itself, one for each fold; none where it is a single one.
    fn folds(&self) -> Vec<Split> {
        Vec::new()
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

    /// The users whom it holds out as a whole.
    ///
    /// # Errors
    /// When its shares are of no user, or the ids cannot be read.
    fn draw_users(&self, _ids: &mut dyn UserIds) -> Result<DrawnUsers> {
        Ok(DrawnUsers::default())
    }

    /// Moves interactions of some users from train to test and validation, each user's for itself.
    ///
    /// # Errors
    /// When the interactions have no times that it needs.
    fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()>;

    /// What is left of the histories of users whom it holds out; `None` where that is all.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    fn cut(&self) -> Result<Option<First>> {
        Ok(None)
    }
}

/// Makes the enum of all splits. A line is a split: its words, and its settings, whose name in kebab-case is the `kind` of sweep files.
macro_rules! splits {
    ($($(#[$words:meta])* $split:ident,)+) => {
        /// `split` in a sweep file, by its `kind`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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

            /// The names of all kinds in Rust.
            const NAMES: &[&str] = &[$(stringify!($split),)+];
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
    /// Links between the nodes of one set.
    LinkPrediction,
    /// Each of several parts of each user's interactions once.
    CrossValidation,
    /// All of some users.
    Users,
    /// All of some users, who are known by few interactions.
    ColdStart,
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

    /// The kinds of sweep files that part a source which does not come split.
    pub(crate) fn kinds_of_whole() -> Vec<String> {
        let given = dataset::quote::kind(&Self::default());
        Self::NAMES.iter().map(|name| kebab_case(name)).filter(|kind| *kind != given).collect()
    }

    /// Whether the split takes the source's own parts.
    pub fn takes_given_parts(&self) -> bool {
        self.kind().takes_given_parts()
    }

    /// Whether the split holds users out as a whole, whom no training sees and who are ranked by a part of their histories.
    pub fn holds_users_out(&self) -> bool {
        self.kind().holds_users_out()
    }

    /// How the source's rows are links between the nodes of one set; `None` where users and items are two sets.
    pub(crate) fn links(&self) -> Option<Links> {
        self.kind().links()
    }

    /// Whether the split holds out a validation part.
    pub fn has_validation(&self) -> bool {
        self.kind().has_validation()
    }

    /// What to write in a sweep file for a validation part.
    pub fn validation_key(&self) -> &'static str {
        self.kind().validation_key()
    }

    /// The number that tells repeated splits of a dataset apart: the seed of the draws, or the fold; `None` where nothing is drawn, so that another
    /// seed would be the same split.
    pub fn repetition(&self) -> Option<u64> {
        self.kind().repetition()
    }

    /// What [`repetition`](Self::repetition) is, in words: `split seed`, or `fold`.
    pub fn repeats_by(&self) -> &'static str {
        self.kind().repeats_by()
    }

    /// The splits that it stands for itself, one for each fold; none where it is a single one.
    pub fn folds(&self) -> Vec<Self> {
        self.kind().folds()
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.kind().check()
    }

    /// The moments that part the interactions of all users, where it parts them so, and the users whom it holds out.
    pub(crate) fn borders(&self, times: Option<&mut dyn Times>, ids: &mut dyn UserIds) -> Result<Borders> {
        let mut borders = self.kind().borders(times)?;
        borders.users = self.kind().draw_users(ids)?;
        Ok(borders)
    }

    /// What is left of the histories of users whom the split holds out; `None` where that is all.
    pub(crate) fn cut(&self) -> Result<Option<First>> {
        self.kind().cut()
    }

    /// Moves interactions of some users from train to test and validation.
    pub(crate) fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()> {
        self.kind().hold_out(edges, borders)
    }
}

/// `leave-last` of `LeaveLast`.
fn kebab_case(name: &str) -> String {
    let mut kebab = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_uppercase() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

pub(crate) fn no_timestamps() -> Error {
    Error::setting("split.kind", "the source has no timestamps (expected a timestamp column, or `kind: random`)")
}

#[cfg(test)]
mod tests;
