//! Reciprocal rank of the first held-out item: `RR@K = 1 / rank`, 0 where none is among the first `K`.
//!
//! Paper 001's release takes the mean over all hits instead, which is another number. Voorhees, TREC-8, 1999.

/// Of one user's ascending ranks.
pub(super) fn mrr(ranks: &[u32], cutoff: u32) -> f64 {
    ranks.first().filter(|&&rank| rank <= cutoff).map_or(0.0, |&rank| 1.0 / f64::from(rank))
}
