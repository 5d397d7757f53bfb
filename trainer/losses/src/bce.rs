//! Binary cross-entropy.
//!
//! ```text
//! l(u, i) = softplus(-s_ui) + sum_j w_j softplus(s_uj)
//! ```
//! The negatives are summed, w = 1 unless the sampler weighs them, as in "A Theoretical Analysis of Recommendation Loss Functions under
//! Negative Sampling"; RecStudio takes their mean, which gives all of them together the weight of the positive.

use super::primitives::{softplus, sum_over_negatives};
use super::{
    Facts, FusedLoss, Kernel, LossKind, Scores,
    fused::{bce as rows, with_derivative},
};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `bce` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bce {
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

impl LossKind for Bce {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Di Teodoro et al., \"A Theoretical Analysis\"", values: "1 to 100 negatives; Adam 0.001", cost: "O(N)" }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        bce(positives, negatives, given.weights)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel { name: "weigh_bce", arguments: vec![] })
    }

    fn weighs_negatives(&self) -> bool {
        true
    }

    /// 1: rows are made without a graph, and round otherwise.
    fn revision(&self) -> u32 {
        1
    }
}

impl FusedLoss for Bce {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| rows::bce(positive, negatives))
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn weighted_row(&self, positives: &mut [f32], negatives: &mut [f32], weights: &[f32]) -> f32 {
        with_derivative(positives, |positive| rows::weighted_bce(positive, negatives, weights))
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the negatives' `weights [B, N]`.
pub fn bce(positives: &Tensor, negatives: &Tensor, weights: Option<&Tensor>) -> Result<Tensor> {
    softplus(&positives.neg()?)? + sum_over_negatives(&softplus(negatives)?, weights)?
}

#[cfg(test)]
impl super::contract::Contract for Bce {
    fn examples() -> Vec<Self> {
        vec![Bce { similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_A, assert_close, evaluate_row};
    use super::*;
    use crate::Loss;

    const BCE: Loss = Loss::Bce(Bce { similarity: Similarity::Dot });

    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate_row(&BCE, EXAMPLE_A.0, &EXAMPLE_A.1, 0.0);
        assert_close(&[value], &[4.50460152], 5e-9);
        assert_close(&gradient, &[-0.23147522, 0.7109495, 0.42555748, 0.81757448, 0.52497919], 5e-9);
    }

    #[test]
    fn scores_of_hundreds() {
        let (value, gradient) = evaluate_row(&BCE, 500.0, &[800.0, -300.0, 790.0], 0.0);
        assert_close(&[value], &[1590.0], 1e-9);
        assert_close(&gradient, &[0.0, 1.0, 0.0, 1.0], 1e-9);
    }

    /// Above BPR when the positive's score is not negative, and not without that: THEORY section 1.
    #[test]
    fn the_bound_on_bpr_needs_a_score_above_zero() {
        let bpr = Loss::Bpr(super::super::Bpr { similarity: Similarity::Dot });
        let values = |negatives: &[f64]| [&bpr, &BCE].map(|loss| evaluate_row(loss, -2.0, negatives, 0.0).0);
        assert_close(&values(&[0.0; 3]), &[6.3808, 4.2064], 5e-5);
        assert_close(&values(&[0.0; 1]), &[2.1269, 2.8201], 5e-5);
    }
}
