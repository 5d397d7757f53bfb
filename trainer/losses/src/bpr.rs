//! Bayesian personalised ranking.
//!
//! ```text
//! l(u, i) = sum_j w_j softplus(s_uj - s_ui)
//! ```
//! The negatives are summed, w = 1, unless the sampler weighs them; most releases draw one. RecBole's 1e-10 inside the logarithm, which
//! ends the gradient of badly ranked pairs, is left out. Rendle et al., UAI 2009, arXiv:1205.2618.

use super::primitives::{margins, softplus, sum_over_negatives};
use super::{Facts, FusedLoss, Kernel, LossKind, Scores, fused::bpr as rows, fused::with_derivative};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `bpr` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bpr {
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

impl LossKind for Bpr {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Rendle et al., UAI 2009",
            values: "SL@K: one negative; Adam 0.001 / 0.001 / 0.001 / 0.0001, decay 1e-4 / 1e-5 / 1e-6 / 0",
            cost: "O(N)",
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        bpr(positives, negatives, given.weights)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel { name: "weigh_bpr", arguments: vec![] })
    }

    fn weighs_negatives(&self) -> bool {
        true
    }
}

impl FusedLoss for Bpr {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| rows::bpr(positive, negatives))
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn weighted_row(&self, positives: &mut [f32], negatives: &mut [f32], weights: &[f32]) -> f32 {
        with_derivative(positives, |positive| rows::weighted_bpr(positive, negatives, weights))
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the negatives' `weights [B, N]`.
pub fn bpr(positives: &Tensor, negatives: &Tensor, weights: Option<&Tensor>) -> Result<Tensor> {
    sum_over_negatives(&softplus(&margins(positives, negatives)?)?, weights)
}

#[cfg(test)]
impl super::contract::Contract for Bpr {
    fn examples() -> Vec<Self> {
        vec![Bpr { similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_A, assert_close, evaluate_row};
    use super::*;
    use crate::Loss;

    const BPR: Loss = Loss::Bpr(Bpr { similarity: Similarity::Dot });

    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate_row(&BPR, EXAMPLE_A.0, &EXAMPLE_A.1, 0.0);
        assert_close(&[value, value / 4.0], &[1.89745909, 0.47436477], 5e-9);
        assert_close(&gradient, &[-1.43216542, 0.42555748, 0.18242552, 0.57444252, 0.24973989], 6e-9);
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
    }

    #[test]
    fn scores_of_hundreds() {
        let (value, gradient) = evaluate_row(&BPR, 500.0, &[800.0, -300.0, 790.0], 0.0);
        assert_close(&[value], &[590.0], 1e-9);
        assert_close(&gradient, &[-2.0, 1.0, 0.0, 1.0], 1e-9);
    }
}
