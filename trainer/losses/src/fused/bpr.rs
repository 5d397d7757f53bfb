//! Sums of softplus of a row's margins.

use super::pairwise::{softplus_sum, sum, weighted_softplus_sums};

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(crate) fn bpr(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let loss = softplus_sum(negatives, positive);
    (loss as f32, -sum(negatives) as f32)
}

/// The loss as by [`bpr`], of negatives that count as much as their weights.
pub(crate) fn weighted_bpr(positive: f32, negatives: &mut [f32], weights: &[f32]) -> (f32, f32) {
    let [loss, derivative] = weighted_softplus_sums(negatives, weights, positive);
    (loss as f32, -derivative as f32)
}
