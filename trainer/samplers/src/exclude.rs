//! What is no negative where every item is scored.

use serde::{Deserialize, Serialize};

/// `exclude` of [`All`](crate::All).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exclude {
    /// The user's train items.
    #[default]
    Train,
    /// The positives of the row: the user's other train items are negatives.
    Row,
}

impl Exclude {
    /// A trial is named as before there was a choice.
    pub(crate) fn is_train(&self) -> bool {
        *self == Self::Train
    }
}
