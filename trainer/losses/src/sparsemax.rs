//! Sparsemax loss.
//!
//! ```text
//! l(u, i) = -s_ui + 1/2 sum_{j: s_uj > h} (s_uj^2 - h^2) + 1/2,   where h solves   sum_j max(s_uj - h, 0) = 1
//!         = 1/2 + (h - s_ui) + 1/2 sum_j max(s_uj - h, 0)^2
//! ```
//! The sums run over the positive and its negatives. Of the gradient `p - e_i`, `p_j = max(s_uj - h, 0)` is a distribution in which low
//! scores have none, and the loss is 0 from a lead of 1 on. The second line is what is computed: it has no difference of squares, and is
//! least in h, so that h is a constant of the gradient. RecStudio's sums run over all items, the user's other positives too; with
//! the sampler `all` these are the items that are not train positives, and with drawn negatives their sample.
//! Martins and Astudillo, "From Softmax to Sparsemax", ICML 2016, arXiv:1602.02068.

use super::{Facts, FusedLoss, LossKind, Scores, fused::sparsemax, fused::with_derivative};
use candle_core::{D, DType, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `sparsemax` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sparsemax {
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

impl LossKind for Sparsemax {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Martins and Astudillo, ICML 2016", values: "–", cost: "O(N log N)" }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        sparsemax(positives, negatives)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn lacks_kernel(&self) -> Option<&'static str> {
        Some("sorts its scores")
    }
}

impl FusedLoss for Sparsemax {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| sparsemax::sparsemax(positive, negatives))
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn sparsemax(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    let scores = Tensor::cat(&[&positives.unsqueeze(1)?, negatives], 1)?;
    let thresholds = thresholds(&scores)?;
    let squares = scores.broadcast_sub(&thresholds.unsqueeze(1)?)?.relu()?.sqr()?.sum(D::Minus1)?;
    ((thresholds - positives)? + 0.5)? + (squares * 0.5)?
}

/// `h` of each row, `[B]`, a constant of the gradient.
fn thresholds(scores: &Tensor) -> Result<Tensor> {
    let rows = scores.to_dtype(DType::F64)?.to_vec2::<f64>()?;
    let thresholds: Vec<f64> = rows.into_iter().map(threshold).collect();
    Tensor::new(thresholds, scores.device())?.to_dtype(scores.dtype())
}

/// `(sum of the k largest - 1) / k` for the largest k whose smallest member is above it.
fn threshold(mut scores: Vec<f64>) -> f64 {
    scores.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, f64::NAN);
    for (count, score) in (1..).zip(scores) {
        sum += score;
        let candidate = (sum - 1.0) / f64::from(count);
        if score <= candidate {
            break;
        }
        threshold = candidate;
    }
    threshold
}

#[cfg(test)]
impl super::contract::Contract for Sparsemax {
    fn examples() -> Vec<Self> {
        vec![Sparsemax { similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_B, assert_close, evaluate_row};
    use super::*;
    use crate::Loss;
    use proptest::prelude::*;

    const SPARSEMAX: Loss = Loss::Sparsemax(Sparsemax { similarity: Similarity::Dot });

    /// Item 2 of the worked list against the seven others; the gradient in the order of the items.
    #[test]
    fn worked_example() {
        let others = [0, 1, 3, 4, 5, 6, 7].map(|item: usize| EXAMPLE_B[item]);
        let (value, mut gradient) = evaluate_row(&SPARSEMAX, EXAMPLE_B[2], &others, 0.0);
        gradient[..3].rotate_left(1);
        assert_close(&[value], &[0.57375], 1e-12);
        assert_close(&gradient, &[0.525, 0.0, 0.125 - 1.0, 0.0, 0.325, 0.0, 0.0, 0.025], 1e-12);
        assert_close(&[threshold(EXAMPLE_B.to_vec())], &[0.375], 1e-12);
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
    }

    #[test]
    fn scores_of_hundreds() {
        let (value, gradient) = evaluate_row(&SPARSEMAX, 500.0, &[800.0, -300.0, 790.0], 0.0);
        assert_close(&[value], &[300.0], 1e-9);
        assert_close(&gradient, &[-1.0, 1.0, 0.0, 0.0], 1e-9);
    }

    proptest! {
        #[test]
        fn it_is_zero_from_a_lead_of_1_on(positive in -2.0f64..2.0, negatives in prop::collection::vec(-2.0f64..2.0, 1..30)) {
            let (value, gradient) = evaluate_row(&SPARSEMAX, positive, &negatives, 0.0);
            let lead = positive - negatives.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if lead >= 1.0 {
                assert_close(&[value], &[0.0], 1e-12);
                assert_close(&gradient, &vec![0.0; gradient.len()], 1e-12);
            }
            prop_assert!(lead > 0.999 || value > 1e-7, "{} at a lead of {}", value, lead);
        }

        /// The formula as the paper prints it.
        #[test]
        fn it_is_the_difference_of_squares(positive in -2.0f64..2.0, negatives in prop::collection::vec(-2.0f64..2.0, 1..30)) {
            let scores: Vec<f64> = [&[positive][..], &negatives].concat();
            let h = threshold(scores.clone());
            let squares: f64 = scores.iter().filter(|&&score| score > h).map(|score| score * score - h * h).sum();
            assert_close(&[evaluate_row(&SPARSEMAX, positive, &negatives, 0.0).0], &[-positive + squares / 2.0 + 0.5], 1e-12);
            assert_close(&[scores.iter().map(|score| (score - h).max(0.0)).sum()], &[1.0], 1e-12);
        }
    }
}
