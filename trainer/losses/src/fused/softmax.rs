//! Softmax over a row.

use super::lanes;
use multiversion::multiversion;
use vectors::elementary::exp_of_negative;

/// The loss, and its derivatives times `weight`: by the positive as the second value, by the negatives in their place.
pub(crate) fn softmax(temperature: f32, include_positive: bool, positive: f32, negatives: &mut [f32], weight: f32) -> (f32, f32) {
    let inverse_temperature = 1.0 / temperature;
    let (max, sum) = exponentials(negatives, inverse_temperature);
    let log_sum = f64::from(max - positive) * f64::from(inverse_temperature) + sum.ln();
    let (loss, share) = if include_positive { softplus(log_sum) } else { (log_sum, 1.0) };
    let pull = share * f64::from(inverse_temperature) * f64::from(weight);
    scale(negatives, (pull / sum) as f32);
    (loss as f32, -pull as f32)
}

/// Replaces scores `s` by `exp((s - max) * inverse_temperature)`; the maximum and the sum.
pub fn exponentials(scores: &mut [f32], inverse_temperature: f32) -> (f32, f64) {
    exponentials_below(f32::NEG_INFINITY, scores, inverse_temperature)
}

/// Replaces scores `s` by `exp((s - max) * inverse_temperature)`; the maximum, of the scores and of one that came before them, and the sum.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn exponentials_below(earlier: f32, scores: &mut [f32], inverse_temperature: f32) -> (f32, f64) {
    let max = lanes::max(scores).max(earlier);
    (max, lanes::replace_and_sum(scores, &Exponential { max, inverse_temperature }))
}

struct Exponential {
    max: f32,
    inverse_temperature: f32,
}

impl lanes::Step for Exponential {
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        let exponential = exp_of_negative((score - self.max) * self.inverse_temperature);
        (exponential, exponential)
    }
}

/// Multiplies all entries by the factor.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn scale(values: &mut [f32], factor: f32) {
    for value in values {
        *value *= factor;
    }
}

/// `log(1 + exp(x))` and its derivative.
pub(crate) fn softplus(x: f64) -> (f64, f64) {
    (x.max(0.0) + (-x.abs()).exp().ln_1p(), 1.0 / (1.0 + (-x).exp()))
}
