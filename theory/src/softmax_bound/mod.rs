//! The bound that softmax-at-k puts on DCG.
//!
//! ```text
//! SL@K = sum_{i in P} sigmoid((s_i - b) / t_w) log sum_j exp((s_j - s_i) / t_d)      b = the K-th largest score
//! H = positives with s_i >= b:     H >= 2: -log DCG@K <= SL@K     H = 1: -1/2 log DCG@K <= SL@K
//! ```
//! for any temperatures, when the inner sum is over all items and b is exact. The release sums over negatives only, so that its
//! logarithm can be below 0, and estimates b: then the bound can fail. DCG and not NDCG is bounded; its negative logarithm may be negative.
//! Yang et al., "Breaking the Top-K Barrier", KDD 2025, arXiv:2508.05673, Theorem 3.1.

mod cases;
mod loss;

pub use cases::statements;
pub use loss::{Denominator, List};
