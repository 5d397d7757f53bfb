//! Hinges over a row.

use super::lanes::{Step, replace_and_sum};
use crate::primitives::MASKED_BELOW;
use multiversion::multiversion;

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(crate) fn ccl(margin: f32, negative_weight: f32, positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let count = negatives.iter().filter(|&&score| score >= MASKED_BELOW as f32).count();
    let weight = f64::from(negative_weight) / count as f64;
    let sum = hinges(negatives, &Hinge { margin, weight: weight as f32 });
    ((1.0 - f64::from(positive) + weight * sum) as f32, -1.0)
}

struct Hinge {
    margin: f32,
    weight: f32,
}

impl Step for Hinge {
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        let excess = score - self.margin;
        if excess < 0.0 { (0.0, 0.0) } else { (self.weight, excess) }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn hinges(scores: &mut [f32], hinge: &Hinge) -> f64 {
    replace_and_sum(scores, hinge)
}
