//! Sparsemax over a row.

use super::lanes::{self, Step, replace_and_sum};
use multiversion::multiversion;

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(crate) fn sparsemax(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let excess = Excess { threshold: threshold(positive, negatives) };
    let (own, square) = excess.step(positive);
    let squares = f64::from(square) + excesses(negatives, &excess);
    ((0.5 + (excess.threshold - f64::from(positive)) + squares / 2.0) as f32, own - 1.0)
}

/// `h` with `sum max(s - h, 0) = 1` over the row (Michelot, JOTA 1986).
///
/// From all scores that can be above it, which lie less than 1 below the highest: the h that is right if all of these are, then the same
/// for those of them that are above it, until all are. Each h is higher than the one before, and none is higher than the last.
fn threshold(positive: f32, negatives: &[f32]) -> f64 {
    let max = lanes::max(negatives);
    let mut threshold = f64::from(if positive > max { positive } else { max }) - 1.0;
    let mut members = usize::MAX;
    loop {
        let (mut sum, mut count) = (0.0, 0);
        for score in negatives.iter().chain([&positive]).map(|&score| f64::from(score)).filter(|&score| score > threshold) {
            sum += score;
            count += 1;
        }
        if count >= members || count == 0 {
            return threshold;
        }
        (threshold, members) = ((sum - 1.0) / count as f64, count);
    }
}

struct Excess {
    threshold: f64,
}

impl Step for Excess {
    /// In `f64`: where the positive leads, what is left of the gradient is small.
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        let excess = f64::from(score) - self.threshold;
        let excess = if excess < 0.0 { 0.0 } else { excess };
        (excess as f32, (excess * excess) as f32)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn excesses(scores: &mut [f32], excess: &Excess) -> f64 {
    replace_and_sum(scores, excess)
}
