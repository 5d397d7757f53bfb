//! LambdaLoss at K (LambdaLoss@K).
//!
//! ```text
//! l(u, i) = sum_j m_uij k_uij softplus(s_uj - s_ui),   k = 1 / (1 - 1 / log2(1 + max(r_ui, r_uj))) if max(r_ui, r_uj) > K, else 1
//! ```
//! `m` is the weight of [`lambda_loss`](super::lambda_loss()). The release of paper SL@K (`weights: release`) has the rank itself in the
//! place of its logarithm: `k = 1 / (1 - 1 / max(r_ui, r_uj))`.
//! Jagerman et al., "On Optimizing Top-K Metrics for Neural Ranking Models", SIGIR 2022; paper SL@K, equations 2.3 to 2.5.

use super::{Pair, Weights, discount, distances, weigh_pairs, weight_of_distance};
use crate::ranks::{RankSource, with_ranks};
use crate::{Facts, LossKind, Scores, facts};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `lambda-loss-at-k` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LambdaLossAtK {
    /// Length of the list that is optimised, K.
    pub cutoff: u32,
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

impl LossKind for LambdaLossAtK {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Jagerman et al., SIGIR 2022",
            values: "SL@K, on Movielens or Food, at K = 20: one negative; Adam 0.001, decay 1e-5; sampled ranks: Adam 0.01, decay 1e-5",
            cost: facts::RANKS,
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.cutoff {
            0 => Err("cutoff is 0: expected at least 1".into()),
            _ => Ok(()),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        with_ranks(self.ranks, scores, |ranks| lambda_loss_at_k(positives, negatives, given.weights, ranks, self.cutoff, self.weights))
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
pub fn lambda_loss_at_k(
    positives: &Tensor,
    negatives: &Tensor,
    draws: Option<&Tensor>,
    ranks: Pair,
    cutoff: u32,
    weights: Weights,
) -> Result<Tensor> {
    let last = ranks.negatives.broadcast_maximum(&ranks.positives.unsqueeze(1)?)?;
    let is_below = last.gt(f64::from(cutoff))?;
    let last = is_below.where_cond(&last, &(last.ones_like()? * 3.0)?)?; // any rank with a finite factor
    let share = match weights {
        Weights::Paper => discount(&last)?,
        Weights::Release => last.recip()?,
    };
    let factor = is_below.where_cond(&(1.0 - share)?.recip()?, &last.ones_like()?)?;
    weigh_pairs(positives, negatives, draws, &(weight_of_distance(&distances(ranks)?, weights)? * factor)?)
}

#[cfg(test)]
impl crate::contract::Contract for LambdaLossAtK {
    fn examples() -> Vec<Self> {
        let switches = [
            (crate::ranks::EXACT, Weights::Paper),
            (crate::ranks::EXACT, Weights::Release),
            (crate::ranks::SAMPLED, Weights::Paper),
            (crate::ranks::AMONG_OTHERS, Weights::Paper),
        ];
        switches.map(|(ranks, weights)| LambdaLossAtK { cutoff: 3, ranks, weights, similarity: Similarity::Dot }).into()
    }

    /// Sampled ranks are those of the moved scores.
    fn is_gradient_exact(&self) -> bool {
        self.needs_ranks()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{EXAMPLE_B, assert_close};
    use super::super::lambda_loss;
    use super::super::testing::{assert_family, of_lists, worked_list, worked_pair};
    use super::*;
    use crate::ranks::ranks_among;

    fn paper(cutoff: u32) -> impl Fn(&Tensor, &Tensor, Pair) -> Result<Tensor> + Copy {
        move |positives, negatives, ranks| lambda_loss_at_k(positives, negatives, None, ranks, cutoff, Weights::Paper)
    }

    fn release(cutoff: u32) -> impl Fn(&Tensor, &Tensor, Pair) -> Result<Tensor> + Copy {
        move |positives, negatives, ranks| lambda_loss_at_k(positives, negatives, None, ranks, cutoff, Weights::Release)
    }

    #[test]
    fn worked_example() {
        assert_close(&[worked_pair(paper(3))], &[0.36907025], 5e-9);
        let (value, gradient) = worked_list(paper(3));
        assert_close(&[value], &[2.22177324], 5e-9);
        let expected = [-0.24853369, 0.41554551, -0.63329746, 0.25049048, 0.41302085, -0.74736756, 0.07940745, 0.47073442];
        assert_close(&gradient, &expected, 6e-9);
    }

    /// The pair's ranks are 3 and 2: at K = 2 the release multiplies its weight of 1 by 1.5.
    #[test]
    fn worked_pair_of_the_release() {
        assert_close(&[worked_pair(release(3)), worked_pair(release(2))], &[1.0, 1.5], 5e-9);
    }

    #[test]
    fn worked_example_of_sampled_ranks() {
        let (positives, negatives) = ([0, 2, 5], [3, 4, 6]);
        let scores: Vec<f64> = positives.iter().chain(&negatives).map(|&item: &usize| EXAMPLE_B[item]).collect();
        let ranks = ranks_among(&scores, Some(8));
        let (value, _) = of_lists(&scores[..3], &scores[3..], &ranks[..3], &ranks[3..], paper(3));
        assert_close(&[value], &[0.94321365], 5e-9);
    }

    /// Identity 11.
    #[test]
    fn with_the_whole_catalogue_in_the_list_it_is_lambda_loss() {
        for weights in [Weights::Paper, Weights::Release] {
            let found = worked_list(|p, n, ranks| lambda_loss_at_k(p, n, None, ranks, 8, weights));
            let expected = worked_list(|p, n, ranks| lambda_loss(p, n, None, ranks, weights));
            assert_close(&[found.0], &[expected.0], 1e-12);
            assert_close(&found.1, &expected.1, 1e-12);
        }
    }

    #[test]
    fn both_are_of_the_family() {
        assert_family(paper(1));
        assert_family(release(1));
        assert_family(paper(3));
    }

    #[test]
    fn a_cutoff_of_nothing_is_named() {
        let settings: LambdaLossAtK = serde_json::from_str(r#"{"cutoff": 0}"#).unwrap();
        assert!(settings.check().unwrap_err().starts_with("cutoff is 0:"));
        assert_eq!(settings.weights, Weights::Paper);
    }
}
