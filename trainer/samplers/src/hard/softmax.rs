//! By the softmax of the candidates' scores.
//!
//! ```text
//! p_j = exp(s_uj / t) / sum_k exp(s_uk / t)
//! loss = sum_j p_j l(s_ui, s_uj)
//! ```
//! Over the pool `all` this is the distribution of the paper; over drawn candidates it is normalised among them, which is biased towards
//! easier items. Without `negatives` the loss is the expectation itself, all candidates weighed by `p`: it has the least variance, and is
//! for losses that sum over negatives. With `negatives: M` as many are drawn by `p` without replacement (the Gumbel-top-k trick: Kool et
//! al., ICML 2019, arXiv:1903.06059), any loss can have them, and a step moves fewer rows. `corrected` takes `log q` of the pool from the
//! exponents, so that the pool does not change what is aimed at. Shi et al., WWW 2023, doi:10.1145/3543507.3583223, Eq. 3.

use super::{dns_mn::check_kept, top::keep_top, weights};
use crate::{
    Draws, Facts, Pool, SamplerKind, facts,
    rule::{Choice, RowScores, Rule},
};
use losses::check_above_zero;
use serde::{Deserialize, Serialize};
use streams::Stream;

/// `softmax` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Softmax {
    /// Items that are drawn and scored for each positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// Temperature, above 0: the lower, the harder.
    pub temperature: f64,
    /// How many candidates are drawn by their probability; when left out, all are weighed by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negatives: Option<u32>,
    /// Whether the pool's probabilities are corrected for.
    #[serde(default)]
    pub corrected: bool,
    /// Where candidates come from.
    #[serde(default)]
    pub pool: Pool,
}

impl Softmax {
    pub(crate) fn rule(&self) -> SoftmaxRule {
        let negatives = self.negatives.map(|negatives| negatives as usize);
        SoftmaxRule { inverse_temperature: weights::inverse_temperature(self.temperature), negatives, corrected: self.corrected }
    }
}

impl SamplerKind for Softmax {
    fn facts(&self) -> Facts {
        Facts { paper: "Shi et al., WWW 2023, Eq. 3", values: "–", state: "none", cost: facts::CANDIDATES }
    }

    fn draws(&self) -> Draws {
        Draws { pool: self.pool.clone(), count: self.candidates }
    }

    fn check_values(&self) -> Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        self.negatives.map_or(Ok(()), |negatives| check_kept(negatives, self.candidates))
    }

    fn count_key(&self) -> &'static str {
        "candidates"
    }

    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        Some(Box::new(Self::rule(self)))
    }
}

/// The rule of `softmax`.
#[derive(Debug)]
pub(crate) struct SoftmaxRule {
    inverse_temperature: f32,
    negatives: Option<usize>,
    corrected: bool,
}

impl Rule for SoftmaxRule {
    /// Weighs all candidates, or draws some.
    fn choose(&self, rng: &mut Stream, row: RowScores<'_>, choice: &mut Choice) {
        let (scores, log_probabilities) = (row.candidates, row.log_probabilities.filter(|_| self.corrected));
        let Some(negatives) = self.negatives else {
            choice.keep_all(scores.len());
            return weights::weigh(scores, self.inverse_temperature, log_probabilities, &mut choice.weights);
        };
        let mut exponents = std::mem::take(&mut choice.weights);
        exponents.resize(scores.len(), 0.0);
        weights::exponents(scores, self.inverse_temperature, log_probabilities, &mut exponents);
        keep_top(exponents.iter().map(|&exponent| exponent + gumbel(rng)), negatives, choice);
        exponents.clear();
        exponents.resize(choice.places.len(), 1.0);
        choice.weights = exponents;
    }

    fn subset(&self) -> Option<usize> {
        self.negatives
    }

    fn weighs(&self) -> bool {
        self.negatives.is_none()
    }

    fn needs_log_probabilities(&self) -> bool {
        self.corrected
    }
}

/// A draw from the standard Gumbel distribution.
fn gumbel(rng: &mut Stream) -> f32 {
    -(-rng.open_fraction().ln()).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CANDIDATES, LOSSES, POSITIVE, assert_weights, choose, choose_as};
    use super::*;
    use testing::assert_drawn_from;

    const WORKED: [f64; 4] = [0.2799049, 0.08430574, 0.51001998, 0.12576938];

    fn softmax(temperature: f64, negatives: Option<u32>) -> SoftmaxRule {
        Softmax { candidates: Some(4), temperature, negatives, corrected: false, pool: Pool::default() }.rule()
    }

    #[test]
    fn the_worked_weights() {
        assert_weights(&choose(&softmax(1.0, None), POSITIVE, &CANDIDATES, None), &WORKED);
    }

    #[test]
    fn draws_have_the_worked_probabilities() {
        let mut found = [0.0; 5];
        for row in 0..40_000 {
            // The masked one is a fifth candidate.
            let choice = choose_as(row, &softmax(1.0, Some(1)), POSITIVE, &[0.9, -0.3, -1e30, 1.5, 0.1], None);
            assert_eq!(choice.weights, [1.0]);
            found[choice.places[0] as usize] += 1.0;
        }
        assert_drawn_from(&found, &[WORKED[0], WORKED[1], 0.0, WORKED[2], WORKED[3]], 1.0);
    }

    /// Both orders of each pair: p_i p_j / (1 - p_i) + p_j p_i / (1 - p_j).
    #[test]
    fn pairs_are_drawn_without_replacement() {
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let probability = |[a, b]: [usize; 2]| WORKED[a] * WORKED[b] * (1.0 / (1.0 - WORKED[a]) + 1.0 / (1.0 - WORKED[b]));
        let mut found = [0.0; 6];
        for row in 0..40_000 {
            let choice = choose_as(row, &softmax(1.0, Some(2)), POSITIVE, &CANDIDATES, None);
            let pair = [choice.places[0] as usize, choice.places[1] as usize];
            found[pairs.iter().position(|&one| one == pair).unwrap()] += 1.0;
        }
        assert_drawn_from(&found, &pairs.map(probability), 1.0);
    }

    #[test]
    fn corrected_draws_weigh_what_they_are_drawn_for() {
        let q = [0.4f32, 0.1, 0.3, 0.2].map(f32::ln);
        let settings = Softmax { candidates: Some(4), temperature: 1.0, negatives: Some(1), corrected: true, pool: Pool::default() };
        let mut found = [0.0; 4];
        for row in 0..40_000 {
            found[choose_as(row, &settings.rule(), POSITIVE, &CANDIDATES, Some(&q)).places[0] as usize] += 1.0;
        }
        assert_drawn_from(&found, &[0.18073618, 0.21774676, 0.43909705, 0.16242], 1.0);
    }

    /// The temperature at which the weights stand at a divergence of 0.01, or 0.1, from uniform ones (SAMPLERS.md, Softmax-v).
    #[test]
    fn exact_temperatures_of_divergences() {
        let losses = LOSSES.map(|loss| loss as f32);
        for (temperature, divergence) in [(1.83301172, 0.01), (0.58409123, 0.1)] {
            let weights = choose(&softmax(temperature, None), POSITIVE, &losses, None).weights;
            let found: f64 = weights.iter().map(|&p| f64::from(p) * (4.0 * f64::from(p)).ln()).sum();
            assert!((found - divergence).abs() < 1e-6, "{found}");
        }
    }

    #[test]
    fn a_temperature_of_almost_nothing_is_dns_and_a_huge_one_uniform() {
        assert_eq!(choose(&softmax(1e-300, None), POSITIVE, &CANDIDATES, None).weights, [0.0, 0.0, 1.0, 0.0]);
        assert_weights(&choose(&softmax(1e300, None), POSITIVE, &CANDIDATES, None), &[0.25; 4]);
    }
}
