//! Pairwise softmax loss (PSL).
//!
//! ```text
//! l(u, i) = log sum_j h(d_uij)^(1 / t),   d_uij = (s_uj - s_ui) / t_s
//! h(d) = tanh(d) + 1   or   max(d + 1, 0)   or   atan(d) + 1
//! ```
//! The softmax loss is h = exp. These surrogates lie between the step at 0 and exp for d from -1 to 1, where the score temperature `t_s`
//! of 2 keeps differences of cosines; it is the release's, which tunes `t` alone. Near d = 0 each is exp, so that the loss is about
//! `softmax` at the temperature `t t_s`: the release's values for `t` are half of those for SL. The positive is left out of the sum.
//!
//! Negatives with h = 0, which relu has from d = -1 down and atan from -1.56, weigh nothing; a row that has no others stays at the value
//! of one negative with h = 1e-6, without a gradient. The release's second form, one logarithm over all pairs of a batch, has no value
//! for each positive and is not offered.
//! Yang et al., NeurIPS 2024, arXiv:2411.00163.

use super::primitives::{arctan, log_sigmoid, log_sum_exp, margins};
use super::{check_above_zero, fused};
use candle_core::{Result, Tensor};
use evaluator::Similarity;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// `psl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Psl {
    /// Temperature of the surrogate, above 0.
    pub temperature: f64,
    /// What differences of scores are divided by, above 0.
    #[serde(default = "two")]
    pub score_temperature: f64,
    /// What stands in the place of the exponential.
    #[serde(default)]
    pub surrogate: Surrogate,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

/// What stands in the place of the exponential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surrogate {
    /// `tanh(d) + 1`
    #[default]
    Tanh,
    /// `max(d + 1, 0)`
    Relu,
    /// `atan(d) + 1`
    Atan,
}

fn two() -> f64 {
    2.0
}

impl Psl {
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_above_zero("score_temperature", self.score_temperature)
    }

    pub(super) fn fused(&self) -> Option<fused::Psl> {
        let twin = fused::Psl { temperature: self.temperature as f32, score_temperature: self.score_temperature as f32 };
        (self.surrogate == Surrogate::Tanh).then_some(twin)
    }
}

/// The smallest surrogate that weighs.
const SMALLEST: f64 = 1e-6;

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn psl(positives: &Tensor, negatives: &Tensor, settings: &Psl) -> Result<Tensor> {
    let differences = (margins(positives, negatives)? / settings.score_temperature)?;
    match settings.surrogate {
        // tanh(d) + 1 = 2 sigmoid(2 d), which never vanishes
        Surrogate::Tanh => log_sum_exp(&((log_sigmoid(&(differences * 2.0)?)? + LN_2)? / settings.temperature)?),
        Surrogate::Relu => log_sum_of_powers(&(differences + 1.0)?, settings.temperature),
        Surrogate::Atan => log_sum_of_powers(&(arctan(&differences)? + 1.0)?, settings.temperature),
    }
}

/// `log sum_j h_j^(1 / t)` over the entries above [`SMALLEST`], and no less than one of that size has.
fn log_sum_of_powers(surrogates: &Tensor, temperature: f64) -> Result<Tensor> {
    let weighs = surrogates.gt(SMALLEST)?;
    let logarithms = weighs.where_cond(surrogates, &surrogates.ones_like()?)?.log()?;
    let nothing = (surrogates.ones_like()? * -1e30)?;
    let sum = log_sum_exp(&weighs.where_cond(&(logarithms / temperature)?, &nothing)?)?;
    sum.maximum(SMALLEST.ln() / temperature)
}

#[cfg(test)]
mod tests {
    use super::super::Softmax;
    use super::super::testing::{EXAMPLE_C, assert_close, evaluate_row};
    use super::*;
    use crate::Loss;

    fn loss(surrogate: Surrogate) -> Loss {
        Loss::Psl(Psl { temperature: 0.1, score_temperature: 2.0, surrogate, similarity: Similarity::Cosine })
    }

    #[test]
    fn worked_examples() {
        let examples = [
            (Surrogate::Tanh, 0.82759919, [-4.92560186, 1.37450607, 0.04838387, 3.38073941, 0.12197251]),
            (Surrogate::Relu, 0.82470867, [-4.94830352, 1.38138911, 0.04539665, 3.40022199, 0.12129577]),
            (Surrogate::Atan, 0.82754172, [-4.92599305, 1.37458766, 0.0484089, 3.38094134, 0.12205515]),
        ];
        for (surrogate, expected, by_scores) in examples {
            let (value, gradient) = evaluate_row(&loss(surrogate), EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
            assert_close(&[value], &[expected], 5e-9);
            assert_close(&gradient, &by_scores, 6e-9);
            assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
        }
    }

    /// To first order in the scores: halving them quarters the difference of the values and halves that of the gradients.
    #[test]
    fn it_is_the_softmax_loss_of_small_scores() {
        let softmax = Loss::Softmax(Softmax { temperature: 0.2, include_positive: false, similarity: Similarity::Cosine });
        for surrogate in [Surrogate::Tanh, Surrogate::Relu, Surrogate::Atan] {
            let difference = |scale: f64| {
                let (positive, negatives) = (EXAMPLE_C.0 * scale, EXAMPLE_C.1.map(|score| score * scale));
                let [psl, sl] = [&loss(surrogate), &softmax].map(|loss| evaluate_row(loss, positive, &negatives, 0.0));
                (psl.0 - sl.0, psl.1[0] - sl.1[0])
            };
            let (whole, half) = (difference(1e-3), difference(5e-4));
            assert!(whole.0.abs() < 1e-5 && whole.1.abs() < 1e-2, "{surrogate:?}: {whole:?}");
            assert_close(&[half.0 / whole.0, half.1 / whole.1], &[0.25, 0.5], 1e-3);
        }
    }

    #[test]
    fn a_row_without_weights_is_flat() {
        for surrogate in [Surrogate::Relu, Surrogate::Atan] {
            let (value, gradient) = evaluate_row(&loss(surrogate), 5.0, &[0.0, -1.0], 0.0);
            assert_close(&[value], &[-138.15510558], 5e-9);
            assert_eq!(gradient, [0.0; 3]);
        }
        // One negative that weighs is all there is: ln(0.9) / 0.1, with a derivative of 1 / (0.9 * 0.2).
        let (value, gradient) = evaluate_row(&loss(Surrogate::Relu), 5.0, &[4.8, -1.0], 0.0);
        assert_close(&[value], &[-1.05360516], 5e-9);
        assert_close(&gradient, &[-5.55555556, 5.55555556, 0.0], 5e-9);
    }

    #[test]
    fn temperatures_that_are_none_are_named() {
        let message = |psl: Psl| Loss::Psl(psl).check().unwrap_err();
        let good = Psl { temperature: 0.1, score_temperature: 2.0, surrogate: Surrogate::Tanh, similarity: Similarity::Cosine };
        assert!(message(Psl { temperature: 0.0, ..good.clone() }).starts_with("temperature is 0:"));
        assert!(message(Psl { score_temperature: -2.0, ..good }).starts_with("score_temperature is -2:"));
    }

    #[test]
    fn defaults_are_the_release() {
        assert_eq!(serde_json::from_str::<Loss>(r#"{"psl": {"temperature": 0.1}}"#).unwrap(), loss(Surrogate::Tanh));
    }
}
