//! Share of the list that is held out: `Precision@K = hits / K`, also where fewer than `K` items are left to rank.

use super::hits;

/// Of one user's ascending ranks.
pub(super) fn precision(ranks: &[u32], cutoff: u32) -> f64 {
    hits(ranks, cutoff) as f64 / f64::from(cutoff)
}
