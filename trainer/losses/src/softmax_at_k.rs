//! Softmax loss at K (SL@K).
//!
//! ```text
//! l(u, i) = w_ui log sum_j exp((s_uj - s_ui) / t),   w_ui = sigmoid((s_ui - b_u) / t_w)
//! ```
//! `b_u` is the user's top-K quantile, the K-th largest score of all items; it is a constant of the gradient and is estimated now and then
//! (see [`quantile`](super::quantile), and there why `quantile_update` is `after-epoch` unless the paper's time is asked for). The weight carries a gradient, as in the authors' release; `detach_weight` stops it. The bound on
//! DCG@K (Theorem 3.1) needs the sum over all items with the positive; the release sums over the drawn negatives only, and so does
//! this, unless `include_positive` adds the positive. Yang et al., "Breaking the Top-K Barrier", KDD 2025, arXiv:2508.05673.

use super::primitives::sigmoid;
use super::{
    Facts, FusedLoss, Kernel, KernelArgument::*, LossKind, QuantileEstimator, QuantileSchedule, QuantileUpdate, Scores, check_above_zero,
    facts, fused::softmax as rows, fused::with_derivative, scores, softmax,
};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `softmax-at-k` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftmaxAtK {
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
    /// Whether the weights are constants of the gradient.
    #[serde(default)]
    pub detach_weight: bool,
    /// Whether the positive stands in the sum beside the negatives.
    #[serde(default)]
    pub include_positive: bool,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

impl LossKind for SoftmaxAtK {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Yang et al., KDD 2025 (SL@K)",
            values: "at K = 20: `temperature` 0.2 / 0.2 / 0.1 / 0.05, `weight_temperature` 2.5 / 2.25 / 1 / 0.5, `quantile_every` 5 / 5 / 20 / 20; \
                 Adam 0.1",
            cost: facts::QUANTILES,
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_above_zero("weight_temperature", self.weight_temperature)?;
        self.quantile_estimator.check()?;
        match (self.cutoff, self.quantile_every) {
            (0, _) => Err("cutoff is 0: expected at least 1".into()),
            (_, 0) => Err("quantile_every is 0: expected at least 1 epoch".into()),
            _ => Ok(()),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let quantiles = scores::given(given.quantiles, "softmax-at-k", "the quantiles of the batch's users")?;
        softmax_at_k(positives, negatives, quantiles, self)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        let weight = [Quantiles, Users, Number(1.0 / self.weight_temperature as f32), Flag(self.detach_weight)];
        Some(softmax::kernel(self.temperature, self.include_positive, 1.0, weight))
    }

    fn quantiles(&self) -> Option<QuantileSchedule> {
        Some(QuantileSchedule {
            cutoff: self.cutoff,
            every: self.quantile_every,
            update: self.quantile_update,
            estimator: self.quantile_estimator,
        })
    }
}

impl FusedLoss for SoftmaxAtK {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], quantile: f32) -> f32 {
        let inverse_temperature = 1.0 / self.weight_temperature as f32;
        with_derivative(positives, |positive| {
            let weight = 1.0 / (1.0 + ((quantile - positive) * inverse_temperature).exp());
            let (loss, derivative) = rows::softmax(self.temperature as f32, self.include_positive, positive, negatives, weight);
            let slope = if self.detach_weight { 0.0 } else { weight * (1.0 - weight) * inverse_temperature };
            (weight * loss, derivative + slope * loss)
        })
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and `quantiles [B]`.
pub fn softmax_at_k(positives: &Tensor, negatives: &Tensor, quantiles: &Tensor, settings: &SoftmaxAtK) -> Result<Tensor> {
    let weights = sigmoid(&((positives - quantiles.detach())? / settings.weight_temperature)?)?;
    let weights = if settings.detach_weight { weights.detach() } else { weights };
    weights * softmax(positives, negatives, settings.temperature, settings.include_positive)?
}

#[cfg(test)]
impl super::contract::Contract for SoftmaxAtK {
    fn examples() -> Vec<Self> {
        let switches = [(false, false), (true, false), (false, true)];
        let example = |(include_positive, detach_weight)| SoftmaxAtK {
            cutoff: 3,
            temperature: 0.2,
            weight_temperature: 1.5,
            quantile_every: 5,
            quantile_update: QuantileUpdate::AfterEpoch,
            quantile_estimator: QuantileEstimator::default(),
            detach_weight,
            include_positive,
            similarity: Similarity::Cosine,
        };
        switches.map(example).into()
    }

    fn is_gradient_exact(&self) -> bool {
        !self.detach_weight
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_B, EXAMPLE_C, assert_close, evaluate, evaluate_row};
    use super::super::{Loss, Softmax};
    use super::*;
    use proptest::prelude::*;

    /// Positive items of the worked list.
    const POSITIVES: [usize; 3] = [0, 2, 5];

    fn settings(temperature: f64, weight_temperature: f64) -> SoftmaxAtK {
        SoftmaxAtK {
            cutoff: 3,
            temperature,
            weight_temperature,
            quantile_every: 5,
            quantile_update: QuantileUpdate::AfterEpoch,
            quantile_estimator: QuantileEstimator::default(),
            detach_weight: false,
            include_positive: false,
            similarity: Similarity::Cosine,
        }
    }

    /// The sum over a user's positives, each against `negatives`; values, and gradients by positives and by negatives (summed).
    fn of_user(settings: SoftmaxAtK, positives: &[f64], negatives: &[f64], quantile: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let rows = vec![negatives.to_vec(); positives.len()];
        let found = evaluate(&Loss::SoftmaxAtK(settings), positives, &rows, &vec![quantile; positives.len()]);
        let by_negatives = (0..negatives.len()).map(|at| found.by_negatives.iter().map(|row| row[at]).sum()).collect();
        (found.values, found.by_positives, by_negatives)
    }

    #[test]
    fn worked_example_of_drawn_negatives() {
        let positives = POSITIVES.map(|item| EXAMPLE_B[item]);
        let negatives = [3, 4, 6].map(|item: usize| EXAMPLE_B[item]);
        let (values, ..) = of_user(settings(0.2, 1.0), &positives, &negatives, 0.5);
        let weights = [0.59868766, 0.5, 0.40131234];
        let softmaxes = [-0.99179239, 1.00820761, 3.00820761];
        assert_close(&values, &[0, 1, 2].map(|at| weights[at] * softmaxes[at]), 2e-8);
        assert_close(&[values.iter().sum(), values.iter().sum::<f64>() / 3.0], &[1.11756078, 0.37252026], 5e-9);
    }

    /// The form of the theory: rows hold all items, the positive itself among them.
    #[test]
    fn worked_example_of_all_items() {
        let positives = POSITIVES.map(|item| EXAMPLE_B[item]);
        let (values, by_positives, by_items) = of_user(settings(0.2, 1.0), &positives, &EXAMPLE_B, 0.5);
        let mut gradient = by_items;
        POSITIVES.iter().zip(by_positives).for_each(|(&item, by)| gradient[item] += by);
        assert_close(&[values.iter().sum()], &[3.34440489], 5e-9);
        let expected = [1.70694171, 0.13836401, -1.25670295, 0.01135761, 1.68561868, -0.84320333, 0.00253423, 0.37611237];
        assert_close(&gradient, &expected, 6e-9);
    }

    #[test]
    fn blunt_weights_halve_the_softmax_loss() {
        let softmax = Loss::Softmax(Softmax { temperature: 0.2, include_positive: false, similarity: Similarity::Cosine });
        let (value, gradient) = evaluate_row(&softmax, EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        let found = evaluate_row(&Loss::SoftmaxAtK(settings(0.2, 1e15)), EXAMPLE_C.0, &EXAMPLE_C.1, 0.1);
        assert_close(&[found.0], &[value / 2.0], 1e-12);
        assert_close(&found.1, &gradient.iter().map(|by| by / 2.0).collect::<Vec<_>>(), 1e-12);
    }

    #[test]
    fn weights_of_one_leave_the_softmax_loss() {
        let softmax = Loss::Softmax(Softmax { temperature: 0.2, include_positive: false, similarity: Similarity::Cosine });
        let expected = evaluate_row(&softmax, EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        let found = evaluate_row(&Loss::SoftmaxAtK(settings(0.2, 1.0)), EXAMPLE_C.0, &EXAMPLE_C.1, -1e3);
        assert_close(&[found.0], &[expected.0], 1e-12);
        assert_close(&found.1, &expected.1, 1e-12);
    }

    #[test]
    fn a_detached_weight_only_scales_the_gradient_of_the_softmax_loss() {
        let softmax = Loss::Softmax(Softmax { temperature: 0.2, include_positive: false, similarity: Similarity::Cosine });
        let (value, gradient) = evaluate_row(&softmax, EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        let detached = SoftmaxAtK { detach_weight: true, ..settings(0.2, 1.0) };
        let found = evaluate_row(&Loss::SoftmaxAtK(detached), EXAMPLE_C.0, &EXAMPLE_C.1, 0.1);
        let weight = 0.6224593312018546; // sigmoid(0.5)
        assert_close(&[found.0], &[weight * value], 1e-12);
        assert_close(&found.1, &gradient.iter().map(|by| weight * by).collect::<Vec<_>>(), 1e-12);
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |settings: SoftmaxAtK| Loss::SoftmaxAtK(settings).check().unwrap_err();
        assert!(message(settings(0.0, 1.0)).starts_with("temperature is 0:"));
        assert!(message(settings(0.1, -1.0)).starts_with("weight_temperature is -1:"));
        assert!(message(SoftmaxAtK { cutoff: 0, ..settings(0.1, 1.0) }).starts_with("cutoff is 0:"));
        assert!(message(SoftmaxAtK { quantile_every: 0, ..settings(0.1, 1.0) }).starts_with("quantile_every is 0:"));
    }

    #[test]
    fn without_quantiles_it_says_what_is_missing() {
        let scores = Tensor::zeros((2, 3), candle_core::DType::F32, &candle_core::Device::Cpu).unwrap();
        let positives = scores.get_on_dim(1, 0).unwrap();
        let scores = super::super::Scores { positives: &positives, negatives: &scores, items: 10, given: super::super::Given::default() };
        let error = Loss::SoftmaxAtK(settings(0.2, 1.0)).forward(&scores).unwrap_err();
        assert!(error.to_string().contains("needs the quantiles"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// Theorem 3.1: with the exact quantile and the sum over all items, `-log DCG@K` is below the loss when at least two positives reach
        /// the list, and half of it when one does.
        #[test]
        fn it_bounds_dcg_at_k(
            items in prop::collection::vec((-1.0f64..1.0, any::<bool>()), 2..30),
            k in 1usize..12,
            temperature in 0.02f64..2.0,
            weight_temperature in 0.1f64..5.0,
        ) {
            let all: Vec<f64> = items.iter().map(|item| item.0).collect();
            let positives: Vec<f64> = items.iter().filter(|item| item.1).map(|item| item.0).collect();
            let mut sorted = all.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let quantile = sorted[k.min(sorted.len()) - 1];
            let hits: Vec<f64> = positives.iter().copied().filter(|&score| score >= quantile).collect();
            prop_assume!(!hits.is_empty());
            let rank = |score: f64| sorted.iter().filter(|&&other| other >= score).count() as f64;
            let dcg: f64 = hits.iter().map(|&score| 1.0 / (1.0 + rank(score)).log2()).sum();
            let bound = -dcg.ln() * if hits.len() == 1 { 0.5 } else { 1.0 };
            let (values, ..) = of_user(settings(temperature, weight_temperature), &positives, &all, quantile);
            prop_assert!(bound <= values.iter().sum::<f64>() + 1e-12, "{bound} {values:?}");
        }
    }
}
