//! Sums of softplus of a row's margins.

use super::pairwise::{softplus_sum, sum};
use multiversion::multiversion;
use vectors::elementary::softplus;

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(crate) fn bpr(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let loss = softplus_sum(negatives, positive);
    (loss as f32, -sum(negatives) as f32)
}

/// Negatives whose costs are known before they are added up: the sums are made one after the other, which would keep the rest from vector code.
const BLOCK: usize = 64;

/// The loss as by [`bpr`], of negatives that count as much as their weights.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn weighted_bpr(positive: f32, negatives: &mut [f32], weights: &[f32]) -> (f32, f32) {
    let (mut loss, mut derivative) = (0.0, 0.0);
    let mut costs = [0.0; BLOCK];
    for (scores, weights) in negatives.chunks_mut(BLOCK).zip(weights.chunks(BLOCK)) {
        for ((score, cost), &weight) in scores.iter_mut().zip(&mut costs).zip(weights) {
            let (value, slope) = softplus(*score - positive);
            (*score, *cost) = (slope * weight, value * weight);
        }
        for (&score, &cost) in scores.iter().zip(&costs) {
            loss += f64::from(cost);
            derivative -= f64::from(score);
        }
    }
    (loss as f32, derivative as f32)
}
