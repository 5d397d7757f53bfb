//! Smooth average precision (ITEM-AP).
//!
//! ```text
//! l(u) = 1 - mean_p R+_p / R_p
//! ```
//! R_p is the [smooth rank](super::smooth_rank) of a positive in its user's list and R+_p that among the list's positives, both with the
//! same temperature. As it falls to 0 this is 1 - AP of the list.
//! Karmim et al., "ITEM", TMLR 2024, hal-04645098, Eq. 7, after Brown et al., "Smooth-AP", ECCV 2020, arXiv:2007.12163.

use super::smooth_rank::{check_positives, smooth_ranks};
use super::{Facts, FusedLoss, LossKind, Scores, check_above_zero, fused};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `smooth-ap` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmoothAp {
    /// Temperature of the ranks, above 0.
    pub temperature: f64,
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

impl LossKind for SmoothAp {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Karmim et al., TMLR 2024 (ITEM), Eq. 7", values: "5 positives, 200 negatives", cost: "O(P (P + N))" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_positives(self.positives)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        smooth_ap(positives, negatives, self)
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

impl FusedLoss for SmoothAp {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        let ranks = fused::SmoothRank { temperature: self.temperature as f32, include_self: self.include_self };
        fused::smooth_metrics::smooth_ap(ranks, positives, negatives)
    }
}

/// One value per list, `[B]`, from `positives [B, P]` and `negatives [B, N]`.
pub fn smooth_ap(positives: &Tensor, negatives: &Tensor, settings: &SmoothAp) -> Result<Tensor> {
    let ranks = smooth_ranks(positives, negatives, settings.temperature, settings.include_self)?;
    let precisions = ((ranks.among_positives / ranks.in_list)? * ranks.is_item)?.sum(D::Minus1)?;
    (precisions / ranks.counts)?.neg()? + 1.0
}

#[cfg(test)]
impl super::contract::Contract for SmoothAp {
    fn examples() -> Vec<Self> {
        [false, true].map(|include_self| SmoothAp { temperature: 0.4, positives: 3, include_self, similarity: Similarity::Dot }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, of_example_b};
    use super::*;

    fn settings(temperature: f64, include_self: bool) -> SmoothAp {
        SmoothAp { temperature, positives: 3, include_self, similarity: Similarity::Dot }
    }

    fn worked(temperature: f64, include_self: bool) -> (f64, Vec<f64>) {
        of_example_b(|positives, negatives| smooth_ap(positives, negatives, &settings(temperature, include_self)))
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = worked(0.5, false);
        assert_close(&[value], &[0.45112949], 5e-9);
        let expected = [-0.10370545, 0.06481473, -0.09560045, 0.04049967, 0.07436055, -0.07870738, 0.02684058, 0.07149776];
        assert_close(&gradient, &expected, 6e-9);
    }

    /// The ranks are 1, 3 and 6, whatever an item adds for itself: (1 + 2/3 + 3/6) / 3 = 0.72222222.
    #[test]
    fn without_smoothing_it_is_1_less_average_precision() {
        assert_close(&[worked(1e-3, false).0], &[1.0 - 0.7222222222222222], 1e-12);
        let with_self = 1.0 - (1.5 / 1.5 + 2.5 / 3.5 + 3.5 / 6.5) / 3.0;
        assert_close(&[worked(1e-3, true).0], &[with_self], 1e-12);
    }

    #[test]
    fn values_that_are_none_are_named() {
        assert!(settings(0.0, false).check().unwrap_err().starts_with("temperature is 0:"));
        assert!(SmoothAp { positives: 0, ..settings(1.0, false) }.check().unwrap_err().starts_with("positives is 0:"));
    }
}
