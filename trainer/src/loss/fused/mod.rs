//! The losses on plain slices, one row at a time: value and gradient together, without a graph.
//!
//! These are the twins of the candle formulas for the hot path of a CPU, tested against them in `f64`. The loops are written so that LLVM
//! makes vector code of them, compiled for several instruction sets and chosen at run time. Sums run over fixed lanes in a fixed order and
//! no multiplication is fused with an addition, so the loops give the same bits with any instruction set and any length of register.

mod bsl;
mod ccl;
pub(crate) mod elementary;
pub(crate) mod lanes;
mod mse;
mod pairwise;
mod psl;
mod softmax;
mod softmax_at_k;
mod sparsemax;
#[cfg(test)]
mod tests;

pub use bsl::Bsl;
pub use ccl::Ccl;
pub use mse::Mse;
pub use psl::Psl;
pub use softmax::Softmax;
pub use softmax_at_k::SoftmaxAtK;

/// A loss with its values, ready to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fused {
    /// `bpr`
    Bpr,
    /// `softmax`, and `cce` as the one of temperature 1 with the positive.
    Softmax(Softmax),
    /// `softmax-at-k`
    SoftmaxAtK(SoftmaxAtK),
    /// `bsl`
    Bsl(Bsl),
    /// `psl` with the surrogate tanh.
    Psl(Psl),
    /// `ccl`
    Ccl(Ccl),
    /// `sparsemax`
    Sparsemax,
    /// `mse`
    Mse(Mse),
}

impl Fused {
    /// The loss of one positive and its derivative by the positive's score.
    ///
    /// `negatives` hold scores when called, at least one of them finite, and derivatives of the loss by them afterwards. `quantile` is that
    /// of the row's user; losses without a [`QuantileSchedule`](super::QuantileSchedule) do not look at it.
    pub fn row(&self, positive: f32, negatives: &mut [f32], quantile: f32) -> (f32, f32) {
        match self {
            Fused::Bpr => pairwise::bpr(positive, negatives),
            Fused::Softmax(settings) => softmax::softmax(settings, positive, negatives, 1.0),
            Fused::SoftmaxAtK(settings) => softmax_at_k::softmax_at_k(settings, positive, negatives, quantile),
            Fused::Bsl(settings) => bsl::bsl(settings, positive, negatives),
            Fused::Psl(settings) => psl::psl(settings, positive, negatives),
            Fused::Ccl(settings) => ccl::ccl(settings, positive, negatives),
            Fused::Sparsemax => sparsemax::sparsemax(positive, negatives),
            Fused::Mse(settings) => mse::mse(settings, positive, negatives),
        }
    }
}
