//! How surely a loss of sampled negatives bounds a metric.
//!
//! ```text
//! -log NDCG(r) = ln log2(1 + r)     BPR >= G ln 2      G  sampled negatives that score at least as high as the positive
//! -log RR(r)   = ln r               BCE >= G0 ln 2     G0 sampled negatives that score at least 0
//!                                   CCE >= ln G, and tight: CCE >= ln(1 + G)
//! ```
//! So the loss bounds the metric where G is at least a threshold, of which the probability is known: of `K` negatives drawn from a
//! population without replacement, G is hypergeometric; with replacement, binomial.
//!
//! Di Teodoro et al., "A Theoretical Analysis of Recommendation Loss Functions under Negative Sampling": Lemmas 1 and 2, Theorems 2 to 10, Figure 6.

mod full_losses;
mod grid;
mod statements;
mod tail;
mod threshold;

pub use full_losses::full_losses;
pub use grid::{Bound, Grid};
pub use statements::statements;
pub use tail::Sampling;
pub use threshold::{Form, Loss, Metric};
