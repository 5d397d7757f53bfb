//! Reciprocal rank of the first held-out item: `RR@K = 1 / rank`, 0 where none is among the first `K`.
//!
//! Paper 001's release takes the mean over all hits instead, which is another number. Voorhees, TREC-8, 1999.

use super::{Measure, MetricKind};

/// `mrr` in a sweep file.
pub(super) struct Mrr;

impl MetricKind for Mrr {
    fn name(&self) -> &'static str {
        "mrr"
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, cutoff, _recall| mrr(ranked.ranks, cutoff))
    }
}

/// From one user's ascending ranks.
fn mrr(ranks: &[u32], cutoff: u32) -> f64 {
    ranks.first().filter(|&&rank| rank <= cutoff).map_or(0.0, |&rank| 1.0 / f64::from(rank))
}
