//! Smooth recall (ITEM-R@k).
//!
//! ```text
//! l(u) = 1 - mean_{k in K} 1/min(P, k) sum_p sigmoid((k - R_p) / t_k)
//! ```
//! R_p is the [smooth rank](super::smooth_rank) of one of the P positives of the user's list, and the second sigmoid smooths the step
//! where it leaves the top k. Several cutoffs together let all positives feel a gradient. ITEM says neither which nor at what temperature
//! t_k; the defaults are those of Patel et al., "Recall@k Surrogate Loss with Large Batches and Similarity Mixup", CVPR 2022,
//! arXiv:2108.11179. Before anything is learned R_p is near half of the items that are ranked: where that is many times t_k above the
//! longest list, as with 200 negatives and `cutoff_temperature: 1`, the second sigmoid is flat and the loss has no gradient.
//! Karmim et al., "ITEM", TMLR 2024, hal-04645098, Eq. 8.

use super::primitives::sigmoid;
use super::smooth_rank::{check_positives, smooth_ranks};
use super::{Facts, FusedLoss, LossKind, Scores, check_above_zero, fused};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `smooth-recall` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmoothRecall {
    /// Temperature of the ranks, above 0.
    pub temperature: f64,
    /// Lengths of the top lists whose recalls are averaged; a list within a list of a sweep file, where the outer one is tuned.
    #[serde(default = "cutoffs")]
    pub cutoffs: Vec<u32>,
    /// Temperature of the step at a cutoff, above 0. With N negatives ranks begin near N / 2; where that is many times more than this and the
    /// cutoffs, the loss has no gradient: with hundreds of negatives tune it, from 10 up.
    #[serde(default = "one")]
    pub cutoff_temperature: f64,
    /// Positives of a list; users with fewer have shorter lists.
    #[serde(default = "super::smooth_rank::positives")]
    pub positives: u32,
    /// Whether an item counts itself in its rank, as half.
    #[serde(default)]
    pub include_self: bool,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

fn cutoffs() -> Vec<u32> {
    vec![1, 2, 4, 8, 16]
}

fn one() -> f64 {
    1.0
}

impl LossKind for SmoothRecall {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Karmim et al., TMLR 2024 (ITEM), Eq. 8", values: "5 positives, 200 negatives; `cutoffs` –", cost: "O(P (P + N))" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_above_zero("cutoff_temperature", self.cutoff_temperature)?;
        check_positives(self.positives)?;
        match self.cutoffs.as_slice() {
            [] => Err("cutoffs is empty: expected at least one length of a top list".into()),
            cutoffs if cutoffs.contains(&0) => Err(format!("cutoffs is {cutoffs:?}: expected lengths of at least 1")),
            _ => Ok(()),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        smooth_recall(positives, negatives, self)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn list(&self) -> Option<usize> {
        Some(self.positives as usize)
    }

    fn list_memory(&self, scores: u64) -> u64 {
        u64::from(self.positives) * scores * 4
    }

    fn numbers_of_row(&self, scores: u64) -> u64 {
        u64::from(self.positives) * scores
    }
}

impl FusedLoss for SmoothRecall {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        let ranks = fused::SmoothRank { temperature: self.temperature as f32, include_self: self.include_self };
        fused::smooth_metrics::smooth_recall(&self.cutoffs, self.cutoff_temperature as f32, ranks, positives, negatives)
    }
}

/// One value per list, `[B]`, from `positives [B, P]` and `negatives [B, N]`.
pub fn smooth_recall(positives: &Tensor, negatives: &Tensor, settings: &SmoothRecall) -> Result<Tensor> {
    let ranks = smooth_ranks(positives, negatives, settings.temperature, settings.include_self)?;
    let mut sum = ranks.counts.zeros_like()?;
    for &cutoff in &settings.cutoffs {
        let cutoff = f64::from(cutoff);
        let hits = sigmoid(&((ranks.in_list.neg()? + cutoff)? / settings.cutoff_temperature)?)?;
        sum = (sum + ((hits * &ranks.is_item)?.sum(D::Minus1)? / ranks.counts.minimum(cutoff)?)?)?;
    }
    (sum / settings.cutoffs.len() as f64)?.neg()? + 1.0
}

#[cfg(test)]
impl super::contract::Contract for SmoothRecall {
    fn examples() -> Vec<Self> {
        vec![SmoothRecall {
            temperature: 0.4,
            cutoffs: vec![1, 3],
            cutoff_temperature: 0.8,
            positives: 3,
            include_self: false,
            similarity: Similarity::Dot,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, of_example_b};
    use super::*;

    fn settings(cutoffs: &[u32]) -> SmoothRecall {
        SmoothRecall {
            temperature: 0.5,
            cutoffs: cutoffs.to_vec(),
            cutoff_temperature: 1.0,
            positives: 3,
            include_self: false,
            similarity: Similarity::Dot,
        }
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = of_example_b(|positives, negatives| smooth_recall(positives, negatives, &settings(&[1, 3, 5])));
        assert_close(&[value], &[0.54330479], 5e-9);
        let expected = [-0.14014145, 0.0781856, -0.11892424, 0.04998223, 0.08702984, -0.07477037, 0.03340238, 0.085236];
        assert_close(&gradient, &expected, 6e-9);
    }

    /// Of the ranks 1, 3 and 6 one reaches the top 2 and two the top 5; half a place above keeps the step's edge away.
    #[test]
    fn without_smoothing_it_is_1_less_capped_recall() {
        let sharp = SmoothRecall { temperature: 1e-3, cutoff_temperature: 1e-3, ..settings(&[2, 5]) };
        let (value, _) = of_example_b(|positives, negatives| smooth_recall(positives, negatives, &sharp));
        assert_close(&[value], &[1.0 - (1.0 / 2.0 + 2.0 / 3.0) / 2.0], 1e-12);
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |settings: SmoothRecall| settings.check().unwrap_err();
        assert!(message(SmoothRecall { temperature: -1.0, ..settings(&[1]) }).starts_with("temperature is -1:"));
        assert!(message(SmoothRecall { cutoff_temperature: 0.0, ..settings(&[1]) }).starts_with("cutoff_temperature is 0:"));
        assert!(message(SmoothRecall { positives: 0, ..settings(&[1]) }).starts_with("positives is 0:"));
        assert!(message(settings(&[])).starts_with("cutoffs is empty:"));
        assert_eq!(message(settings(&[5, 0])), "cutoffs is [5, 0]: expected lengths of at least 1");
    }
}
