//! Whether the list has a held-out item: `HitRate@K = 1[hits > 0]`.
//!
//! The users' mean is the share of users with a hit. The micro average of paper 001's release (all hits over all held-out items) is
//! another number.

use super::{Measure, MetricKind, hits};

/// `hit-rate` in a sweep file.
pub(super) struct HitRate;

impl MetricKind for HitRate {
    fn name(&self) -> &'static str {
        "hit-rate"
    }

    fn also_called(&self) -> &'static [&'static str] {
        &["hit", "hits", "hit-ratio", "hr"]
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, cutoff, _recall| hit_rate(ranked.ranks, cutoff))
    }
}

/// From one user's ascending ranks.
fn hit_rate(ranks: &[u32], cutoff: u32) -> f64 {
    f64::from(u8::from(hits(ranks, cutoff) > 0))
}
