//! The softmax over the candidates in its quadratic approximation, without products of two scores (RG²).
//!
//! ```text
//! l(u, i) = log C - s_ui + mean_c (s_uc + s_uc^2 / 2)      over the C candidates: i and its negatives
//! ```
//! With `exclude: row` of the sampler `all` the candidates are all items, and the sum over a user's positives is the paper's RG²; with drawn
//! negatives it is the paper's sampled form, which comes near it as they grow in number. The backbone `rg2` minimises the former by alternating
//! least squares; here it is trained by gradients, on any model. Negatives that a sampler masks are no candidates. Scores are not
//! bounded by it from above as by the softmax: it is a parabola that is smallest at scores near 0. Paper RG, Equations 13 to 18.

use super::{Facts, FusedLoss, LossKind, Scores, fused::quadratic, fused::with_derivative, quadratic_softmax::series};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `rg2` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rg2 {
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

impl LossKind for Rg2 {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "RG", values: "`all` with `exclude: row`, `dim` 64", cost: "O(N)" }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        rg2(scores.positives, scores.negatives)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }
}

impl FusedLoss for Rg2 {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| quadratic::quadratic(false, positive, negatives))
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn rg2(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    series(positives, negatives, false)
}

#[cfg(test)]
impl super::contract::Contract for Rg2 {
    fn examples() -> Vec<Self> {
        vec![Rg2 { similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, evaluate_row, of_all_items};
    use super::*;
    use crate::Loss;

    const RG2: Loss = Loss::Rg2(Rg2 { similarity: Similarity::Dot });

    /// The reference's example: RG² 2.126875 and its constant 3.73832463, and the gradient by all items.
    #[test]
    fn the_sum_over_positives_is_the_papers() {
        let (value, gradient) = of_all_items(&RG2);
        assert_close(&[value], &[2.126875 + 3.73832463], 5e-9);
        assert_close(&gradient, &[-0.2875, 0.45, -0.4375, 0.2625, 0.6375, -0.5875, 0.15, 0.525], 1e-12);
    }

    #[test]
    fn masked_entries_are_no_candidates() {
        let expected = evaluate_row(&RG2, 0.6, &[0.5, 0.7], 0.0);
        let found = evaluate_row(&RG2, 0.6, &[0.5, -1e30, 0.7, -1e30], 0.0);
        assert_close(&[found.0], &[expected.0], 1e-12);
        assert_close(&found.1, &[expected.1[0], expected.1[1], 0.0, expected.1[2], 0.0], 1e-12);
    }
}
