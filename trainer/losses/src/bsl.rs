//! Bilateral softmax loss (BSL).
//!
//! ```text
//! lists   l(u)    = -t1 log mean_i exp(s_ui / t1) + t2 log mean_j exp(s_uj / t2)
//! pairs   l(u, i) = -s_ui / t1 + (t2 / t1) log sum_j exp(s_uj / t2)
//! ```
//! The paper sets the positives i of a user against its negatives j, a soft maximum on either side, so that a noisy positive counts little.
//! IR-Benchmark's release, from which the printed comparisons with SL@K come, has one positive a term: the mean over one positive is the
//! score itself, and nothing is left of that robustness. What remains is `t2 / t1` times the softmax loss at `t2`: `t1` scales the loss,
//! which Adam hardly feels without weight decay. The authors' own release differs again: one temperature for both sides, and an exponent
//! of about 1 to 1.3 on the negatives' sum.
//! Wu et al., "BSL: Understanding and Improving Softmax Loss for Recommendation", ICDE 2024, arXiv:2312.12882.

use super::primitives::{MASKED_BELOW, log_sum_exp, unmask};
use super::smooth_rank::{POSITIVES, check_positives};
use super::{Facts, FusedLoss, Kernel, LossKind, Scores, check_above_zero, fused, fused::with_derivative, softmax};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `bsl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bsl {
    /// Temperature of the positives, t1, above 0.
    pub positive_temperature: f64,
    /// Temperature of the negatives, t2, above 0.
    pub negative_temperature: f64,
    /// What a row is.
    #[serde(default)]
    pub form: BslForm,
    /// Positives of a list, 5 where it is left out; users with fewer have shorter lists.
    #[serde(default)]
    pub positives: Option<u32>,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

/// What a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BslForm {
    /// A user with some of its positives: the paper's form.
    #[default]
    Lists,
    /// A user with one positive: the form of IR-Benchmark's release.
    Pairs,
}

impl LossKind for Bsl {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Wu et al., ICDE 2024",
            values: "SL@K: `positive_temperature` 0.2 / 0.5 / 0.2 / 0.5, `negative_temperature` 0.2 / 0.2 / 0.1 / 0.05; Adam 0.1; `form: pairs`",
            cost: "O(P + N)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("positive_temperature", self.positive_temperature)?;
        check_above_zero("negative_temperature", self.negative_temperature)?;
        match (self.form, self.positives) {
            (BslForm::Pairs, Some(positives)) => Err(format!("positives is {positives}: a row of the form `pairs` has one; leave it out")),
            (_, positives) => check_positives(positives.unwrap_or(POSITIVES)),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        match self.form {
            BslForm::Lists => bsl_of_lists(positives, negatives, self),
            BslForm::Pairs => bsl(positives, negatives, self),
        }
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        (self.form == BslForm::Pairs).then(|| softmax::kernel(self.negative_temperature, false, self.factor(), softmax::UNWEIGHTED))
    }

    fn list(&self) -> Option<usize> {
        (self.form == BslForm::Lists).then(|| self.positives.unwrap_or(POSITIVES) as usize)
    }
}

impl Bsl {
    /// What the softmax of pairs is multiplied by.
    fn factor(&self) -> f32 {
        (self.negative_temperature / self.positive_temperature) as f32
    }
}

impl FusedLoss for Bsl {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        let (factor, temperature) = (self.factor(), self.negative_temperature as f32);
        match self.form {
            BslForm::Lists => fused::bsl::bsl_of_lists(self.positive_temperature as f32, temperature, positives, negatives),
            BslForm::Pairs => with_derivative(positives, |positive| {
                let (loss, derivative) = fused::softmax::softmax(temperature, false, positive, negatives, factor);
                (factor * loss, derivative)
            }),
        }
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn bsl(positives: &Tensor, negatives: &Tensor, settings: &Bsl) -> Result<Tensor> {
    let Bsl { positive_temperature, negative_temperature, .. } = *settings;
    let sum = log_sum_exp(&(negatives / negative_temperature)?)?;
    (sum * (negative_temperature / positive_temperature))? - (positives / positive_temperature)?
}

/// One value per list, `[B]`, from `positives [B, P]` and `negatives [B, N]`.
pub fn bsl_of_lists(positives: &Tensor, negatives: &Tensor, settings: &Bsl) -> Result<Tensor> {
    soft_mean(negatives, settings.negative_temperature)? - soft_mean(positives, settings.positive_temperature)?
}

/// `t log mean_j exp(s_j / t)` over the items of each row, `[B]`; 0 for a row without any.
fn soft_mean(scores: &Tensor, temperature: f64) -> Result<Tensor> {
    let (unmasked, is_item) = unmask(scores)?;
    let masks = (is_item.affine(-1.0, 1.0)? * MASKED_BELOW)?;
    let counts = is_item.sum(D::Minus1)?;
    let sums = (log_sum_exp(&((unmasked / temperature)? + masks)?)? - counts.maximum(1.0)?.log()?)?;
    counts.gt(0.0)?.where_cond(&(&sums * temperature)?, &sums.zeros_like()?)
}

#[cfg(test)]
impl super::contract::Contract for Bsl {
    fn examples() -> Vec<Self> {
        let example =
            |form| Bsl { positive_temperature: 0.1, negative_temperature: 0.2, form, positives: None, similarity: Similarity::Cosine };
        [BslForm::Pairs, BslForm::Lists].map(example).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Softmax;
    use super::super::testing::{EXAMPLE_C, assert_close, evaluate_row, of_example_b};
    use super::*;
    use crate::Loss;
    use proptest::prelude::*;

    fn pairs(positive_temperature: f64, negative_temperature: f64) -> Bsl {
        let similarity = Similarity::Cosine;
        Bsl { positive_temperature, negative_temperature, form: BslForm::Pairs, positives: None, similarity }
    }

    fn loss(positive_temperature: f64, negative_temperature: f64) -> Loss {
        Loss::Bsl(pairs(positive_temperature, negative_temperature))
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate_row(&loss(0.1, 0.2), EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        assert_close(&[value], &[1.70830052], 5e-9);
        assert_close(&gradient, &[-10.0, 2.58166575, 0.12853357, 7.01769511, 0.27210557], 6e-9);
    }

    #[test]
    fn worked_example_of_a_list() {
        let (value, gradient) = of_example_b(|positives, negatives| bsl_of_lists(positives, negatives, &pairs(0.1, 0.2)));
        assert_close(&[value], &[-0.35934183], 5e-9);
        let expected = [-0.98169039, 0.0624954, -0.01798029, 0.00512994, 0.76134989, -0.00032932, 0.00114464, 0.16988012];
        assert_close(&gradient, &expected, 6e-9);
    }

    #[test]
    fn temperatures_that_are_none_are_named() {
        assert!(loss(0.0, 0.1).check().unwrap_err().starts_with("positive_temperature is 0:"));
        assert!(loss(0.1, f64::NAN).check().unwrap_err().starts_with("negative_temperature is NaN:"));
    }

    #[test]
    fn lists_are_the_default_and_pairs_have_one_positive() {
        let default: Bsl = serde_json::from_str(r#"{"positive_temperature": 0.1, "negative_temperature": 0.2}"#).unwrap();
        assert_eq!(default, Bsl { form: BslForm::Lists, ..pairs(0.1, 0.2) });
        assert_eq!(
            [default.list(), Bsl { positives: Some(3), ..default.clone() }.list(), pairs(0.1, 0.2).list()],
            [Some(5), Some(3), None]
        );
        assert!(Bsl { positives: Some(0), ..default }.check().unwrap_err().starts_with("positives is 0:"));
        assert!(Bsl { positives: Some(5), ..pairs(0.1, 0.2) }.check().unwrap_err().starts_with("positives is 5:"));
    }

    proptest! {
        #[test]
        fn it_is_a_multiple_of_the_softmax_loss(
            positive in -1.0f64..1.0,
            negatives in prop::collection::vec(-1.0f64..1.0, 1..30),
            positive_temperature in 0.05f64..1.0,
            negative_temperature in 0.05f64..1.0,
        ) {
            let softmax = Loss::Softmax(Softmax {
                temperature: negative_temperature,
                include_positive: false,
                similarity: Similarity::Cosine,
            });
            let factor = negative_temperature / positive_temperature;
            let expected = evaluate_row(&softmax, positive, &negatives, 0.0);
            let found = evaluate_row(&loss(positive_temperature, negative_temperature), positive, &negatives, 0.0);
            assert_close(&[found.0], &[factor * expected.0], 1e-11);
            assert_close(&found.1, &expected.1.iter().map(|by| factor * by).collect::<Vec<_>>(), 1e-11);
        }
    }
}
