//! Average precision; its users' mean is MAP.
//!
//! ```text
//! AP@K = 1 / min(n, K)  sum over hits k <= K of Precision@k
//! ```
//! `n` is the number of the user's held-out items. Libraries of information retrieval divide by `n` also where `n > K`.
//! Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4.

use super::{Measure, MetricKind};

/// `map` in a sweep file.
pub(super) struct Map;

impl MetricKind for Map {
    fn name(&self) -> &'static str {
        "map"
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, cutoff, _recall| average_precision(ranked.ranks, cutoff))
    }
}

/// From one user's ascending ranks.
fn average_precision(ranks: &[u32], cutoff: u32) -> f64 {
    let hits = ranks.iter().take_while(|&&rank| rank <= cutoff);
    let precisions = (1..).zip(hits).map(|(hit, &rank)| f64::from(hit) / f64::from(rank));
    precisions.fold(0.0, |sum, precision| sum + precision) / ranks.len().min(cutoff as usize) as f64
}
