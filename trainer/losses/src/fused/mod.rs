//! The losses on plain slices, one row at a time: value and gradient together, without a graph.
//!
//! These are the equals of the candle formulas for the hot path of a CPU, tested against them in `f64`. The loops are written so that LLVM
//! makes vector code of them, compiled for several instruction sets and chosen at run time. Sums run over fixed lanes in a fixed order and
//! no multiplication is fused with an addition, so the loops give the same bits with any instruction set and any length of register.

mod adv_info_nce;
mod bsl;
mod ccl;
pub mod elementary;
mod guided_rec;
mod items;
pub mod lanes;
#[cfg(test)]
mod list_tests;
mod llpauc;
mod matrix;
mod mse;
mod neural_ndcg;
mod own;
#[cfg(test)]
mod own_tests;
mod pairwise;
mod psl;
mod quadratic;
mod sinkhorn;
mod smooth_gain;
mod smooth_metrics;
mod smooth_rank;
mod softmax;
mod softmax_at_k;
mod sparsemax;
#[cfg(test)]
mod tests;
mod uniformity;

pub use adv_info_nce::AdvInfoNce;
pub use bsl::{Bsl, BslOfLists};
pub use ccl::Ccl;
pub use llpauc::Llpauc;
pub use mse::Mse;
pub use neural_ndcg::NeuralNdcg;
pub use own::{FusedWithState, StateRows};
pub use pairwise::softplus_sum;
pub use psl::Psl;
pub use smooth_metrics::{SmoothNdcg, SmoothRecall};
pub use smooth_rank::SmoothRank;
pub use softmax::Softmax;
pub use softmax::{exponentials, scale};
pub use softmax_at_k::SoftmaxAtK;
pub use uniformity::Uniformity;

/// A loss with its values, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub enum Fused {
    /// `bpr`
    Bpr,
    /// `softmax`, and `cce` as the one of temperature 1 with the positive.
    Softmax(Softmax),
    /// `softmax-at-k`
    SoftmaxAtK(SoftmaxAtK),
    /// `bsl` of pairs.
    Bsl(Bsl),
    /// `bsl` of lists.
    BslOfLists(BslOfLists),
    /// `psl` with the surrogate tanh.
    Psl(Psl),
    /// `ccl`
    Ccl(Ccl),
    /// `sparsemax`
    Sparsemax,
    /// `mse`
    Mse(Mse),
    /// `rg2`
    Rg2,
    /// `rgx`
    Rgx,
    /// `smooth-ndcg` of ranks, and `approx-ndcg`.
    SmoothNdcg(SmoothNdcg),
    /// `smooth-ndcg` of gains, with its temperature.
    SmoothGains(f64),
    /// `smooth-ap`
    SmoothAp(SmoothRank),
    /// `smooth-recall`
    SmoothRecall(SmoothRecall),
    /// `neural-ndcg`
    NeuralNdcg(NeuralNdcg),
}

impl Fused {
    /// Whether the loss can weigh its negatives.
    pub fn takes_weights(&self) -> bool {
        matches!(self, Fused::Bpr)
    }

    /// The loss of a row as by [`row`](Self::row), of one positive whose negatives count as much as their weights.
    ///
    /// # Panics
    /// For losses that do not [take weights](Self::takes_weights).
    pub fn weighted_row(&self, positives: &mut [f32], negatives: &mut [f32], weights: &[f32]) -> f32 {
        let (loss, derivative) = match self {
            Fused::Bpr => pairwise::weighted_bpr(positives[0], negatives, weights),
            _ => unreachable!("only losses that take weights are given some"),
        };
        positives[0] = derivative;
        loss
    }

    /// The loss of a row: of one positive, or of the positives of a list.
    ///
    /// `positives` and `negatives` hold scores when called, at least one of them of an item, and derivatives of the loss by them afterwards.
    /// `quantile` is that of the row's user; losses without a [`QuantileSchedule`](super::QuantileSchedule) do not look at it.
    ///
    /// # Panics
    /// When there is no positive.
    pub fn row(&self, positives: &mut [f32], negatives: &mut [f32], quantile: f32) -> f32 {
        let positive = positives[0];
        let (loss, derivative) = match self {
            Fused::Bpr => pairwise::bpr(positive, negatives),
            Fused::Softmax(settings) => softmax::softmax(settings, positive, negatives, 1.0),
            Fused::SoftmaxAtK(settings) => softmax_at_k::softmax_at_k(settings, positive, negatives, quantile),
            Fused::Bsl(settings) => bsl::bsl(settings, positive, negatives),
            Fused::Psl(settings) => psl::psl(settings, positive, negatives),
            Fused::Ccl(settings) => ccl::ccl(settings, positive, negatives),
            Fused::Sparsemax => sparsemax::sparsemax(positive, negatives),
            Fused::Rg2 => quadratic::quadratic(false, positive, negatives),
            Fused::Rgx => quadratic::quadratic(true, positive, negatives),
            Fused::Mse(settings) => mse::mse(settings, positive, negatives),
            Fused::BslOfLists(settings) => return bsl::bsl_of_lists(*settings, positives, negatives),
            Fused::SmoothNdcg(settings) => return smooth_metrics::smooth_ndcg(settings, positives, negatives),
            Fused::SmoothGains(temperature) => return smooth_gain::smooth_ndcg(*temperature, positives, negatives),
            Fused::SmoothAp(ranks) => return smooth_metrics::smooth_ap(*ranks, positives, negatives),
            Fused::SmoothRecall(settings) => return smooth_metrics::smooth_recall(settings, positives, negatives),
            Fused::NeuralNdcg(settings) => return neural_ndcg::neural_ndcg(settings, positives, negatives),
        };
        positives[0] = derivative;
        loss
    }
}
