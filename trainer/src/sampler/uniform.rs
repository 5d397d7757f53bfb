//! Uniform over the items that are not train positives of the user.
//!
//! ```text
//! q_j = 1 / (n - |P_u|)   for j not in P_u
//! ```
//! Validation and test items may be drawn, as in the papers' releases. Draws are independent (with replacement) unless `replacement` is
//! off; the bounds of "A Theoretical Analysis of Recommendation Loss Functions under Negative Sampling" need them distinct. Some releases
//! take `rand() % n`, which is biased; these draws are exact.

use super::{Stream, complement::Complement, distinct::distinct};
use serde::{Deserialize, Serialize};

/// `uniform` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Negatives for each positive.
    pub negatives: u32,
    /// Whether one positive may get the same negative twice.
    #[serde(default = "with_replacement")]
    pub replacement: bool,
}

pub(super) fn with_replacement() -> bool {
    true
}

/// Draws from this many on are worth a [`Filter`](super::complement::Filter).
const FILTERED: usize = 64;

/// Draws `ids [N]` and the log-probability of each.
pub(super) fn draw(complement: Complement, replacement: bool, rng: &mut Stream, ids: &mut [u32], log_probabilities: Option<&mut [f32]>) {
    if !replacement {
        distinct(rng, ids.len(), complement.len(), |at, rank| ids[at] = complement.nth(rank));
    } else if complement.len() < complement.items() / 2 {
        ids.fill_with(|| complement.nth(rng.below(complement.len())));
    } else if ids.len() < FILTERED {
        ids.fill_with(|| draw_until(rng, complement.items(), |item| complement.contains(item)));
    } else {
        let filter = complement.filter();
        ids.fill_with(|| draw_until(rng, complement.items(), |item| filter.contains(item)));
    }
    if let Some(log_probabilities) = log_probabilities {
        log_probabilities.fill(log_probability(complement));
    }
}

/// Draws one item, where there are too few to draw for a filter.
pub(super) fn one(complement: Complement, rng: &mut Stream) -> u32 {
    if complement.len() < complement.items() / 2 {
        complement.nth(rng.below(complement.len()))
    } else {
        draw_until(rng, complement.items(), |item| complement.contains(item))
    }
}

/// The log-probability of each item.
pub(super) fn log_probability(complement: Complement) -> f32 {
    -(f64::from(complement.len()).ln() as f32)
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
