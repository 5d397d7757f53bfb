//! Sums over a row.

use super::lanes::{Step, replace_and_sum};
use multiversion::multiversion;
use vectors::elementary::softplus;

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

/// Scores whose costs are known before they are added up: the sums are made one after the other, which would keep the rest from vector code.
const BLOCK: usize = 64;

/// The sums of `weight * softplus(s - shift)` over the scores, and of its derivatives, which the scores become.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn weighted_softplus_sums(scores: &mut [f32], weights: &[f32], shift: f32) -> [f64; 2] {
    let (mut loss, mut derivative) = (0.0, 0.0);
    let mut costs = [0.0; BLOCK];
    for (scores, weights) in scores.chunks_mut(BLOCK).zip(weights.chunks(BLOCK)) {
        for ((score, cost), &weight) in scores.iter_mut().zip(&mut costs).zip(weights) {
            let (value, slope) = softplus(*score - shift);
            (*score, *cost) = (slope * weight, value * weight);
        }
        for (&score, &cost) in scores.iter().zip(&costs) {
            loss += f64::from(cost);
            derivative += f64::from(score);
        }
    }
    [loss, derivative]
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
