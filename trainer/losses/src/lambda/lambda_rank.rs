//! LambdaRank.
//!
//! ```text
//! l(u, i) = sum_j |1 / log2(1 + r_ui) - 1 / log2(1 + r_uj)| softplus(s_uj - s_ui)
//! ```
//! A pair weighs what DCG would change if its items changed places. It is a heuristic: no bound on DCG belongs to it. Paper SL@K draws one
//! negative for each positive; its release averages over the pairs.
//! Burges, Ragno and Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006.

use super::{Pair, discount, weigh_pairs};
use crate::ranks::{RankSource, with_ranks};
use crate::{Facts, LossKind, Scores, facts};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `lambda-rank` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LambdaRank {
    /// Where ranks come from.
    #[serde(default)]
    pub ranks: RankSource,
    /// How two vectors make a score.
    #[serde(default = "super::super::dot")]
    pub similarity: Similarity,
}

impl LossKind for LambdaRank {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Burges, Ragno and Le, NIPS 2006",
            values: "SL@K, on Movielens or Food: one negative; Adam 0.001, decay 1e-5",
            cost: facts::RANKS,
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        with_ranks(self.ranks, scores, |ranks| lambda_rank(positives, negatives, given.weights, ranks))
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
pub fn lambda_rank(positives: &Tensor, negatives: &Tensor, draws: Option<&Tensor>, ranks: Pair) -> Result<Tensor> {
    let change = discount(ranks.negatives)?.broadcast_sub(&discount(ranks.positives)?.unsqueeze(1)?)?.abs()?;
    weigh_pairs(positives, negatives, draws, &change)
}

#[cfg(test)]
impl crate::contract::Contract for LambdaRank {
    fn examples() -> Vec<Self> {
        [crate::ranks::EXACT, crate::ranks::SAMPLED].map(|ranks| LambdaRank { ranks, similarity: Similarity::Dot }).into()
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

    fn plain(positives: &Tensor, negatives: &Tensor, ranks: Pair) -> Result<Tensor> {
        lambda_rank(positives, negatives, None, ranks)
    }

    #[test]
    fn weights_of_draws_multiply() {
        let doubled = |positives: &Tensor, negatives: &Tensor, ranks: Pair| {
            lambda_rank(positives, negatives, Some(&(negatives.ones_like()? * 2.0)?), ranks)
        };
        assert_close(&[worked_list(doubled).0], &[2.0 * worked_list(plain).0], 1e-12);
    }

    #[test]
    fn worked_example() {
        assert_close(&[worked_pair(plain)], &[0.13092975], 5e-9);
        let (value, gradient) = worked_list(plain);
        assert_close(&[value], &[1.77765465], 5e-9);
        let expected = [-0.86372886, 0.26768868, -0.25082704, 0.21516729, 0.41550886, -0.2589414, 0.18448126, 0.2906512];
        assert_close(&gradient, &expected, 6e-9);
    }

    #[test]
    fn it_is_one_of_the_family() {
        assert_family(plain);
    }
}
