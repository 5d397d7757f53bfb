//! Adaptive temperatures (Adap-tau).
//!
//! ```text
//! l(u, i) = -w s_ui + log sum_j exp(w_u s_uj)
//! ```
//! The inverse temperature `w` of all and `w_u` of each user, one over a temperature, follow from the scores of the last epoch (see
//! [`update`]) and are constants of the gradient. The positive is left out of the sum. The scale of the positive is that of
//! all users, as in the authors' release, so that where `w_u` differs from `w` a shift of all scores changes the loss. Scores are cosines:
//! the temperatures are made from their means.
//! Chen et al., "Adap-tau: Adaptively Modulating Embedding Magnitude for Recommendation", WWW 2023, arXiv:2302.04775.

use super::primitives::{MASKED_BELOW, fill_masked, log_sum_exp};
use super::{Facts, InitialValue, LossKind, ModelStatistics, Per, Scores, StateSpec, Update, check_above_zero, scores};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

pub mod update;

/// `adap-tau` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdapTau {
    /// What a user's loss is compared with to set the user's own inverse temperature.
    #[serde(default)]
    pub baseline: Baseline,
    /// What differences of losses are divided by, above 0: 1 on Yelp and Amazon-Book, 0.25 to 1.5 elsewhere.
    #[serde(default = "one")]
    pub loss_temperature: f64,
    /// Epochs before scores tell anything, in which positives are taken to lie 0.7 above the mean.
    #[serde(default = "hundred")]
    pub warm_up: u32,
}

/// `baseline` of [`AdapTau`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// The mean of the users' losses (`weight_mean` of the release).
    Mean(Mean),
    /// A quantile of them (`weight_ratio` of the release).
    Quantile(Quantile),
    /// Nothing: all users have the inverse temperature of all (Adap-tau-0, `weight_v0` of the release).
    Global(Global),
}

/// `mean` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mean {}

/// `quantile` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantile {
    /// The share of users with a smaller loss, from 0 to 1: 0.9 on Gowalla.
    pub share: f64,
}

/// `global` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Global {}

impl Default for Baseline {
    fn default() -> Self {
        Self::Mean(Mean {})
    }
}

fn one() -> f64 {
    1.0
}

fn hundred() -> u32 {
    100
}

impl LossKind for AdapTau {
    fn similarity(&self) -> Similarity {
        Similarity::Cosine
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Chen et al., WWW 2023",
            values: "`loss_temperature` 1 (Yelp, Amazon-Book), 0.25 to 1.5; 1,024 uniform negatives",
            cost: "O(N); each epoch a pass over the train pairs",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.baseline {
            Baseline::Quantile(Quantile { share }) if !(0.0..=1.0).contains(&share) => {
                Err(format!("share is {share}: expected a number from 0 to 1"))
            }
            Baseline::Global(Global {}) if self.loss_temperature != one() => {
                Err(format!("loss_temperature is {}: leave it out, as the baseline `global` compares no losses", self.loss_temperature))
            }
            _ => check_above_zero("loss_temperature", self.loss_temperature),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let [of_users, of_all, _, _] = scores::columns(given.columns, "adap-tau")?;
        adap_tau(positives, negatives, of_users, of_all)
    }

    fn columns(&self) -> Vec<StateSpec> {
        columns()
    }

    fn remembered(&self, scores: &Scores) -> Result<Vec<Tensor>> {
        let losses = adap_tau_plain(scores.positives, scores.negatives)?.detach();
        let rows = scores.negatives.max(D::Minus1)?.ge(MASKED_BELOW)?.to_dtype(losses.dtype())?;
        Ok(vec![losses, rows])
    }

    fn set_columns(&self, numbers: &mut [&mut [f32]], model: &dyn ModelStatistics, epochs: u32) {
        update::set_columns(self, numbers, model, epochs);
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }

    /// 1 since a user's mean loss is over the rows of the epoch, and no longer over the train items.
    fn revision(&self) -> u32 {
        1
    }
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "adap-tau's temperatures follow from the losses of draws";

/// The inverse temperature of each user and of all, which are set before the first epoch and after each; and sums of each user's plain losses, with the
/// number of rows that they are of.
pub(super) fn columns() -> Vec<StateSpec> {
    let column = |name, of, start, motion| StateSpec { name, per: of, initial: InitialValue::Same(start), update: motion };
    vec![
        column("sharpness", Per::Users, 1.0, Update::Set),
        column("sharpness_of_all", Per::Whole(1), 1.0, Update::Set),
        column("plain_losses", Per::Users, 0.0, Update::Summed),
        column("rows", Per::Users, 0.0, Update::Summed),
    ]
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]`, the inverse temperature of each row's user, `of_users [B]`, and that of
/// all, `of_all [1]`.
pub fn adap_tau(positives: &Tensor, negatives: &Tensor, of_users: &Tensor, of_all: &Tensor) -> Result<Tensor> {
    let sharpened = negatives.broadcast_mul(&of_users.detach().unsqueeze(1)?)?;
    let sum = log_sum_exp(&fill_masked(&sharpened, negatives, -1e30)?)?;
    sum - positives.broadcast_mul(&of_all.detach())?
}

/// What the next inverse temperature of a user is made of, `[B]`: the loss at inverse temperature 1, from `positives [B]` and `negatives [B, N]`; 0 of a row
/// without negatives.
pub fn adap_tau_plain(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    let losses = (log_sum_exp(negatives)? - positives)?;
    negatives.max(D::Minus1)?.lt(MASKED_BELOW)?.where_cond(&losses.zeros_like()?, &losses)
}

#[cfg(test)]
impl super::contract::Contract for AdapTau {
    fn examples() -> Vec<Self> {
        [Baseline::Mean(Mean {}), Baseline::Global(Global {})]
            .map(|baseline| AdapTau { baseline, loss_temperature: 1.0, warm_up: 3 })
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::softmax;
    use super::super::testing::{EXAMPLE_C, assert_close, assert_gradients, differentiate};
    use super::*;
    use proptest::prelude::*;

    fn value_and_gradient(positive: f64, negatives: &[f64], of_user: f64, of_all: f64) -> (f64, Vec<f64>) {
        let inputs: [(&[f64], &[usize]); 4] =
            [(&[positive], &[1]), (negatives, &[1, negatives.len()]), (&[of_user], &[1]), (&[of_all], &[1])];
        let (value, gradients) = differentiate(&inputs, |x| adap_tau(&x[0], &x[1], &x[2], &x[3]));
        assert_eq!(gradients[2..].concat(), [0.0, 0.0], "sharpness is a constant");
        (value, gradients[..2].concat())
    }

    /// The literals are scipy's: `logsumexp(4 s) - 5 s+`, and 4 times the softmax.
    #[test]
    fn worked_example() {
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &EXAMPLE_C.1, 4.0, 5.0);
        assert_close(&[value], &[0.24747982868616614], 1e-13);
        assert_close(&gradient, &[-5.0, 1.1489109945161178, 0.10422685393420565, 2.5569484414906047, 0.18991371005907162], 1e-13);
        let inputs: [(&[f64], &[usize]); 2] = [(&[EXAMPLE_C.0], &[1]), (&EXAMPLE_C.1, &[1, 4])];
        assert_close(&[differentiate(&inputs, |x| adap_tau_plain(&x[0], &x[1])).0], &[1.1260794065722814], 1e-13);
    }

    #[test]
    fn each_row_has_its_own_inverse_temperature() {
        let inputs: [(&[f64], &[usize]); 4] =
            [(&[0.6, 0.6], &[2]), (&[EXAMPLE_C.1, EXAMPLE_C.1].concat(), &[2, 4]), (&[4.0, 2.0], &[2]), (&[5.0], &[1])];
        let found = differentiate(&inputs, |x| adap_tau(&x[0], &x[1], &x[2], &x[3])).0;
        let [first, second] = [4.0, 2.0].map(|of_user| value_and_gradient(EXAMPLE_C.0, &EXAMPLE_C.1, of_user, 5.0).0);
        assert_close(&[found], &[first + second], 1e-13);
    }

    #[test]
    fn masked_negatives_add_nothing() {
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &[-1e30, 0.5, -0.1, 0.7, 0.05], 4.0, 5.0);
        assert_close(&[value], &[0.24747982868616614], 1e-13);
        assert_eq!(gradient[1], 0.0);
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &[-1e30, -1e30], 4.0, 5.0);
        assert!(value.is_finite());
        assert_eq!(gradient, [-5.0, 0.0, 0.0]);
        let inputs: [(&[f64], &[usize]); 2] = [(&[EXAMPLE_C.0], &[1]), (&[-1e30, -1e30], &[1, 2])];
        assert_eq!(differentiate(&inputs, |x| adap_tau_plain(&x[0], &x[1])).0, 0.0);
    }

    #[test]
    fn finite_at_extreme_scores() {
        for (positive, negatives) in [(500.0, [800.0, -300.0, 790.0]), (-1e4, [-1e4; 3]), (1e4, [1e4; 3])] {
            let (value, gradient) = value_and_gradient(positive, &negatives, 17.0, 6.0);
            assert!(value.is_finite() && gradient.iter().all(|by| by.is_finite()), "{positive} {negatives:?}");
        }
    }

    #[test]
    fn values_that_are_none_are_named() {
        let settings = |baseline, loss_temperature| AdapTau { baseline, loss_temperature, warm_up: 0 };
        assert!(settings(Baseline::default(), 0.0).check().unwrap_err().starts_with("loss_temperature is 0:"));
        assert!(settings(Baseline::Quantile(Quantile { share: 1.5 }), 1.0).check().unwrap_err().starts_with("share is 1.5:"));
        assert_eq!(settings(Baseline::Quantile(Quantile { share: 1.0 }), 0.25).check(), Ok(()));
    }

    #[test]
    fn defaults_are_the_release() {
        let default = AdapTau { baseline: Baseline::Mean(Mean {}), loss_temperature: 1.0, warm_up: 100 };
        assert_eq!(serde_json::from_str::<AdapTau>("{}").unwrap(), default);
    }

    proptest! {
        #[test]
        fn gradients_are_central_differences(
            positive in -1.0f64..1.0,
            negatives in prop::collection::vec(-1.0f64..1.0, 1..8),
            (of_user, of_all) in (0.05f64..20.0, 1.0f64..20.0),
        ) {
            let [of_user, of_all] = [of_user, of_all].map(|value| Tensor::new(&[value], &candle_core::Device::Cpu).unwrap());
            let inputs: [(&[f64], &[usize]); 2] = [(&[positive], &[1]), (&negatives, &[1, negatives.len()])];
            assert_gradients(&inputs, 1e-6, |x| adap_tau(&x[0], &x[1], &of_user, &of_all));
        }

        #[test]
        fn one_inverse_temperature_for_all_is_the_softmax_loss(
            positive in -1.0f64..1.0,
            negatives in prop::collection::vec(-1.0f64..1.0, 1..30),
        ) {
            let found = value_and_gradient(positive, &negatives, 5.0, 5.0);
            let inputs: [(&[f64], &[usize]); 2] = [(&[positive], &[1]), (&negatives, &[1, negatives.len()])];
            let (value, gradient) = differentiate(&inputs, |x| softmax(&x[0], &x[1], 0.2, false));
            assert_close(&[found.0], &[value], 1e-12);
            assert_close(&found.1, &gradient.concat(), 1e-12);
        }
    }
}
