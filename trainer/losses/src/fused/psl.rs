//! Pairwise softmax over a row, with the surrogate tanh.

use super::{lanes, pairwise::sum, softmax::scale};
use multiversion::multiversion;
use std::f64::consts::LN_2;
use vectors::elementary::{exp_of_negative, log_of_one_plus};

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
///
/// The surrogate is `2 sigmoid(x)` with `x = 2 (s - s+) / t_s`, and `log sigmoid(x) = min(x, 0) - log(1 + exp(-|x|))`.
pub(crate) fn psl(temperature: f32, score_temperature: f32, positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let (inverse_temperature, steepness) = (1.0 / temperature, 2.0 / score_temperature);
    let max = lanes::max(negatives);
    let ceiling = if max < positive { max } else { positive };
    let rest = log_of_one_plus(exp_of_negative(-((max - positive) * steepness).abs()));
    let weights = pulls(negatives, &Pull { positive, ceiling, rest, steepness, inverse_temperature });
    let largest = f64::from(ceiling - positive) * f64::from(steepness) - f64::from(rest) + LN_2;
    scale(negatives, (f64::from(inverse_temperature * steepness) / weights) as f32);
    ((largest * f64::from(inverse_temperature) + weights.ln()) as f32, -sum(negatives) as f32)
}

struct Pull {
    positive: f32,
    /// The lower of the positive's score and the highest negative's, from which small scores are measured without loss.
    ceiling: f32,
    /// `log(1 + exp(-|x|))` of the highest negative.
    rest: f32,
    steepness: f32,
    inverse_temperature: f32,
}

impl lanes::Step for Pull {
    /// The weight over that of the highest negative; times `sigmoid(-x)`, the slope of `log sigmoid`.
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        let x = (score - self.positive) * self.steepness;
        let small = exp_of_negative(-x.abs());
        let below = score - self.ceiling;
        let below = if below > 0.0 { 0.0 } else { below * self.steepness };
        let weight = exp_of_negative((below - (log_of_one_plus(small) - self.rest)) * self.inverse_temperature);
        (weight * (if x < 0.0 { 1.0 } else { small } / (1.0 + small)), weight)
    }
}

/// Replaces scores by their pulls; the sum of the weights.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn pulls(scores: &mut [f32], pull: &Pull) -> f64 {
    lanes::replace_and_sum(scores, pull)
}
