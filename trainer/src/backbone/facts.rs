//! What the code of a model does not say: how it scores users of whom it has seen nothing.
//!
//! `docs/kinds.md` is made of these and of the heads of the files.

use super::Backbone;

/// What a model makes of what it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// By what it scores a user without train interactions.
    pub unknown_user: &'static str,
}

impl Backbone {
    /// What it makes of what it does not know.
    pub fn facts(&self) -> Facts {
        let unknown_user = match self {
            Self::Popularity(_) => "as everyone",
            Self::Ease(_) => "all items have the score 0: they are tied",
            Self::Mf(_) => "by the vector that it began with, which no training touched (only `weight_decay` shortens it)",
            Self::LightGcn(_) => {
                "by the vector that it began with, over L + 1, as it has no neighbours; no training touched it (only `weight_decay` shortens it)"
            }
        };
        Facts { unknown_user }
    }
}
