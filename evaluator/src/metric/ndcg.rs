//! Normalised discounted cumulative gain.
//!
//! ```text
//! NDCG@K = DCG@K / IDCG@K    DCG@K = sum over hits k <= K of 1 / log2(k + 1)    IDCG@K = sum over k <= min(n, K) of the same
//! ```
//! `n` is the number of the user's held-out items, so that a list can reach 1 when `n > K`. Gains are binary.
//! Järvelin and Kekäläinen, TOIS 2002, doi:10.1145/582415.582418.

use super::{Measure, MetricKind};

/// `ndcg` in a sweep file.
pub(super) struct Ndcg;

impl MetricKind for Ndcg {
    fn name(&self) -> &'static str {
        "ndcg"
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, cutoff, _recall| ndcg(ranked.ranks, cutoff))
    }
}

/// From one user's ascending ranks.
fn ndcg(ranks: &[u32], cutoff: u32) -> f64 {
    let ideal = 1..=cutoff.min(ranks.len() as u32);
    dcg(ranks.iter().copied().take_while(|&rank| rank <= cutoff)) / dcg(ideal)
}

fn dcg(ranks: impl Iterator<Item = u32>) -> f64 {
    ranks.map(|rank| 1.0 / (f64::from(rank) + 1.0).log2()).fold(0.0, |sum, gain| sum + gain)
}
