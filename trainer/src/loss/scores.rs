//! What the training loop hands to a loss.

use candle_core::Tensor;

/// What a loss sees of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// `[B]`
    pub positives: &'a Tensor,
    /// `[B, N]`
    pub negatives: &'a Tensor,
    /// `[B]`, the quantile of each row's user, for losses with a [`QuantileSchedule`](super::QuantileSchedule).
    pub quantiles: Option<&'a Tensor>,
    /// Those of the draws, for losses that [need them](super::Loss::needs_log_probabilities).
    pub log_probabilities: Option<LogProbabilities<'a>>,
    /// Items of the catalogue.
    pub items: usize,
}

/// The logarithm of how probable each item of a row is at each draw.
#[derive(Clone, Copy, Debug)]
pub struct LogProbabilities<'a> {
    /// `[B]`: that of the positive, were it no positive.
    pub positives: &'a Tensor,
    /// `[B, N]`
    pub negatives: &'a Tensor,
}
