//! LambdaLoss (NDCG-Loss2).
//!
//! ```text
//! l(u, i) = sum_j m_uij softplus(s_uj - s_ui),   m = 1 / log2(d + 1) - 1 / log2(d + 2),   d = |r_ui - r_uj|
//! ```
//! A bound on DCG. Where paper SL@K draws one negative for each positive, its release weighs by `1 / log2(d + 1)` alone
//! (`weights: release`). Items that share a rank are taken to be one apart.
//! Wang et al., "The LambdaLoss Framework for Ranking Metric Optimization", CIKM 2018; paper SL@K, equations 2.3 and 2.5.

use super::{Pair, Weights, distances, weigh_pairs, weight_of_distance};
use crate::ranks::{RankSource, with_ranks};
use crate::{Facts, LossKind, Scores, facts};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `lambda-loss` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LambdaLoss {
    /// Where ranks come from.
    #[serde(default)]
    pub ranks: RankSource,
    /// Which formula of the weights.
    #[serde(default)]
    pub weights: Weights,
    /// How two vectors make a score.
    #[serde(default = "super::super::dot")]
    pub similarity: Similarity,
}

impl LossKind for LambdaLoss {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Wang et al., CIKM 2018",
            values: "SL@K, on Movielens or Food: one negative; Adam 0.01, decay 1e-5; sampled ranks: Adam 0.001, decay 1e-4",
            cost: facts::RANKS,
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        with_ranks(self.ranks, scores, |ranks| lambda_loss(positives, negatives, given.weights, ranks, self.weights))
    }

    fn rank_source(&self) -> Option<RankSource> {
        Some(self.ranks)
    }

    fn weighs_negatives(&self) -> bool {
        true
    }

    /// That of the [ranks](RankSource).
    fn revision(&self) -> u32 {
        self.ranks.revision()
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the ranks of both; `draws [B, N]` are further weights of the
/// negatives.
pub fn lambda_loss(positives: &Tensor, negatives: &Tensor, draws: Option<&Tensor>, ranks: Pair, weights: Weights) -> Result<Tensor> {
    weigh_pairs(positives, negatives, draws, &weight_of_distance(&distances(ranks)?, weights)?)
}

#[cfg(test)]
impl crate::contract::Contract for LambdaLoss {
    fn examples() -> Vec<Self> {
        let switches = [(crate::ranks::EXACT, Weights::Paper), (crate::ranks::SAMPLED, Weights::Release)];
        switches.map(|(ranks, weights)| LambdaLoss { ranks, weights, similarity: Similarity::Dot }).into()
    }

    /// Sampled ranks are those of the moved scores.
    fn is_gradient_exact(&self) -> bool {
        self.needs_ranks()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::assert_close;
    use super::super::testing::{assert_family, worked_list, worked_pair};
    use super::*;

    fn paper(positives: &Tensor, negatives: &Tensor, ranks: Pair) -> Result<Tensor> {
        lambda_loss(positives, negatives, None, ranks, Weights::Paper)
    }

    fn release(positives: &Tensor, negatives: &Tensor, ranks: Pair) -> Result<Tensor> {
        lambda_loss(positives, negatives, None, ranks, Weights::Release)
    }

    #[test]
    fn worked_example() {
        assert_close(&[worked_pair(paper), worked_pair(release)], &[0.36907025, 1.0], 5e-9);
        let (value, gradient) = worked_list(paper);
        assert_close(&[value], &[1.5851469], 5e-9);
        let expected = [-0.21541095, 0.26401359, -0.45520147, 0.16699366, 0.39736533, -0.48881743, 0.05435719, 0.27670008];
        assert_close(&gradient, &expected, 6e-9);
    }

    #[test]
    fn both_are_of_the_family() {
        assert_family(paper);
        assert_family(release);
    }

    #[test]
    fn defaults_are_the_paper() {
        let default = LambdaLoss { ranks: RankSource::default(), weights: Weights::Paper, similarity: Similarity::Dot };
        assert_eq!(serde_json::from_str::<LambdaLoss>("{}").unwrap(), default);
    }
}
