//! Losses that are sums of softplus.

use super::elementary::softplus;
use super::lanes::{Step, replace_and_sum};
use multiversion::multiversion;

/// See [`bpr`](crate::bpr()).
pub(super) fn bpr(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let loss = softplus_sum(negatives, positive);
    (loss as f32, -sum(negatives) as f32)
}

/// See [`bpr`](crate::bpr()); each negative counts as much as its weight.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn weighted_bpr(positive: f32, negatives: &mut [f32], weights: &[f32]) -> (f32, f32) {
    let (mut loss, mut derivative) = (0.0, 0.0);
    for (score, &weight) in negatives.iter_mut().zip(weights) {
        let (cost, slope) = softplus(*score - positive);
        *score = slope * weight;
        loss += f64::from(cost * weight);
        derivative -= f64::from(*score);
    }
    (loss as f32, derivative as f32)
}

/// The sum of `softplus(s - shift)` over the scores, which become the derivatives.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn softplus_sum(scores: &mut [f32], shift: f32) -> f64 {
    replace_and_sum(scores, &Softplus { shift })
}

struct Softplus {
    shift: f32,
}

impl Step for Softplus {
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        let (loss, derivative) = softplus(score - self.shift);
        (derivative, loss)
    }
}

/// The sum of all entries.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn sum(values: &mut [f32]) -> f64 {
    replace_and_sum(values, &Keep)
}

struct Keep;

impl Step for Keep {
    #[inline(always)]
    fn step(&self, value: f32) -> (f32, f32) {
        (value, value)
    }
}
