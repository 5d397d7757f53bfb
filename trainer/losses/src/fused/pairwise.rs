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
