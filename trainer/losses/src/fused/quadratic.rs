//! Sums of scores and of their squares over a row.

use super::lanes::{Step, replace_and_sum};
use crate::primitives::MASKED_BELOW;
use multiversion::multiversion;

/// The series of the softmax up to the second order, and its derivative by the positive; `negatives` become the derivatives by them. `centred`
/// has the square of the mean.
pub(super) fn quadratic(centred: bool, positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let count = 1 + negatives.iter().filter(|&&score| !is_masked(score)).count();
    let wide = f64::from(positive);
    let mean = (sums(negatives) + wide) / count as f64;
    let (share, shift) = (1.0 / count as f64, if centred { mean } else { 0.0 });
    let squares = derivatives(negatives, &Derivative { share: share as f32, start: (1.0 - shift) as f32 });
    let square = (squares + wide * wide) * share;
    let loss = (count as f64).ln() - wide + mean + (square - shift * shift) / 2.0;
    (loss as f32, (share * (1.0 - shift + wide) - 1.0) as f32)
}

/// A score that is not a number is not masked.
#[inline(always)]
fn is_masked(score: f32) -> bool {
    score < MASKED_BELOW as f32
}

struct Sum;

impl Step for Sum {
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        (score, if is_masked(score) { 0.0 } else { score })
    }
}

struct Derivative {
    share: f32,
    start: f32,
}

impl Step for Derivative {
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        if is_masked(score) { (0.0, 0.0) } else { (self.share * (self.start + score), score * score) }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn sums(scores: &mut [f32]) -> f64 {
    replace_and_sum(scores, &Sum)
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn derivatives(scores: &mut [f32], derivative: &Derivative) -> f64 {
    replace_and_sum(scores, derivative)
}
