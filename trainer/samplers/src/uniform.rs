//! Uniform over the items that are not train positives of the user.
//!
//! ```text
//! q_j = 1 / (n - |P_u|)   for j not in P_u
//! ```
//! Validation and test items may be drawn, as in the papers' releases. Draws are independent (with replacement) unless `replacement` is
//! off; the bounds of "A Theoretical Analysis of Recommendation Loss Functions under Negative Sampling" need them distinct. Some releases
//! take `rand() % n`, which is biased; these draws are exact.

use super::{
    Draws, Error, Facts, Pool, Row, SamplerKind, Stream,
    distinct::distinct,
    non_positives::{NonPositives, with_test},
    pool::PoolKind,
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use serde::{Deserialize, Serialize};

/// `uniform` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Negatives for each positive.
    pub negatives: u32,
    /// Whether one positive may get the same negative twice.
    #[serde(default = "with_replacement")]
    pub replacement: bool,
}

impl SamplerKind for Uniform {
    fn facts(&self) -> Facts {
        Facts {
            paper: "–",
            values: "SL@K: 1,000 negatives, 200 on Movielens; BPR and the lambda losses 1",
            state: "none",
            cost: "O(log P_u) a draw",
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::Uniform(UniformPool { replacement: self.replacement }), count: Some(self.negatives) }
    }
}

pub(super) fn with_replacement() -> bool {
    true
}

/// `uniform` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformPool {
    /// Whether the same item may be a candidate twice.
    #[serde(default = "with_replacement")]
    pub replacement: bool,
}

impl PoolKind for UniformPool {
    fn is_distinct(&self) -> bool {
        !self.replacement
    }

    fn lacks_kernel(&self) -> Option<&'static str> {
        (!self.replacement).then_some("draws without replacement")
    }

    fn prepare(&self, _draws: u32, _train: &Interactions, _items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(UniformProposal { replacement: self.replacement }))
    }
}

#[derive(Debug)]
struct UniformProposal {
    replacement: bool,
}

impl Proposal for UniformProposal {
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        let non_positives = of.non_positives();
        if self.replacement {
            fill(non_positives, rng, ids.len(), ids.iter_mut());
        } else {
            distinct(rng, ids.len(), non_positives.len(), |at, rank| ids[at] = non_positives.nth(rank));
        }
    }

    fn log_probabilities(&self, of: UserItems<'_>, _ids: &[u32], out: &mut [f32]) {
        out.fill(-(f64::from(of.non_positives().len()).ln() as f32));
    }
}

/// Draws some ids, about as many as `draws`, with replacement.
pub(super) fn fill<'i>(non_positives: NonPositives, rng: &mut Stream, draws: usize, ids: impl Iterator<Item = &'i mut u32>) {
    if non_positives.len() < non_positives.items() / 2 {
        ids.for_each(|id| *id = non_positives.nth(rng.below(non_positives.len())));
    } else {
        let items = non_positives.items();
        with_test!(non_positives.test(draws), test => ids.for_each(|id| *id = draw_until(rng, items, |item| test.contains(item))));
    }
}

#[inline]
fn draw_until(rng: &mut Stream, items: u32, accept: impl Fn(u32) -> bool) -> u32 {
    loop {
        let item = rng.below(items);
        if accept(item) {
            return item;
        }
    }
}
