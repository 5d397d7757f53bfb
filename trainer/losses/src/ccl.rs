//! Cosine contrastive loss (CCL) of SimpleX.
//!
//! ```text
//! l(u, i) = (1 - s_ui) + (w / N) sum_j max(s_uj - m, 0)
//! ```
//! Negatives below the margin `m` are left alone. The mean is over the negatives that are there: under the sampler `all`, over the items
//! that are not train positives. The authors' release takes `max(1 - s_ui, 0)`, which is the same for cosines; without a weight it sums
//! over the negatives, which is `w = N`. RecBole's values are `m = 0.5` and `w = 10`, AdvInfoNCE's release has `m = 0.4`.
//! Mao et al., "SimpleX: A Simple and Strong Baseline for Collaborative Filtering", CIKM 2021, arXiv:2109.12613.

use super::primitives::{is_item, sum_over_negatives};
use super::{
    Facts, FusedLoss, Kernel, KernelArgument::Number, LossKind, Scores, check_above_zero, fused::ccl as rows, fused::with_derivative,
};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `ccl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ccl {
    /// The score up to which a negative costs nothing.
    pub margin: f64,
    /// The weight of all negatives together, above 0; the positive's is 1.
    pub negative_weight: f64,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

impl LossKind for Ccl {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Mao et al., CIKM 2021 (SimpleX)",
            values: "RecBole: `margin` 0.5, `negative_weight` 10; AdvInfoNCE's release: `margin` 0.4",
            cost: "O(N)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.margin {
            margin if margin.is_finite() => check_above_zero("negative_weight", self.negative_weight),
            margin => Err(format!("margin is {margin}: expected a finite number")),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        ccl(positives, negatives, given.weights, self)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel { name: "weigh_ccl", arguments: vec![Number(self.margin as f32), Number(self.negative_weight as f32)] })
    }

    fn weighs_negatives(&self) -> bool {
        true
    }
}

impl FusedLoss for Ccl {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| rows::ccl(self.margin as f32, self.negative_weight as f32, positive, negatives))
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the negatives' `weights [B, N]` in place of the mean.
pub fn ccl(positives: &Tensor, negatives: &Tensor, weights: Option<&Tensor>, settings: &Ccl) -> Result<Tensor> {
    let costs = sum_over_negatives(&(negatives - settings.margin)?.relu()?, weights)?;
    let count = is_item(negatives)?.to_dtype(negatives.dtype())?.sum(D::Minus1)?;
    let costs = if weights.is_some() { costs } else { (costs / count)? };
    (1.0 - positives)? + (costs * settings.negative_weight)?
}

#[cfg(test)]
impl super::contract::Contract for Ccl {
    fn examples() -> Vec<Self> {
        vec![Ccl { margin: 0.4005, negative_weight: 10.0, similarity: Similarity::Cosine }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_C, assert_close, evaluate_row};
    use super::*;
    use crate::Loss;

    fn loss(margin: f64, negative_weight: f64) -> Loss {
        Loss::Ccl(Ccl { margin, negative_weight, similarity: Similarity::Cosine })
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate_row(&loss(0.4, 10.0), EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        assert_close(&[value], &[1.4], 1e-12);
        assert_close(&gradient, &[-1.0, 2.5, 0.0, 2.5, 0.0], 1e-12);
    }

    #[test]
    fn masked_entries_are_not_in_the_mean() {
        let expected = evaluate_row(&loss(0.4, 10.0), 0.6, &[0.5, 0.7], 0.0);
        let found = evaluate_row(&loss(0.4, 10.0), 0.6, &[0.5, -1e30, 0.7, -1e30], 0.0);
        assert_close(&[found.0], &[expected.0], 1e-12);
        assert_close(&found.1, &[expected.1[0], expected.1[1], 0.0, expected.1[2], 0.0], 1e-12);
    }

    #[test]
    fn values_that_are_none_are_named() {
        assert!(loss(f64::NAN, 1.0).check().unwrap_err().starts_with("margin is NaN:"));
        assert!(loss(0.4, 0.0).check().unwrap_err().starts_with("negative_weight is 0:"));
    }
}
