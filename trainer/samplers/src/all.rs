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

use super::{
    Draws, Error, Exclude, Facts, Pool, Row, SamplerKind, Stream,
    pool::PoolKind,
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use serde::{Deserialize, Serialize};

/// `all` in a sweep file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct All {
    /// What is no negative: the user's train items, or the positives of the row alone.
    #[serde(default, skip_serializing_if = "Exclude::is_train")]
    pub exclude: Exclude,
}

impl SamplerKind for All {
    fn facts(&self) -> Facts {
        Facts { paper: "–", values: "`exclude: row` in the equations of SL@K and RG", state: "none", cost: "n scores" }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::All(self.clone()), count: None }
    }
}

impl PoolKind for All {
    fn takes_every_item(&self) -> Option<Exclude> {
        Some(self.exclude)
    }

    fn lacks_kernel(&self) -> Option<&'static str> {
        Some("takes every item")
    }

    fn prepare(&self, _draws: u32, _train: &Interactions, _items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(EveryItem))
    }
}

/// Draws nothing: every item is taken, with probability 1.
#[derive(Debug)]
struct EveryItem;

impl Proposal for EveryItem {
    fn fill(&self, _of: UserItems<'_>, _row: Row<'_>, _rng: &mut Stream, _ids: &mut [u32]) {}

    fn log_probabilities(&self, _of: UserItems<'_>, _ids: &[u32], out: &mut [f32]) {
        out.fill(0.0);
    }

    fn log_probabilities_of_draws(&self, _of: UserItems<'_>, _rng: &mut Stream, _ids: &[u32], _out: &mut [f32]) {}
}
