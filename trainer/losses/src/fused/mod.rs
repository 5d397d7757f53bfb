//! The losses on plain slices, one row at a time: value and gradient together, without a graph.
//!
//! These are the equals of the candle formulas for the hot path of a CPU, tested against them in `f64`. The loops are written so that LLVM
//! makes vector code of them, compiled for several instruction sets and chosen at run time. Sums run over fixed lanes in a fixed order and
//! no multiplication is fused with an addition, so the loops give the same bits with any instruction set and any length of register.

pub(crate) mod bce;
pub(crate) mod bpr;
pub(crate) mod bsl;
pub(crate) mod ccl;
pub(crate) mod items;
pub mod lanes;
#[cfg(test)]
mod list_tests;
pub(crate) mod mse;
mod pairwise;
pub(crate) mod psl;
pub(crate) mod quadratic;
pub(crate) mod smooth_gain;
pub(crate) mod smooth_metrics;
mod smooth_rank;
pub(crate) mod softmax;
pub(crate) mod sparsemax;
#[cfg(test)]
mod tests;
mod uniformity;
#[cfg(test)]
mod with_state_tests;

pub use pairwise::softplus_sum;
pub(crate) use smooth_rank::SmoothRank;
pub use softmax::{exponentials, exponentials_below, scale};
pub use uniformity::Uniformity;

/// A loss whose rows are made on plain slices, values and derivatives in one pass.
pub trait FusedLoss: Sync {
    /// The loss of a row: of one positive, or of the positives of a list.
    ///
    /// `positives` and `negatives` hold scores when called, at least one of them of an item, and derivatives of the loss by them afterwards.
    /// `quantile` is that of the row's user; losses without a [`QuantileSchedule`](super::QuantileSchedule) do not look at it.
    ///
    /// # Panics
    /// When there is no positive.
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], quantile: f32) -> f32;

    /// Whether the loss can weigh its negatives.
    fn takes_weights(&self) -> bool {
        false
    }

    /// The loss of a row as by [`row`](Self::row), of one positive whose negatives count as much as their weights.
    ///
    /// # Panics
    /// For losses that do not [take weights](Self::takes_weights).
    fn weighted_row(&self, _positives: &mut [f32], _negatives: &mut [f32], _weights: &[f32]) -> f32 {
        unreachable!("only losses that take weights are given some")
    }
}

/// A loss of pairs whose rows are made on plain slices from scores and from how likely their draws were.
pub trait FusedLossOfDraws: Sync {
    /// The loss of a row of one positive.
    ///
    /// `positive` and `negatives [N]` hold scores when called, of which masked negatives stand for no item, and derivatives of the loss by them
    /// afterwards. `own` is the log-probability of the positive, were it a negative, and `drawn [N]` are those of the draws.
    fn row(&self, positive: &mut f32, negatives: &mut [f32], own: f32, drawn: &[f32]) -> f32;
}

/// A loss of pairs that has more to move than a model: numbers of its own, or an adversary.
pub trait FusedLossWithState: Sync {
    /// The losses of rows: scores of `positives [rows]` and `negatives [rows, N]`, of which masked ones stand for no item, become derivatives.
    ///
    /// # Panics
    /// When the loss has another number of numbers, or the adversary other scores.
    fn rows(&self, losses: &mut [f32], positives: &mut [f32], negatives: &mut [f32], own: StateRows);
}

/// What rows have beside their scores.
#[derive(Debug, Default)]
pub struct StateRows<'a> {
    /// The phase of the step, from 0.
    pub phase: usize,
    /// The loss's own numbers, one column after the other.
    pub numbers: &'a [f32],
    /// What the derivatives of the loss by them are added to.
    pub by_numbers: &'a mut [f64],
    /// The adversary's scores of the negatives, `[rows, N]`, which become the derivatives by them; empty without an adversary.
    pub adversary: &'a mut [f32],
}

/// The loss of a row of one positive, whose score becomes the derivative: `loss` gives both.
pub(crate) fn with_derivative(positives: &mut [f32], loss: impl FnOnce(f32) -> (f32, f32)) -> f32 {
    let (loss, derivative) = loss(positives[0]);
    positives[0] = derivative;
    loss
}
