//! Sampled softmax loss, corrected for how negatives are drawn (SSM).
//!
//! ```text
//! correction: all         l(u, i) = log sum_{j in {i} and N draws} exp(c_j) - c_i,              c_j = s_uj / t - log q_uj
//! correction: negatives   l(u, i) = log(exp(s_ui / t) + sum_j exp(s_uj / t) / (N q_uj)) - s_ui / t
//! ```
//! `q_uj` is the probability that one draw for u gives j; the positive's is the one that it would have as a negative. `all` corrects every
//! score, as RecStudio does and Yi et al. do in a batch; when q is uniform the corrections cancel, and it is `cce`. `negatives` leaves
//! the positive alone, so that the sum over the draws is on average the sum over all items; its negatives stand lower than those of `all`
//! by log(N q_ui). The sampler `all` draws nothing, so there is nothing to correct, and it is refused.
//! Bengio and Senécal, IEEE TNN 2008 (`negatives`); Yi et al., RecSys 2019 (`all`).

use super::fused::{FusedLossOfDraws, softmax::softmax};
use super::primitives::{log_sum_exp, margins, softplus};
use super::{Facts, LossKind, Pair, Scores, check_above_zero, scores};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `sampled-softmax` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampledSoftmax {
    /// Temperature, above 0.
    #[serde(default = "one")]
    pub temperature: f64,
    /// Which scores are corrected.
    #[serde(default)]
    pub correction: Correction,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

/// Which scores are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// The positive's and the negatives', by their log-probabilities.
    #[default]
    All,
    /// The negatives', by how often each is expected among the draws.
    Negatives,
}

fn one() -> f64 {
    1.0
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str =
    "sampled-softmax corrects for how negatives are drawn; over all items it is cce, or softmax with include_positive";

impl LossKind for SampledSoftmax {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Bengio and Senécal, TNN 2008; Yi et al., RecSys 2019", values: "RG: 100 to 1,000 uniform negatives", cost: "O(N)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let draws = scores::given(given.log_probabilities, "sampled-softmax", "the log-probabilities of the draws")?;
        sampled_softmax(positives, negatives, draws, self)
    }

    fn fused_of_draws(&self) -> Option<&dyn FusedLossOfDraws> {
        Some(self)
    }

    fn needs_log_probabilities(&self) -> bool {
        true
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

impl FusedLossOfDraws for SampledSoftmax {
    fn row(&self, positive: &mut f32, negatives: &mut [f32], own: f32, drawn: &[f32]) -> f32 {
        let inverse_temperature = (1.0 / self.temperature) as f32;
        // What a draw counts for beside its own probability: of the positive's, or of a draw of all items.
        let of_draws = match self.correction {
            Correction::All => own,
            Correction::Negatives => -(negatives.len() as f32).ln(),
        };
        negatives.iter_mut().zip(drawn).for_each(|(score, drawn)| *score = *score * inverse_temperature + (of_draws - drawn));
        let (loss, derivative) = softmax(1.0, true, *positive * inverse_temperature, negatives, inverse_temperature);
        *positive = derivative;
        loss
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`, and the log-probabilities of both.
pub fn sampled_softmax(positives: &Tensor, negatives: &Tensor, draws: Pair, settings: &SampledSoftmax) -> Result<Tensor> {
    let corrections = match settings.correction {
        Correction::All => margins(draws.positives, draws.negatives)?,
        Correction::Negatives => (draws.negatives + (negatives.dim(1)? as f64).ln())?,
    };
    let margins = (margins(positives, negatives)? / settings.temperature)?;
    softplus(&log_sum_exp(&(margins - corrections.detach())?)?) // log(1 + exp(sum)): the positive's own term is exp(0)
}

#[cfg(test)]
impl super::contract::Contract for SampledSoftmax {
    fn examples() -> Vec<Self> {
        [Correction::All, Correction::Negatives]
            .map(|correction| SampledSoftmax { temperature: 0.5, correction, similarity: Similarity::Dot })
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_A, Rows, assert_close, evaluate_row, evaluate_rows};
    use super::super::{Cce, Given, Loss, Scores};
    use super::*;
    use candle_core::{DType, Device};
    use proptest::prelude::*;

    /// Probabilities of the worked example: the positive's, then the negatives'.
    const PROBABILITIES: (f64, [f64; 4]) = (0.05, [0.4, 0.1, 0.3, 0.02]);

    fn loss(temperature: f64, correction: Correction) -> Loss {
        Loss::SampledSoftmax(SampledSoftmax { temperature, correction, similarity: Similarity::Dot })
    }

    /// The loss of one row and its gradient as `[s+, negatives]`, from scores and probabilities.
    fn evaluate_drawn(loss: &Loss, positive: f64, negatives: &[f64], own: f64, drawn: &[f64]) -> (f64, Vec<f64>) {
        let rows = Rows {
            positives: &[positive],
            negatives: &[negatives.to_vec()],
            quantiles: &[0.0],
            log_probabilities: (&[own.ln()], &[drawn.iter().map(|q| q.ln()).collect()]),
            ranks: None,
        };
        let found = evaluate_rows(DType::F64, loss, rows).unwrap();
        (found.values[0], [found.by_positives, found.by_negatives.concat()].concat())
    }

    #[test]
    fn worked_example() {
        let ((positive, negatives), (own, drawn)) = (EXAMPLE_A, PROBABILITIES);
        let (value, gradient) = evaluate_drawn(&loss(1.0, Correction::All), positive, &negatives, own, &drawn);
        assert_close(&[value], &[0.81594939], 5e-9);
        assert_close(&gradient, &[-0.55778071, 0.04095051, 0.04933623, 0.09948893, 0.36800503], 6e-9);
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
    }

    /// The literals are `log(sum) - s+` of the corrected scores, worked out apart from this code.
    #[test]
    fn worked_example_of_corrected_negatives() {
        let ((positive, negatives), (own, drawn)) = (EXAMPLE_A, PROBABILITIES);
        let (value, gradient) = evaluate_drawn(&loss(1.0, Correction::Negatives), positive, &negatives, own, &drawn);
        assert_close(&[value], &[1.98877910], 5e-9);
        assert_close(&gradient, &[-0.86313758, 0.06336886, 0.07634533, 0.15395412, 0.56946927], 6e-9);
        // 4 uniform draws of 100 items stand for 25 items each.
        let (value, gradient) = evaluate_drawn(&loss(1.0, Correction::Negatives), positive, &negatives, 0.01, &[0.01; 4]);
        assert_close(&[value], &[4.20718141], 5e-9);
        assert_close(&gradient, &[-0.98511173, 0.27573760, 0.08305057, 0.50242667, 0.12389689], 6e-9);
    }

    #[test]
    fn the_temperature_divides_scores_and_not_corrections() {
        let ((positive, negatives), (own, drawn)) = (EXAMPLE_A, PROBABILITIES);
        let (value, gradient) = evaluate_drawn(&loss(0.5, Correction::All), positive, &negatives, own, &drawn);
        assert_close(&[value], &[0.51532908], 5e-9);
        assert_close(&gradient, &[-0.80539200, 0.08195185, 0.02973802, 0.36278628, 0.33091585], 6e-9);
    }

    #[test]
    fn defaults_correct_every_score_at_temperature_1() {
        assert_eq!(serde_json::from_str::<Loss>(r#"{"sampled-softmax": {}}"#).unwrap(), loss(1.0, Correction::All));
    }

    #[test]
    fn temperatures_that_are_none_are_named() {
        assert!(loss(0.0, Correction::All).check().unwrap_err().starts_with("temperature is 0:"));
    }

    #[test]
    fn without_log_probabilities_it_says_what_is_missing() {
        let negatives = Tensor::zeros((2, 3), DType::F32, &Device::Cpu).unwrap();
        let positives = negatives.get_on_dim(1, 0).unwrap();
        let scores = Scores { positives: &positives, negatives: &negatives, items: 10, given: Given::default() };
        let error = loss(1.0, Correction::All).forward(&scores).unwrap_err();
        assert!(error.to_string().contains("needs the log-probabilities"), "{error}");
    }

    proptest! {
        /// Within a part in 10^5 of the steepest derivative, with a masked draw.
        #[test]
        fn the_fused_form_is_the_formula(
            positive in -9.0f32..9.0,
            drawn in prop::collection::vec((-9.0f32..9.0, 0.001f64..1.0), 1..60),
            own in 0.001f64..1.0,
        ) {
            let (mut negatives, mut probabilities): (Vec<f32>, Vec<f64>) = drawn.into_iter().unzip();
            negatives.push(-1e30);
            probabilities.push(0.5);
            let wide: Vec<f64> = negatives.iter().copied().map(f64::from).collect();
            let logs: Vec<f32> = probabilities.iter().map(|q| q.ln() as f32).collect();
            for correction in [Correction::All, Correction::Negatives] {
                let loss = loss(0.4, correction);
                let (value, gradient) = evaluate_drawn(&loss, f64::from(positive), &wide, own, &probabilities);
                let (mut by_positive, mut by_negatives) = (positive, negatives.clone());
                let found = loss.fused_of_draws().unwrap().row(&mut by_positive, &mut by_negatives, own.ln() as f32, &logs);
                prop_assert!((f64::from(found) - value).abs() < 1e-5 * value.abs().max(1.0), "{found} {value}");
                let steepest = gradient.iter().fold(1e-3, |steepest: f64, by| steepest.max(by.abs()));
                for (found, expected) in [&[by_positive], &by_negatives[..]].concat().iter().zip(&gradient) {
                    prop_assert!((f64::from(*found) - expected).abs() < 2e-5 * steepest, "{found} {expected}");
                }
            }
        }

        #[test]
        fn with_uniform_draws_it_is_cce(
            positive in -3.0f64..3.0,
            negatives in prop::collection::vec(-3.0f64..3.0, 1..30),
            probability in 0.001f64..1.0,
        ) {
            let cce = evaluate_row(&Loss::Cce(Cce { similarity: Similarity::Dot }), positive, &negatives, 0.0);
            let probabilities = vec![probability; negatives.len()];
            let found = evaluate_drawn(&loss(1.0, Correction::All), positive, &negatives, probability, &probabilities);
            assert_close(&[found.0], &[cce.0], 1e-12);
            assert_close(&found.1, &cce.1, 1e-12);
        }

        #[test]
        fn corrections_agree_where_the_positive_is_expected_once_among_the_draws(
            positive in -3.0f64..3.0,
            drawn in prop::collection::vec((-3.0f64..3.0, 0.001f64..1.0), 1..30),
        ) {
            let (negatives, probabilities): (Vec<f64>, Vec<f64>) = drawn.into_iter().unzip();
            let own = 1.0 / negatives.len() as f64;
            let [all, of_negatives] = [Correction::All, Correction::Negatives]
                .map(|correction| evaluate_drawn(&loss(0.7, correction), positive, &negatives, own, &probabilities));
            assert_close(&[all.0], &[of_negatives.0], 1e-12);
            assert_close(&all.1, &of_negatives.1, 1e-12);
        }
    }
}
