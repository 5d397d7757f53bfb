//! Softmax weights of a row, without a temperature that could overflow.

use super::is_item;
use losses::fused::lanes;
use multiversion::multiversion;
use vectors::elementary::exp_of_negative;

/// `1 / temperature`, as large as can be calculated with.
pub(super) fn inverse_temperature(temperature: f64) -> f32 {
    (1.0 / temperature).min(f64::from(f32::MAX)) as f32
}

/// `weights = softmax(s * inverse_temperature - log q)`; masked scores weigh 0.
pub(super) fn weigh(scores: &[f32], inverse_temperature: f32, log_probabilities: Option<&[f32]>, weights: &mut [f32]) {
    exponents(scores, inverse_temperature, log_probabilities, weights);
    softmax(weights);
}

/// `(s - max s) * inverse_temperature - log q`; minus infinity for masked scores.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn exponents(scores: &[f32], inverse_temperature: f32, log_probabilities: Option<&[f32]>, exponents: &mut [f32]) {
    let max = lanes::max(scores);
    for (exponent, &score) in exponents.iter_mut().zip(scores) {
        *exponent = if is_item(score) { (score - max) * inverse_temperature } else { f32::NEG_INFINITY };
    }
    if let Some(log_probabilities) = log_probabilities {
        correct(exponents, log_probabilities);
    }
}

/// Takes the log-probabilities of the draws from the exponents.
#[inline(always)]
pub(super) fn correct(exponents: &mut [f32], log_probabilities: &[f32]) {
    for (exponent, log_probability) in exponents.iter_mut().zip(log_probabilities) {
        *exponent -= log_probability;
    }
}

/// Turns exponents into their softmax; those of minus infinity weigh 0, also where there are no others.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn softmax(exponents: &mut [f32]) {
    let max = lanes::max(exponents);
    if max == f32::NEG_INFINITY {
        return exponents.fill(0.0);
    }
    let factor = (1.0 / lanes::replace_and_sum(exponents, &Exponential { max })) as f32;
    for weight in exponents {
        *weight *= factor;
    }
}

struct Exponential {
    max: f32,
}

impl lanes::Step for Exponential {
    #[inline(always)]
    fn step(&self, exponent: f32) -> (f32, f32) {
        let exponential = exp_of_negative(exponent - self.max);
        (exponential, exponential)
    }
}
