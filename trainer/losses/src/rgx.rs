//! The softmax over the candidates in its quadratic approximation, with products of two scores (RG×).
//!
//! ```text
//! l(u, i) = log C - s_ui + mean_c s_uc + (mean_c s_uc^2 - (mean_c s_uc)^2) / 2      over the C candidates: i and its negatives
//! ```
//! As [`Rg2`](super::Rg2), and like the softmax the same when all scores are shifted alike. With `exclude: row` of the sampler `all` the sum over a
//! user's positives is the paper's RG×, which the backbone `rgx` minimises by alternating least squares. Paper RG, Equations 13 to 18.

use super::{Facts, FusedLoss, LossKind, Scores, fused::quadratic, fused::with_derivative, quadratic_softmax::series};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `rgx` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rgx {
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

impl LossKind for Rgx {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "RG", values: "`all` with `exclude: row`, `dim` 64", cost: "O(N)" }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        rgx(scores.positives, scores.negatives)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }
}

impl FusedLoss for Rgx {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| quadratic::quadratic(true, positive, negatives))
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn rgx(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    series(positives, negatives, true)
}

#[cfg(test)]
impl super::contract::Contract for Rgx {
    fn examples() -> Vec<Self> {
        vec![Rgx { similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, evaluate_row, of_all_items};
    use super::*;
    use crate::Loss;

    const RGX: Loss = Loss::Rgx(Rgx { similarity: Similarity::Dot });

    /// The reference's example: RG× 2.04226562 and its constant 3.73832463, and the gradient by all items.
    #[test]
    fn the_sum_over_positives_is_the_papers() {
        let (value, gradient) = of_all_items(&RGX);
        assert_close(&[value], &[2.04226562 + 3.73832463], 1e-8);
        let expected = [-0.3765625, 0.3609375, -0.5265625, 0.1734375, 0.5484375, -0.6765625, 0.0609375, 0.4359375];
        assert_close(&gradient, &expected, 1e-12);
    }

    /// The remainder to the softmax falls with the third power of the scores.
    #[test]
    fn it_is_the_softmax_to_the_second_order() {
        let remainder = |scale: f64| {
            let negatives = [0.5, -0.3, 0.9, 0.1].map(|score: f64| score * scale);
            let (series, _) = evaluate_row(&RGX, 0.7 * scale, &negatives, 0.0);
            let sum = negatives.iter().chain([&(0.7 * scale)]).map(|score| score.exp()).sum::<f64>();
            (sum.ln() - 0.7 * scale - series).abs()
        };
        let ratio = remainder(0.02) / remainder(0.01);
        assert!((7.9..8.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn shifts_change_nothing() {
        let (found, _) = evaluate_row(&RGX, 1.6, &[1.5, 0.9, 1.7], 0.0);
        let (expected, _) = evaluate_row(&RGX, 0.6, &[0.5, -0.1, 0.7], 0.0);
        assert_close(&[found], &[expected], 1e-12);
    }
}
