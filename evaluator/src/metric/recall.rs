//! Share of the held-out items that are in the list.
//!
//! ```text
//! standard    Recall@K = hits / n
//! capped      Recall@K = hits / min(n, K)
//! ```
//! `n` is the number of the user's held-out items. The capped form is that of Mult-VAE (Liang et al., WWW 2018,
//! doi:10.1145/3178876.3186150) and of the appendix of paper 002; all other papers use the standard one.

use super::{Measure, MetricKind, denominator::RecallDenominator, hits};

/// `recall` in a sweep file.
pub(super) struct Recall;

impl MetricKind for Recall {
    fn name(&self) -> &'static str {
        "recall"
    }

    fn is_share_found(&self) -> bool {
        true
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, cutoff, convention| recall(ranked.ranks, cutoff, convention))
    }
}

/// From one user's ascending ranks.
fn recall(ranks: &[u32], cutoff: u32, convention: RecallDenominator) -> f64 {
    let reachable = match convention {
        RecallDenominator::Standard => ranks.len(),
        RecallDenominator::Capped => ranks.len().min(cutoff as usize),
    };
    hits(ranks, cutoff) as f64 / reachable as f64
}
