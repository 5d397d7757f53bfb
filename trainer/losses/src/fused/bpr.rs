//! Sums of softplus of a row's margins.

use super::pairwise::{softplus_sum, sum};
use multiversion::multiversion;
use vectors::elementary::softplus;

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(crate) fn bpr(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let loss = softplus_sum(negatives, positive);
    (loss as f32, -sum(negatives) as f32)
}

/// The loss as by [`bpr`], of negatives that count as much as their weights.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn weighted_bpr(positive: f32, negatives: &mut [f32], weights: &[f32]) -> (f32, f32) {
    let (mut loss, mut derivative) = (0.0, 0.0);
    for (score, &weight) in negatives.iter_mut().zip(weights) {
        let (cost, slope) = softplus(*score - positive);
        *score = slope * weight;
        loss += f64::from(cost * weight);
        derivative -= f64::from(*score);
    }
    (loss as f32, derivative as f32)
}
