//! Share of the list that is held out: `Precision@K = hits / K`, also where fewer than `K` items are left to rank.

use super::{Measure, MetricKind, hits};

/// `precision` in a sweep file.
pub(super) struct Precision;

impl MetricKind for Precision {
    fn name(&self) -> &'static str {
        "precision"
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, cutoff, _recall| precision(ranked.ranks, cutoff))
    }
}

/// From one user's ascending ranks.
fn precision(ranks: &[u32], cutoff: u32) -> f64 {
    hits(ranks, cutoff) as f64 / f64::from(cutoff)
}
