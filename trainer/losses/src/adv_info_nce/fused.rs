//! Softmax over a row whose negatives an adversary weighs, with the gradient of the adversary's scores.

use super::AdvInfoNce;
use crate::{
    fused::{
        lanes,
        softmax::{exponentials, softplus},
    },
    primitives::MASKED_BELOW,
};
use multiversion::multiversion;

/// What stands for no item among the adversary's scores.
const MASKED: f32 = -1e30;

/// The loss of a row, and its derivative by the positive; `negatives` and the adversary's `hardness` become the derivatives by them.
pub(super) fn adv_info_nce(settings: &AdvInfoNce, positive: f32, negatives: &mut [f32], hardness: &mut [f32]) -> (f32, f32) {
    let inverse_temperature = 1.0 / settings.temperature as f32;
    let largest = lanes::max(negatives);
    let count = negatives.iter().filter(|&&score| !is_masked(score)).count();
    if count == 0 {
        negatives.fill(0.0);
        hardness.fill(0.0);
        return (0.0, 0.0);
    }
    exponents(negatives, hardness, largest, inverse_temperature);
    let ((max, sum), (hardest, whole)) = (exponentials(negatives, 1.0), exponentials(hardness, 1.0));
    let log_weight = (f64::from(settings.negative_weight as f32) * count as f64).ln();
    let log_mean = f64::from(max) + sum.ln() - f64::from(hardest) - whole.ln();
    let (loss, share) = softplus(log_weight + log_mean + f64::from(largest - positive) * f64::from(inverse_temperature));
    shares(negatives, hardness, [share / sum, share / whole].map(|factor| factor as f32), inverse_temperature);
    (loss as f32, -(share * f64::from(inverse_temperature)) as f32)
}

/// A score that is not a number is none of an item that is not there.
#[inline(always)]
fn is_masked(score: f32) -> bool {
    score < MASKED_BELOW as f32
}

/// Replaces scores `s` by `(s - largest) inverse_temperature + g`, and masks the adversary's scores `g` where they are masked.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn exponents(scores: &mut [f32], hardness: &mut [f32], largest: f32, inverse_temperature: f32) {
    for (score, hardness) in scores.iter_mut().zip(hardness) {
        *hardness = if is_masked(*score) { MASKED } else { *hardness };
        *score = (*score - largest) * inverse_temperature + *hardness;
    }
}

/// From exponentials of both to the derivatives.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn shares(scores: &mut [f32], hardness: &mut [f32], factors: [f32; 2], inverse_temperature: f32) {
    for (score, hardness) in scores.iter_mut().zip(hardness) {
        let share = *score * factors[0];
        *hardness = share - *hardness * factors[1];
        *score = share * inverse_temperature;
    }
}
