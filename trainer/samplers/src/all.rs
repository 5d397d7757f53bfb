//! Every item but train positives.
//!
//! ```text
//! exclude: train    negatives of (u, i): all items but the train items of u, of which i and all other train positives of u are
//! exclude: row      negatives of (u, i): all items but i; of a list of positives, all items but those of the list
//! ```
//! Nothing is drawn: every item of the catalogue is scored, and the scores of what is excluded are masked. This is the full form of a loss,
//! at a cost of the whole catalogue for each positive. Papers that sum over all items have the user's other positives among them: paper
//! SL@K in equations 2.2 and 3.5, paper RG in its equation of the softmax. That is `exclude: row` with a loss that has the positive in its sum,
//! as `cce` and `softmax` and `softmax-at-k` with `include_positive`. The default keeps them out, as samplers that draw do.

use super::{Facts, Pool, SamplerKind};
use serde::{Deserialize, Serialize};

/// `all` in a sweep file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct All {
    /// What is no negative: the user's train items, or the positives of the row alone.
    #[serde(default, skip_serializing_if = "Exclude::is_train")]
    pub exclude: Exclude,
}

/// `exclude` of [`All`].
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
    fn is_train(&self) -> bool {
        *self == Self::Train
    }
}

impl SamplerKind for All {
    fn facts(&self) -> Facts {
        Facts { paper: "–", values: "`exclude: row` in the equations of SL@K and RG", state: "none", cost: "n scores" }
    }

    fn draws(&self) -> (Pool, Option<u32>) {
        (Pool::All(self.clone()), None)
    }
}
