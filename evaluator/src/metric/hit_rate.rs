//! Whether the list has a held-out item: `HitRate@K = 1[hits > 0]`.
//!
//! The users' mean is the share of users with a hit. The micro average of paper 001's release (all hits over all held-out items) is
//! another number.

use super::hits;

/// Of one user's ascending ranks.
pub(super) fn hit_rate(ranks: &[u32], cutoff: u32) -> f64 {
    f64::from(u8::from(hits(ranks, cutoff) > 0))
}
