//! Softmax-v(rho, N): by the softmax of the candidates' losses, whose temperature follows from their variance.
//!
//! ```text
//! l_j = softplus(s_uj - s_ui)          t = sqrt(Var_j(l) / (2 rho))
//! p_j = exp(l_j / t) / sum_k exp(l_k / t)
//! loss = sum_j p_j l(s_ui, s_uj)
//! ```
//! `rho` is the divergence of `p` from uniform weights, to second order: sampling stays as hard as it is while the model learns. Near 0 the
//! weights are uniform; as it grows they come close to [`Dns`](super::Dns)'s. Where all losses are equal the weights are uniform.
//!
//! The exponent is the loss, as in the release; the paper's Eq. 3 has scores. The paper's variance is that of the candidates
//! (`population`); the release divides by N - 1 (`sample`) and takes `log q` from the exponents (`corrected`), which is the same for
//! uniform pools. Shi et al., WWW 2023, doi:10.1145/3543507.3583223, Algorithm 2; its values are N 200 or 500, and rho from 0.01 to 100.

use super::{is_item, weights};
use crate::{
    Draws, Facts, Pool, SamplerKind, Stream, facts,
    rule::{Choice, RowScores, Rule},
};
use losses::{check_above_zero, fused::lanes};
use multiversion::multiversion;
use serde::{Deserialize, Serialize};
use vectors::elementary::softplus;

/// `softmax-v` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftmaxV {
    /// N: items that are drawn and scored for each positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// rho, above 0: the higher, the harder.
    pub divergence: f64,
    /// Which variance sets the temperature.
    #[serde(default)]
    pub variance: Variance,
    /// Whether the pool's probabilities are corrected for.
    #[serde(default)]
    pub corrected: bool,
    /// Where candidates come from.
    #[serde(default)]
    pub pool: Pool,
}

/// Which variance sets the temperature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variance {
    /// The mean square of the differences from the mean.
    #[default]
    Population,
    /// Their sum divided by N - 1.
    Sample,
}

impl SamplerKind for SoftmaxV {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Shi et al., WWW 2023, Algorithm 2",
            values: "`candidates` 200 (Gowalla, Yelp) or 500 (Amazon), `divergence` 0.01 to 100",
            state: "none",
            cost: facts::CANDIDATES,
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: self.pool.clone(), count: self.candidates }
    }

    fn check_values(&self) -> Result<(), String> {
        check_above_zero("divergence", self.divergence)
    }

    fn count_key(&self) -> &'static str {
        "candidates"
    }

    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        Some(Box::new(SoftmaxVRule { divergence: self.divergence, variance: self.variance, corrected: self.corrected }))
    }
}

/// The rule of `softmax-v`.
#[derive(Debug)]
struct SoftmaxVRule {
    divergence: f64,
    variance: Variance,
    corrected: bool,
}

impl Rule for SoftmaxVRule {
    /// Weighs all candidates.
    fn choose(&self, _rng: &mut Stream, row: RowScores<'_>, choice: &mut Choice) {
        let RowScores { positive, candidates: scores, log_probabilities } = row;
        choice.keep_all(scores.len());
        let exponents = &mut choice.weights[..];
        exponents.copy_from_slice(scores);
        let (items, mean) = gaps(exponents, positive);
        if mean < 0.0 {
            let less = if self.variance == Variance::Sample { 1.0 } else { 0.0 };
            let variance = squares(exponents, mean) / (items - less);
            scale(exponents, -mean, inverse_temperature(self.divergence, variance));
        }
        if let Some(log_probabilities) = log_probabilities.filter(|_| self.corrected) {
            weights::correct(exponents, log_probabilities);
        }
        weights::softmax(exponents);
    }

    fn subset(&self) -> Option<usize> {
        None
    }

    fn weighs(&self) -> bool {
        true
    }

    fn needs_log_probabilities(&self) -> bool {
        self.corrected
    }

    fn needs_positive(&self) -> bool {
        true
    }
}

/// `1 / temperature`, a number that can be calculated with.
fn inverse_temperature(divergence: f64, variance: f64) -> f32 {
    (2.0 * divergence / variance).sqrt().clamp(f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)) as f32
}

/// Replaces scores by how far their loss is below the highest, minus infinity where masked: how many are not, and the mean gap.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn gaps(scores: &mut [f32], positive: f32) -> (f64, f32) {
    let items = lanes::replace_and_sum(scores, &Losses { positive });
    let max = lanes::max(scores);
    let total = lanes::replace_and_sum(scores, &Gaps { max });
    (items, (total / items) as f32)
}

struct Losses {
    positive: f32,
}

impl lanes::Step for Losses {
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, f32) {
        if is_item(score) { (softplus(score - self.positive).0, 1.0) } else { (f32::NEG_INFINITY, 0.0) }
    }
}

struct Gaps {
    max: f32,
}

impl lanes::Step for Gaps {
    #[inline(always)]
    fn step(&self, loss: f32) -> (f32, f32) {
        let gap = loss - self.max;
        (gap, if loss == f32::NEG_INFINITY { 0.0 } else { gap })
    }
}

/// The sum of the squared differences of gaps from their mean, in units of it: losses of any size neither overflow nor vanish.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn squares(gaps: &mut [f32], mean: f32) -> f64 {
    lanes::replace_and_sum(gaps, &Squares { mean })
}

struct Squares {
    mean: f32,
}

impl lanes::Step for Squares {
    #[inline(always)]
    fn step(&self, gap: f32) -> (f32, f32) {
        let difference = if gap == f32::NEG_INFINITY { 0.0 } else { gap / self.mean - 1.0 };
        (gap, difference * difference)
    }
}

/// Divides gaps by the unit, and multiplies them by the inverse temperature.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn scale(gaps: &mut [f32], unit: f32, inverse_temperature: f32) {
    for gap in gaps {
        *gap = *gap / unit * inverse_temperature;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CANDIDATES, LOSSES, POSITIVE, assert_weights, choose, expectation};
    use super::*;

    fn softmax_v(divergence: f64, variance: Variance) -> SoftmaxVRule {
        SoftmaxVRule { divergence, variance, corrected: variance == Variance::Sample }
    }

    /// The temperature that two weights tell of.
    fn temperature(choice: &Choice) -> f64 {
        (LOSSES[0] - LOSSES[3]) / f64::from(choice.weights[0] / choice.weights[3]).ln()
    }

    #[test]
    fn the_worked_temperatures_and_weights() {
        let worked = [
            (0.01, 1.8037245, [0.25868988, 0.21271558, 0.30550083, 0.22309371]),
            (0.1, 0.57038777, [0.25927894, 0.13964856, 0.43872047, 0.16235202]),
            (1.0, 0.18037245, [0.15048524, 0.02126633, 0.79400535, 0.03424307]),
            (10.0, 0.057038777, [0.00517031, 0.00001062, 0.99477116, 0.00004791]),
        ];
        for (divergence, expected, weights) in worked {
            let choice = choose(&softmax_v(divergence, Variance::Population), POSITIVE, &CANDIDATES, None);
            assert_weights(&choice, &weights);
            assert!((temperature(&choice) / expected - 1.0).abs() < 3e-6, "{}", temperature(&choice));
        }
    }

    #[test]
    fn the_worked_gradient() {
        let choice = choose(&softmax_v(1.0, Variance::Population), POSITIVE, &CANDIDATES, None);
        let sigmoid = |score: f32| 1.0 / (1.0 + f64::from(POSITIVE - score).exp());
        let gradient: Vec<f64> = choice.weights.iter().zip(CANDIDATES).map(|(&weight, score)| f64::from(weight) * sigmoid(score)).collect();
        for (found, expected) in gradient.iter().zip([0.06404012, 0.00387952, 0.45611043, 0.00855186]) {
            assert!((found - expected).abs() < 3e-7, "{gradient:?}");
        }
        assert!((gradient.iter().sum::<f64>() - 0.53258194).abs() < 3e-7);
    }

    #[test]
    fn the_releases_variance() {
        let choice = choose(&softmax_v(1.0, Variance::Sample), POSITIVE, &CANDIDATES, Some(&[-5.0; 4]));
        assert_weights(&choice, &[0.17594767, 0.03231722, 0.74291516, 0.04881996]);
        assert!((expectation(&choice, &LOSSES) - 0.75278779).abs() < 3e-7);
        assert!((temperature(&choice) - 0.20827617).abs() < 1e-6);
    }

    /// Near a divergence of 0 it is BPR with the mean over uniform negatives, far from it DNS.
    #[test]
    fn both_ends() {
        let easy = choose(&softmax_v(1e-16, Variance::Population), POSITIVE, &CANDIDATES, None);
        assert_weights(&easy, &[0.25; 4]);
        assert!((expectation(&easy, &LOSSES) - 0.47436477).abs() < 2e-7);
        assert_weights(&choose(&softmax_v(1e-300, Variance::Population), POSITIVE, &[0.9, -1e30, 1.5], None), &[0.5, 0.0, 0.5]);
        for divergence in [100.0, 1e300] {
            assert_weights(&choose(&softmax_v(divergence, Variance::Population), POSITIVE, &CANDIDATES, None), &[0.0, 0.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn equal_losses_are_uniform() {
        for variance in [Variance::Population, Variance::Sample] {
            assert_weights(
                &choose(&softmax_v(1.0, variance), POSITIVE, &[0.1, 0.1, -1e30, 0.1, 0.1], None),
                &[0.25, 0.25, 0.0, 0.25, 0.25],
            );
            assert_weights(&choose(&softmax_v(1.0, variance), POSITIVE, &[0.1], None), &[1.0]);
            assert_weights(&choose(&softmax_v(1.0, variance), POSITIVE, &[-1e30, -1e30], None), &[0.0, 0.0]);
        }
    }

    /// Losses of well ranked negatives are tiny, and their squares below the smallest float: the weights do not depend on their size.
    #[test]
    fn small_losses_have_a_variance() {
        // e^-60 (1, 2, 4): as losses of 1, 2, 4, whose variance is 14/9.
        let scores = [-60.0f32, -60.0 + std::f32::consts::LN_2, -60.0 + 2.0 * std::f32::consts::LN_2];
        let choice = choose(&softmax_v(0.5, Variance::Population), 0.0, &scores, None);
        let exponentials = [1.0, 2.0, 4.0].map(|loss: f64| (loss / (14.0f64 / 9.0).sqrt()).exp());
        for (&found, exponential) in choice.weights.iter().zip(exponentials) {
            assert!((f64::from(found) - exponential / exponentials.iter().sum::<f64>()).abs() < 1e-5, "{:?}", choice.weights);
        }
    }
}
