//! Sums of scores, and of their squares about a point, over a row.
//!
//! Sums are of `f64`: the parts of the loss can be large where the loss is small.

use crate::primitives::MASKED_BELOW;
use multiversion::multiversion;

/// Sums that run beside each other, in a fixed order.
const LANES: usize = 16;

/// The series of the softmax up to the second order, and its derivative by the positive; `negatives` become the derivatives by them. `centred`
/// has the square of the mean.
pub(crate) fn quadratic(centred: bool, positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let count = 1.0 + negatives.iter().filter(|&&score| !is_masked(score)).count() as f64;
    let positive = f64::from(positive);
    let mean = (sum(negatives) + positive) / count;
    let about = if centred { mean } else { 0.0 };
    let squares = squares(negatives, about, 1.0 / count) + (positive - about) * (positive - about);
    let loss = count.ln() - positive + mean + squares / count / 2.0;
    (loss as f32, ((1.0 + positive - about) / count - 1.0) as f32)
}

/// A score that is not a number is not masked.
#[inline(always)]
fn is_masked(score: f32) -> bool {
    score < MASKED_BELOW as f32
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn sum(scores: &[f32]) -> f64 {
    let mut sums = [0.0; LANES];
    for chunk in scores.chunks(LANES) {
        for (sum, &score) in sums.iter_mut().zip(chunk) {
            *sum += if is_masked(score) { 0.0 } else { f64::from(score) };
        }
    }
    sums.iter().sum()
}

/// The sum of squared distances from `about`; the scores become derivatives, `share` times one more than the distance.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn squares(scores: &mut [f32], about: f64, share: f64) -> f64 {
    let mut sums = [0.0; LANES];
    for chunk in scores.chunks_mut(LANES) {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            let distance = f64::from(*score) - about;
            let (derivative, square) = if is_masked(*score) { (0.0, 0.0) } else { (share * (1.0 + distance), distance * distance) };
            *score = derivative as f32;
            *sum += square;
        }
    }
    sums.iter().sum()
}
