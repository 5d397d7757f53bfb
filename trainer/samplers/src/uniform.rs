//! Uniform over the items that are not train positives of the user.
//!
//! ```text
//! q_j = 1 / (n - |P_u|)   for j not in P_u
//! ```
//! Validation and test items may be drawn, as in the papers' releases. Draws are independent (with replacement) unless `replacement` is
//! off; the bounds of "A Theoretical Analysis of Recommendation Loss Functions under Negative Sampling" need them distinct. Some releases
//! take `rand() % n`, which is biased; these draws are exact.

use super::{
    Facts, Pool, SamplerKind, Stream, UniformPool,
    distinct::distinct,
    non_positives::{NonPositives, with_test},
};
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

    fn draws(&self) -> (Pool, Option<u32>) {
        (Pool::Uniform(UniformPool { replacement: self.replacement }), Some(self.negatives))
    }
}

pub(super) fn with_replacement() -> bool {
    true
}

/// Draws `ids [N]` and the log-probability of each.
pub(super) fn draw(
    non_positives: NonPositives,
    replacement: bool,
    rng: &mut Stream,
    ids: &mut [u32],
    log_probabilities: Option<&mut [f32]>,
) {
    if !replacement {
        distinct(rng, ids.len(), non_positives.len(), |at, rank| ids[at] = non_positives.nth(rank));
    } else {
        fill(non_positives, rng, ids.len(), ids.iter_mut());
    }
    if let Some(log_probabilities) = log_probabilities {
        log_probabilities.fill(log_probability(non_positives));
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

/// The log-probability of each item.
pub(super) fn log_probability(non_positives: NonPositives) -> f32 {
    -(f64::from(non_positives.len()).ln() as f32)
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
