//! Squares over a row.

use super::lanes::{Step, replace_and_sum};
use crate::primitives::MASKED_BELOW;
use multiversion::multiversion;

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(crate) fn mse(positive_weight: f32, positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let error = positive - 1.0;
    let squares = squares(negatives);
    ((f64::from(positive_weight) * f64::from(error).powi(2) + squares) as f32, 2.0 * positive_weight * error)
}

struct Square;

impl Step for Square {
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        let score = if score < MASKED_BELOW as f32 { 0.0 } else { score };
        (2.0 * score, score * score)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn squares(scores: &mut [f32]) -> f64 {
    replace_and_sum(scores, &Square)
}
