//! Softmax loss at K with SogCLR's moving averages (SogSL@K).
//!
//! ```text
//! l(u, i) = -w_ui s_ui / t + h_u / g_u,   w_ui = sigmoid((s_ui - b_u) / t_w) / mean over the batch
//! ```
//! `b_u` is the quantile of [`softmax_at_k`](super::softmax_at_k()), `h_u` and `g_u` are those of [`sog_clr`](super::sog_clr()). The weight
//! is a constant of the gradient, its mean over a batch is 1, and it stands at the positive's part alone: as in the release of SL@K's
//! authors, where this loss comes without a paper. <https://github.com/Tiny-Snow/IR-Benchmark>

use super::primitives::{log_sigmoid, log_sum_exp};
use super::scores::columns;
use super::sog_clr::{check_update_rate, estimate_over_average, sog_clr_averages};
use super::{
    Facts, LossKind, QuantileEstimator, QuantileSchedule, QuantileUpdate, Scores, StateSpec, check_above_zero, facts, scores, sog_clr,
};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `sog-softmax-at-k` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SogSoftmaxAtK {
    /// Length of the list that is optimised, K.
    pub cutoff: u32,
    /// Temperature of the softmax, above 0.
    pub temperature: f64,
    /// Temperature of the weights, above 0.
    pub weight_temperature: f64,
    /// Epochs between two updates of the quantiles.
    pub quantile_every: u32,
    /// When in a due epoch they are set: after its steps, nearest to the authors' release, which the paper's values are of, or before them, as in
    /// the paper's Algorithm E.1.
    #[serde(default)]
    pub quantile_update: QuantileUpdate,
    /// What they are estimated by: the rules of the paper's appendix D.
    #[serde(default, skip_serializing_if = "QuantileEstimator::is_sample")]
    pub quantile_estimator: QuantileEstimator,
    /// Share of a new estimate in the user's moving average, above 0 and at most 1.
    pub update_rate: f64,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

impl SogSoftmaxAtK {
    /// The users' averages after this batch.
    pub(super) fn averages(&self, scores: &Scores) -> Result<Tensor> {
        let [before] = columns(scores.given.columns, "sog-softmax-at-k")?;
        sog_clr_averages(scores.negatives, before, self.temperature, self.update_rate)
    }
}

impl LossKind for SogSoftmaxAtK {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "none; IR-Benchmark's release", values: "`update_rate` tuned from 0.1 to 0.9", cost: facts::QUANTILES }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_above_zero("weight_temperature", self.weight_temperature)?;
        check_update_rate(self.update_rate)?;
        self.quantile_estimator.check()?;
        match (self.cutoff, self.quantile_every) {
            (0, _) => Err("cutoff is 0: expected at least 1".into()),
            (_, 0) => Err("quantile_every is 0: expected at least 1 epoch".into()),
            _ => Ok(()),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let quantiles = scores::given(given.quantiles, "sog-softmax-at-k", "the quantiles of the batch's users")?;
        let weights = sog_softmax_at_k_weights(positives, quantiles, self.weight_temperature)?;
        sog_softmax_at_k(positives, negatives, &weights, &self.averages(scores)?, self.temperature)
    }

    fn quantiles(&self) -> Option<QuantileSchedule> {
        Some(QuantileSchedule {
            cutoff: self.cutoff,
            every: self.quantile_every,
            update: self.quantile_update,
            estimator: self.quantile_estimator,
        })
    }

    fn columns(&self) -> Vec<StateSpec> {
        sog_clr::columns()
    }

    fn remembered(&self, scores: &Scores) -> Result<Vec<Tensor>> {
        Ok(vec![self.averages(scores)?])
    }

    fn couples_rows(&self) -> bool {
        true
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
const NEEDS_DRAWS: &str = "sog-softmax-at-k averages what draws say of all items; over all items take softmax-at-k";

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]`, their `weights [B]` (see [`sog_softmax_at_k_weights`]) and the
/// users' `log_averages [B]`, which hold this batch's estimates already (see [`sog_clr_averages`](super::sog_clr_averages())).
pub fn sog_softmax_at_k(
    positives: &Tensor,
    negatives: &Tensor,
    weights: &Tensor,
    log_averages: &Tensor,
    temperature: f64,
) -> Result<Tensor> {
    let pull = ((positives * weights.detach())? / temperature)?;
    estimate_over_average(negatives, log_averages, temperature)? - pull
}

/// The weights of all positives of a batch, `[B]`, whose mean is 1, from `positives [B]` and `quantiles [B]`.
pub fn sog_softmax_at_k_weights(positives: &Tensor, quantiles: &Tensor, weight_temperature: f64) -> Result<Tensor> {
    let logarithms = log_sigmoid(&((positives - quantiles)?.detach() / weight_temperature)?)?;
    let log_mean = (log_sum_exp(&logarithms.unsqueeze(0)?)? - (positives.elem_count() as f64).ln())?;
    logarithms.broadcast_sub(&log_mean)?.exp()
}

#[cfg(test)]
impl super::contract::Contract for SogSoftmaxAtK {
    fn examples() -> Vec<Self> {
        vec![SogSoftmaxAtK {
            cutoff: 3,
            temperature: 0.2,
            weight_temperature: 1.5,
            quantile_every: 5,
            quantile_update: QuantileUpdate::AfterEpoch,
            quantile_estimator: QuantileEstimator::default(),
            update_rate: 0.9,
            similarity: Similarity::Cosine,
        }]
    }

    /// Averages are held constant.
    fn is_gradient_exact(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::sog_clr;
    use super::super::testing::{EXAMPLE_B, EXAMPLE_C, assert_close, assert_gradients, differentiate};
    use super::*;
    use candle_core::Device;
    use proptest::prelude::*;

    fn settings() -> SogSoftmaxAtK {
        SogSoftmaxAtK {
            cutoff: 3,
            temperature: 0.2,
            weight_temperature: 1.0,
            quantile_every: 5,
            quantile_update: QuantileUpdate::AfterEpoch,
            quantile_estimator: QuantileEstimator::default(),
            update_rate: 0.9,
            similarity: Similarity::Cosine,
        }
    }

    fn weights(positives: &[f64], quantiles: &[f64]) -> Vec<f64> {
        let tensor = |values: &[f64]| Tensor::new(values, &Device::Cpu).unwrap();
        sog_softmax_at_k_weights(&tensor(positives), &tensor(quantiles), 1.0).unwrap().to_vec1().unwrap()
    }

    /// The weights of the reference's worked example of SL@3, over their mean.
    #[test]
    fn weights_of_the_worked_list() {
        let positives = [0, 2, 5].map(|item: usize| EXAMPLE_B[item]);
        let mean = (0.59868766 + 0.5 + 0.40131234) / 3.0;
        assert_close(&weights(&positives, &[0.5; 3]), &[0.59868766, 0.5, 0.40131234].map(|weight| weight / mean), 2e-8);
    }

    /// The parts are those of the reference's worked example of SogCLR: `-s / t` is -3 and `h / g` is 1.06113945.
    #[test]
    fn the_weight_stands_at_the_positive_alone() {
        let inputs: [(&[f64], &[usize]); 4] = [(&[EXAMPLE_C.0], &[1]), (&EXAMPLE_C.1, &[1, 4]), (&[0.5], &[1]), (&[5f64.ln()], &[1])];
        let (value, gradient) = differentiate(&inputs, |x| {
            let averages = sog_clr_averages(&x[1], &x[3], 0.2, 0.9)?;
            sog_softmax_at_k(&x[0], &x[1], &x[2], &averages, 0.2)
        });
        assert_close(&[value], &[-1.5 + 1.06113945], 5e-9);
        assert_close(&gradient[..2].concat(), &[-2.5, 1.36975369, 0.06819602, 3.72337657, 0.14437098], 6e-9);
        assert_eq!([gradient[2][0], gradient[3][0]], [0.0, 0.0], "weight and average are constants");
    }

    /// Where no quantile tells positives apart, all weights are 1 (identity 8).
    #[test]
    fn equal_weights_leave_sog_clr() {
        assert_close(&weights(&[0.1, 0.9, -0.4], &[-1e3; 3]), &[1.0; 3], 1e-12);
        let inputs: [(&[f64], &[usize]); 3] = [(&[EXAMPLE_C.0], &[1]), (&EXAMPLE_C.1, &[1, 4]), (&[2.4], &[1])];
        let one = Tensor::new(&[1.0], &Device::Cpu).unwrap();
        let found = differentiate(&inputs, |x| sog_softmax_at_k(&x[0], &x[1], &one, &x[2], 0.2));
        assert_eq!(found, differentiate(&inputs, |x| sog_clr(&x[0], &x[1], &x[2], 0.2)));
    }

    /// Where every weight vanishes, their proportions are left.
    #[test]
    fn weights_far_below_the_quantile_are_finite() {
        assert_close(&weights(&[-1e4, -1e4 - 1.0], &[1e4; 2]), &[1.46211716, 0.53788284], 5e-9); // 2 / (1 + 1/e)
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |settings: SogSoftmaxAtK| settings.check().unwrap_err();
        assert!(message(SogSoftmaxAtK { temperature: 0.0, ..settings() }).starts_with("temperature is 0:"));
        assert!(message(SogSoftmaxAtK { weight_temperature: -1.0, ..settings() }).starts_with("weight_temperature is -1:"));
        assert!(message(SogSoftmaxAtK { update_rate: 2.0, ..settings() }).starts_with("update_rate is 2:"));
        assert!(message(SogSoftmaxAtK { cutoff: 0, ..settings() }).starts_with("cutoff is 0:"));
        assert!(message(SogSoftmaxAtK { quantile_every: 0, ..settings() }).starts_with("quantile_every is 0:"));
    }

    proptest! {
        #[test]
        fn gradients_are_central_differences(scores in prop::collection::vec(-1.0f64..1.0, 8)) {
            let inputs: [(&[f64], &[usize]); 2] = [(&scores[..2], &[2]), (&scores[2..], &[2, 3])];
            let [weights, averages] = [[0.7, 1.3], [2.0, 1.0]].map(|values| Tensor::new(&values, &Device::Cpu).unwrap());
            assert_gradients(&inputs, 1e-6, |x| sog_softmax_at_k(&x[0], &x[1], &weights, &averages, 0.2));
        }
    }
}
