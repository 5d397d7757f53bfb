//! What the code of a model does not say: where it comes from, and how it scores users of whom it has seen nothing.
//!
//! `docs/kinds.md` is made of these and of the heads of the files.

/// What a model makes of what it does not know, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Where the model is from.
    pub paper: &'static str,
    /// What a step, or a fit, costs beside scores.
    pub cost: &'static str,
    /// What a user without train interactions is scored by.
    pub unknown_user: &'static str,
    /// Values that papers print.
    pub values: &'static str,
}
