//! Share of the held-out items that are in the list.
//!
//! ```text
//! standard    Recall@K = hits / n
//! capped      Recall@K = hits / min(n, K)
//! ```
//! `n` is the number of the user's held-out items. The capped form is that of Mult-VAE (Liang et al., WWW 2018,
//! doi:10.1145/3178876.3186150) and of the appendix of paper 002; all other papers use the standard one.

use super::hits;
use crate::settings::Recall;

/// Of one user's ascending ranks.
pub(super) fn recall(ranks: &[u32], cutoff: u32, convention: Recall) -> f64 {
    let reachable = match convention {
        Recall::Standard => ranks.len(),
        Recall::Capped => ranks.len().min(cutoff as usize),
    };
    hits(ranks, cutoff) as f64 / reachable as f64
}
