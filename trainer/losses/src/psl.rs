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
//! of one negative with h = 1e-6, without a gradient.
//!
//! `whole_batch` is the release's second form, `log mean h(d_uij)^(1 / t)` over all rows and negatives of a batch at once: rows far from
//! their order then take the gradient from the others. Each row has the batch's value, so that the mean over rows is the loss.
//! Yang et al., NeurIPS 2024, arXiv:2411.00163.

use super::primitives::{arctan, is_item, log_sigmoid, log_sum_exp, margins};
use super::{
    Facts, FusedLoss, Kernel, KernelArgument::Number, LossKind, Scores, check_above_zero, fused::psl as rows, fused::with_derivative,
};
use candle_core::{DType, Result, Tensor};
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;
use vectors::Similarity;

/// `psl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// Whether one logarithm is of all rows of a batch, in place of one of each row.
    #[serde(default)]
    pub whole_batch: bool,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

/// What stands in the place of the exponential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// Why `whole_batch` cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "psl with whole_batch is one logarithm over a batch, which all items are too many for at once";

impl LossKind for Psl {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Yang et al., NeurIPS 2024", values: "`temperature` tuned from 0.005 to 0.25", cost: "O(N)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_above_zero("score_temperature", self.score_temperature)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        psl(positives, negatives, self)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        (self.surrogate == Surrogate::Tanh && !self.whole_batch).then_some(self as &dyn FusedLoss)
    }

    fn kernel(&self) -> Option<Kernel> {
        let arguments = vec![Number(1.0 / self.temperature as f32), Number(2.0 / self.score_temperature as f32)];
        self.fused().map(|_| Kernel { name: "weigh_psl", arguments })
    }

    fn couples_rows(&self) -> bool {
        self.whole_batch
    }

    fn needs_draws(&self) -> Option<&'static str> {
        self.whole_batch.then_some(NEEDS_DRAWS)
    }
}

impl FusedLoss for Psl {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| rows::psl(self.temperature as f32, self.score_temperature as f32, positive, negatives))
    }
}

/// The smallest surrogate that weighs.
const SMALLEST: f64 = 1e-6;

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`; with `whole_batch` the rows are the whole batch.
pub fn psl(positives: &Tensor, negatives: &Tensor, settings: &Psl) -> Result<Tensor> {
    let is_item = is_item(negatives)?;
    let powers = log_powers(&(margins(positives, negatives)? / settings.score_temperature)?, settings)?;
    let powers = is_item.where_cond(&powers, &nothing(&powers)?)?;
    if !settings.whole_batch {
        return log_sum(&powers, settings);
    }
    let pairs = is_item.to_dtype(DType::F64)?.sum_all()?.to_scalar::<f64>()?.max(1.0);
    (log_sum(&powers.reshape((1, powers.elem_count()))?, settings)? - pairs.ln())?.broadcast_as(positives.shape())
}

/// `log h(d)^(1 / t)`, elementwise.
fn log_powers(differences: &Tensor, settings: &Psl) -> Result<Tensor> {
    match settings.surrogate {
        // tanh(d) + 1 = 2 sigmoid(2 d), which never vanishes
        Surrogate::Tanh => (log_sigmoid(&(differences * 2.0)?)? + LN_2)? / settings.temperature,
        Surrogate::Relu => log_powers_above_zero(&(differences + 1.0)?, settings.temperature),
        Surrogate::Atan => log_powers_above_zero(&(arctan(differences)? + 1.0)?, settings.temperature),
    }
}

/// `log h^(1 / t)` where h is above [`SMALLEST`], and next to nothing elsewhere.
fn log_powers_above_zero(surrogates: &Tensor, temperature: f64) -> Result<Tensor> {
    let weighs = surrogates.gt(SMALLEST)?;
    let logarithms = weighs.where_cond(surrogates, &surrogates.ones_like()?)?.log()?;
    weighs.where_cond(&(logarithms / temperature)?, &nothing(surrogates)?)
}

/// The logarithm of next to nothing, in the shape of `x`.
fn nothing(x: &Tensor) -> Result<Tensor> {
    x.ones_like()? * -1e30
}

/// `log sum_j exp(x_j)`, and no less than one term of the [`SMALLEST`] surrogate has where surrogates vanish.
fn log_sum(powers: &Tensor, settings: &Psl) -> Result<Tensor> {
    match settings.surrogate {
        Surrogate::Tanh => log_sum_exp(powers),
        Surrogate::Relu | Surrogate::Atan => log_sum_exp(powers)?.maximum(SMALLEST.ln() / settings.temperature),
    }
}

#[cfg(test)]
impl super::contract::Contract for Psl {
    fn examples() -> Vec<Self> {
        let surrogates = [Surrogate::Tanh, Surrogate::Relu, Surrogate::Atan];
        let example = |surrogate, whole_batch| Psl {
            temperature: 0.1,
            score_temperature: 2.0,
            surrogate,
            whole_batch,
            similarity: Similarity::Cosine,
        };
        let examples = [false, true].into_iter().flat_map(|whole_batch| surrogates.map(|surrogate| example(surrogate, whole_batch)));
        examples.chain([Psl { score_temperature: 0.5, ..example(Surrogate::Tanh, false) }]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Softmax;
    use super::super::testing::{EXAMPLE_C, assert_close, assert_gradients, differentiate, evaluate_row};
    use super::*;
    use crate::Loss;
    use proptest::prelude::*;

    const SURROGATES: [Surrogate; 3] = [Surrogate::Tanh, Surrogate::Relu, Surrogate::Atan];

    fn settings(surrogate: Surrogate, whole_batch: bool) -> Psl {
        Psl { temperature: 0.1, score_temperature: 2.0, surrogate, whole_batch, similarity: Similarity::Cosine }
    }

    fn loss(surrogate: Surrogate) -> Loss {
        Loss::Psl(settings(surrogate, false))
    }

    /// The mean over the rows of a batch, and its gradient by positives and negatives.
    fn of_batch(surrogate: Surrogate, positives: &[f64], negatives: &[f64]) -> (f64, Vec<Vec<f64>>) {
        let (rows, count) = (positives.len(), negatives.len() / positives.len());
        differentiate(&[(positives, &[rows]), (negatives, &[rows, count])], |t| psl(&t[0], &t[1], &settings(surrogate, true))?.mean_all())
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

    /// By Python: log sum_j (tanh((s_j - s) / 0.5) + 1)^10, and its central differences.
    #[test]
    fn scores_are_divided_by_their_temperature() {
        let sharp = Loss::Psl(Psl { score_temperature: 0.5, ..settings(Surrogate::Tanh, false) });
        let (value, gradient) = evaluate_row(&sharp, EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        assert_close(&[value], &[1.81946923], 5e-9);
        assert_close(&gradient, &[-16.1944953, 0.4307249, 0.0, 15.7637698, 0.0000006], 1e-7);
    }

    /// To first order in the scores: halving them quarters the difference of the values and halves that of the gradients.
    #[test]
    fn it_is_the_softmax_loss_of_small_scores() {
        let softmax = Loss::Softmax(Softmax { temperature: 0.2, include_positive: false, similarity: Similarity::Cosine });
        for surrogate in SURROGATES {
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
        let good = settings(Surrogate::Tanh, false);
        assert!(message(Psl { temperature: 0.0, ..good.clone() }).starts_with("temperature is 0:"));
        assert!(message(Psl { score_temperature: -2.0, ..good }).starts_with("score_temperature is -2:"));
    }

    #[test]
    fn defaults_are_the_release() {
        assert_eq!(serde_json::from_str::<Loss>(r#"{"psl": {"temperature": 0.1}}"#).unwrap(), loss(Surrogate::Tanh));
    }

    /// Values of the formula and differences of it, worked out apart from this code.
    #[test]
    fn worked_examples_of_a_whole_batch() {
        let negatives = [EXAMPLE_C.1, [0.3, 0.4, -0.2, 0.1]].concat();
        let examples = [
            (
                Surrogate::Tanh,
                -0.103703297247,
                [-1.562531745, -3.214714948],
                [0.436029836, 0.015348648, 1.072460341, 0.03869292, 1.072460341, 1.614121896, 0.092102875, 0.436029836],
            ),
            (
                Surrogate::Relu,
                -0.103977543767,
                [-1.565631825, -3.241169345],
                [0.43706833, 0.014363395, 1.0758224, 0.038377701, 1.0758224, 1.635200673, 0.093077942, 0.43706833],
            ),
            (
                Surrogate::Atan,
                -0.103723235940,
                [-1.56259719, -3.214870895],
                [0.436039351, 0.015356012, 1.072484145, 0.038717682, 1.072484145, 1.614216114, 0.092131285, 0.436039351],
            ),
        ];
        for (surrogate, expected, by_positives, by_negatives) in examples {
            let (value, gradient) = of_batch(surrogate, &[EXAMPLE_C.0, 0.2], &negatives);
            assert_close(&[value], &[expected], 1e-11);
            assert_close(&gradient[0], &by_positives, 5e-8);
            assert_close(&gradient[1], &by_negatives, 5e-8);
        }
    }

    #[test]
    fn a_whole_batch_of_one_row_has_the_mean_for_the_sum() {
        for surrogate in SURROGATES {
            let (value, gradient) = evaluate_row(&loss(surrogate), EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
            let found = of_batch(surrogate, &[EXAMPLE_C.0], &EXAMPLE_C.1);
            assert_close(&[found.0], &[value - 4f64.ln()], 1e-12);
            assert_close(&found.1.concat(), &gradient, 1e-12);
        }
    }

    #[test]
    fn masked_entries_are_not_in_the_mean_of_a_whole_batch() {
        for surrogate in SURROGATES {
            let expected = of_batch(surrogate, &[0.6, 0.2], &[0.5, 0.1, 0.3, 0.4]);
            let found = of_batch(surrogate, &[0.6, 0.2, 0.9], &[0.5, 0.1, -1e30, 0.3, -1e30, 0.4, -1e30, -1e30, -1e30]);
            assert_close(&[found.0], &[expected.0], 1e-12);
            let [a, b, c, d] = expected.1[1][..] else { panic!("four negatives") };
            assert_close(&found.1[1], &[a, b, 0.0, c, 0.0, d, 0.0, 0.0, 0.0], 1e-12);
            assert_close(&found.1[0], &[expected.1[0][0], expected.1[0][1], 0.0], 1e-12);
            let (value, gradient) = of_batch(surrogate, &[0.6], &[-1e30, -1e30]);
            assert!(value.is_finite() && gradient[1] == [0.0, 0.0], "{surrogate:?}: {value} {gradient:?}");
        }
    }

    proptest! {
        #[test]
        fn gradients_of_a_whole_batch_are_central_differences(scores in prop::collection::vec(-0.9f64..0.9, 9)) {
            for surrogate in SURROGATES {
                let inputs = [(&scores[..3], &[3][..]), (&scores[3..], &[3, 2])];
                assert_gradients(&inputs, 2e-7, |t| psl(&t[0], &t[1], &settings(surrogate, true))?.mean_all());
            }
        }
    }
}
