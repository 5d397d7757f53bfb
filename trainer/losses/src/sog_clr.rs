//! Stochastic optimisation of the global contrastive loss (SogCLR).
//!
//! ```text
//! l(u, i) = -s_ui / t + h_u / g_u,   h_u = mean_j exp(s_uj / t),   g_u <- (1 - r) g_u + r h_u
//! ```
//! The softmax loss of all items needs `log E_j exp(s_uj / t)`, whose gradient from a few draws is biased, because the logarithm stands
//! outside of the mean. `g_u`, a moving average of the user's own estimates, takes the place of the mean: it is a constant of the gradient,
//! which is then that of the softmax loss with `g_u` under the fraction, and exactly that of `softmax` when the update rate `r` is 1. The
//! value is not that of `softmax`. A user's first estimate is its average.
//!
//! Averages are kept as logarithms, as `exp(1 / 0.01)` is beyond `f32`. All rows of a user in a batch start from the average before the
//! batch; in the authors' release the last of them is kept, here the mean of the logarithms that they leave is.
//! Yuan et al., "Provable Stochastic Optimization for Global Contrastive Learning", ICML 2022, arXiv:2202.12387.

use super::primitives::{MASKED_BELOW, count_items, fill_masked, log_sum_exp, softplus};
use super::scores::columns as columns_of;
use super::{Facts, InitialValue, LossKind, Per, Scores, StateSpec, Update, check_above_zero};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `sog-clr` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SogClr {
    /// Temperature, above 0.
    pub temperature: f64,
    /// Share of a new estimate in the user's moving average, above 0 and at most 1.
    pub update_rate: f64,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

impl SogClr {
    /// The users' averages after this batch.
    pub(super) fn averages(&self, scores: &Scores) -> Result<Tensor> {
        let [before] = columns_of(scores.given.columns, "sog-clr")?;
        sog_clr_averages(scores.negatives, before, self.temperature, self.update_rate)
    }
}

impl LossKind for SogClr {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Yuan et al., ICML 2022", values: "`update_rate` tuned from 0.1 to 0.9", cost: "O(N)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_update_rate(self.update_rate)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        sog_clr(positives, negatives, &self.averages(scores)?, self.temperature)
    }

    fn columns(&self) -> Vec<StateSpec> {
        columns()
    }

    fn remembered(&self, scores: &Scores) -> Result<Vec<Tensor>> {
        Ok(vec![self.averages(scores)?])
    }

    /// 1 since a row without negatives leaves the average of its user's other rows alone in the first batch that has the user, 2 since it does in all.
    fn revision(&self) -> u32 {
        2
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "sog-clr averages what draws say of all items; over all items take softmax, which has its gradient";

/// The logarithms of the users' averages.
pub(super) fn columns() -> Vec<StateSpec> {
    vec![StateSpec { name: "log_averages", per: Per::Users, initial: InitialValue::Same(NO_AVERAGE), update: Update::Remembered }]
}

/// The error of a share that is none.
pub(super) fn check_update_rate(rate: f64) -> std::result::Result<(), String> {
    match rate > 0.0 && rate <= 1.0 {
        true => Ok(()),
        false => Err(format!("update_rate is {rate}: expected a number above 0 and at most 1")),
    }
}

/// The logarithm of the average of a user who has none yet.
const NO_AVERAGE: f32 = -1e30;

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the users' `log_averages [B]`, which hold this batch's
/// estimates already (see [`sog_clr_averages`]).
pub fn sog_clr(positives: &Tensor, negatives: &Tensor, log_averages: &Tensor, temperature: f64) -> Result<Tensor> {
    estimate_over_average(negatives, log_averages, temperature)? - (positives / temperature)?
}

/// `h_u / g_u`: `[B]`.
pub(super) fn estimate_over_average(negatives: &Tensor, log_averages: &Tensor, temperature: f64) -> Result<Tensor> {
    let exponents = (negatives / temperature)?.broadcast_sub(&log_averages.detach().unsqueeze(1)?)?;
    let sum = fill_masked(&exponents, negatives, -1e30)?.exp()?.sum(D::Minus1)?;
    sum / count_items(negatives)?
}

/// The logarithms of the users' averages after this batch, `[B]`, from `negatives [B, N]` and those before it, `[B]`.
///
/// A row without negatives has none, and leaves the average of its user to the user's other rows.
pub fn sog_clr_averages(negatives: &Tensor, log_averages: &Tensor, temperature: f64, update_rate: f64) -> Result<Tensor> {
    let (negatives, before) = (negatives.detach(), log_averages.detach());
    let estimate = (log_sum_exp(&(&negatives / temperature)?)? - count_items(&negatives)?.log()?)?;
    let new = (&estimate + update_rate.ln())?;
    let moved = (&new + softplus(&((&before + (1.0 - update_rate).ln())? - &new)?)?)?; // log(exp(old) + exp(new))
    let after = before.lt(MASKED_BELOW)?.where_cond(&estimate, &moved)?;
    let none = (after.zeros_like()? + f64::from(NO_AVERAGE))?;
    negatives.max(D::Minus1)?.lt(MASKED_BELOW)?.where_cond(&none, &after)
}

#[cfg(test)]
impl super::contract::Contract for SogClr {
    fn examples() -> Vec<Self> {
        vec![SogClr { temperature: 0.2, update_rate: 0.9, similarity: Similarity::Cosine }]
    }

    /// Averages are held constant.
    fn is_gradient_exact(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::softmax;
    use super::super::testing::{EXAMPLE_C, assert_close, assert_gradients, differentiate};
    use super::*;
    use candle_core::Device;
    use proptest::prelude::*;

    /// `log(g)` after the worked step from 5 with a rate of 0.9.
    const WORKED: f64 = 2.4085126134;

    /// Averages after one row.
    fn averages(negatives: &[f64], before: f64, rate: f64) -> f64 {
        let tensor = |values: &[f64], shape: &[usize]| Tensor::from_slice(values, shape, &Device::Cpu).unwrap();
        let after = sog_clr_averages(&tensor(negatives, &[1, negatives.len()]), &tensor(&[before], &[1]), 0.2, rate);
        after.unwrap().to_vec1::<f64>().unwrap()[0]
    }

    fn value_and_gradient(positive: f64, negatives: &[f64], log_average: f64) -> (f64, Vec<Vec<f64>>) {
        let inputs: [(&[f64], &[usize]); 3] = [(&[positive], &[1]), (negatives, &[1, negatives.len()]), (&[log_average], &[1])];
        differentiate(&inputs, |x| sog_clr(&x[0], &x[1], &x[2], 0.2))
    }

    #[test]
    fn worked_example() {
        assert_close(&[averages(&EXAMPLE_C.1, 5f64.ln(), 0.9).exp()], &[11.11741295], 5e-9);
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &EXAMPLE_C.1, averages(&EXAMPLE_C.1, 5f64.ln(), 0.9));
        assert_close(&[value], &[-1.93886055], 5e-9);
        assert_close(&gradient.concat()[..5], &[-5.0, 1.36975369, 0.06819602, 3.72337657, 0.14437098], 6e-9);
        assert_eq!(gradient[2], [0.0], "the average is a constant");
    }

    #[test]
    fn the_first_estimate_is_the_average() {
        assert_close(&[averages(&EXAMPLE_C.1, f64::from(NO_AVERAGE), 0.1).exp()], &[11.7971255], 5e-8);
    }

    #[test]
    fn a_row_without_negatives_has_no_average_and_is_flat() {
        assert_eq!(averages(&[-1e30, -1e30], 1.5, 0.9), f64::from(NO_AVERAGE));
        for average in [1.5, f64::from(NO_AVERAGE)] {
            let (value, gradient) = value_and_gradient(0.6, &[-1e30, -1e30], average);
            assert_close(&[value], &[-3.0], 1e-12);
            assert_eq!(gradient[1], [0.0, 0.0]);
        }
    }

    #[test]
    fn masked_negatives_add_nothing() {
        let masked = [-1e30, 0.5, -0.1, 0.7, -1e30, 0.05];
        assert_close(&[averages(&masked, 5f64.ln(), 0.9)], &[averages(&EXAMPLE_C.1, 5f64.ln(), 0.9)], 1e-12);
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &masked, WORKED);
        assert_close(&[value], &[-1.93886055], 5e-9);
        assert_eq!((gradient[1][0], gradient[1][4]), (0.0, 0.0));
    }

    /// No exponential is formed that is not a fraction of an average.
    #[test]
    fn finite_at_extreme_scores() {
        for (positive, negatives) in [(500.0, [800.0, -300.0, 790.0]), (-1e4, [-1e4; 3]), (1e4, [1e4; 3]), (0.3, [-1e30, 0.2, -1e30])] {
            for before in [f64::from(NO_AVERAGE), 0.0, 4e3] {
                let after = averages(&negatives, before, 0.5);
                let (value, gradient) = value_and_gradient(positive, &negatives, after);
                assert!(value.is_finite() && gradient.concat().iter().all(|by| by.is_finite()), "{positive} {negatives:?} {before}");
            }
        }
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |temperature, update_rate| SogClr { temperature, update_rate, similarity: Similarity::Cosine }.check().unwrap_err();
        assert!(message(0.0, 0.9).starts_with("temperature is 0:"));
        for rate in [0.0, 1.1, f64::NAN] {
            assert!(message(0.2, rate).starts_with(&format!("update_rate is {rate}:")));
        }
    }

    proptest! {
        #[test]
        fn gradients_are_central_differences(positive in -1.0f64..1.0, negatives in prop::collection::vec(-1.0f64..1.0, 1..8)) {
            let after = averages(&negatives, 1.0, 0.7);
            let inputs: [(&[f64], &[usize]); 2] = [(&[positive], &[1]), (&negatives, &[1, negatives.len()])];
            assert_gradients(&inputs, 1e-6, |x| sog_clr(&x[0], &x[1], &Tensor::new(&[after], &Device::Cpu)?, 0.2));
        }

        /// Identity 7.
        #[test]
        fn at_a_rate_of_one_the_gradient_is_that_of_the_softmax_loss(
            positive in -1.0f64..1.0,
            negatives in prop::collection::vec(-1.0f64..1.0, 1..30),
            before in -5.0f64..5.0,
        ) {
            let found = value_and_gradient(positive, &negatives, averages(&negatives, before, 1.0)).1;
            let inputs: [(&[f64], &[usize]); 2] = [(&[positive], &[1]), (&negatives, &[1, negatives.len()])];
            let expected = differentiate(&inputs, |x| softmax(&x[0], &x[1], 0.2, false)).1;
            assert_close(&found[..2].concat(), &expected.concat(), 1e-12);
        }
    }
}
