//! ApproxNDCG.
//!
//! ```text
//! l(u) = -1/IDCG sum_p 1 / log2(1 + R_p),   R_p = 1 + sum_{j != p} sigmoid(a (s_j - s_p))
//! ```
//! This is [`smooth-ndcg`](super::smooth_ndcg()) of the temperature 1/a without its constant: the same gradient, kept under the name and in
//! the terms in which others report it. Gains are `2^y - 1`, which are 0 and 1 here. The default a is that of allRank's release.
//! Qin, Liu and Li, "A General Approximation Framework for Direct Optimization of Information Retrieval Measures", Information Retrieval
//! 2010; Bruch et al., "Revisiting Approximate Metric Optimization in the Age of Deep Neural Networks", SIGIR 2019.

use super::smooth_rank::check_positives;
use super::{Facts, FusedLoss, LossKind, Scores, check_above_zero, fused, smooth_ndcg::ndcg_of_smooth_ranks};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `approx-ndcg` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproxNdcg {
    /// Steepness of the ranks, a, above 0: the inverse of a temperature.
    #[serde(default = "one")]
    pub steepness: f64,
    /// Positives of a list; users with fewer have shorter lists.
    #[serde(default = "super::smooth_rank::positives")]
    pub positives: u32,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

fn one() -> f64 {
    1.0
}

impl LossKind for ApproxNdcg {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Qin, Liu and Li, Information Retrieval 2010", values: "allRank: `steepness` 1", cost: "O(P (P + N))" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("steepness", self.steepness)?;
        check_positives(self.positives)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        approx_ndcg(positives, negatives, self)
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

impl FusedLoss for ApproxNdcg {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        let ranks = fused::SmoothRank { temperature: (1.0 / self.steepness) as f32, include_self: false };
        fused::smooth_metrics::smooth_ndcg(0.0, ranks, positives, negatives)
    }
}

/// One value per list, `[B]`, from `positives [B, P]` and `negatives [B, N]`.
pub fn approx_ndcg(positives: &Tensor, negatives: &Tensor, settings: &ApproxNdcg) -> Result<Tensor> {
    ndcg_of_smooth_ranks(positives, negatives, 1.0 / settings.steepness, false)?.neg()
}

#[cfg(test)]
impl super::contract::Contract for ApproxNdcg {
    fn examples() -> Vec<Self> {
        vec![ApproxNdcg { steepness: 2.0, positives: 3, similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::smooth_ndcg::{NdcgForm, SmoothNdcg, smooth_ndcg};
    use super::super::testing::{assert_close, of_example_b};
    use super::*;

    fn settings(steepness: f64) -> ApproxNdcg {
        ApproxNdcg { steepness, positives: 3, similarity: Similarity::Dot }
    }

    /// The reference's ITEM-NDCG of temperature 1, less 1.
    #[test]
    fn worked_example() {
        let (value, gradient) = of_example_b(|positives, negatives| approx_ndcg(positives, negatives, &settings(1.0)));
        assert_close(&[value], &[0.38894987 - 1.0], 5e-9);
        let expected = [-0.04332563, 0.01864336, -0.02755125, 0.01614096, 0.01926671, -0.01643252, 0.01410586, 0.01915251];
        assert_close(&gradient, &expected, 6e-9);
    }

    #[test]
    fn it_is_smooth_ndcg_less_1() {
        for steepness in [0.3, 1.0, 4.0, 100.0] {
            let smooth = SmoothNdcg {
                temperature: 1.0 / steepness,
                form: NdcgForm::Ranks,
                positives: 3,
                include_self: false,
                similarity: Similarity::Dot,
            };
            let expected = of_example_b(|positives, negatives| smooth_ndcg(positives, negatives, &smooth));
            let found = of_example_b(|positives, negatives| approx_ndcg(positives, negatives, &settings(steepness)));
            assert_close(&[found.0], &[expected.0 - 1.0], 1e-12);
            assert_close(&found.1, &expected.1, 1e-12);
        }
    }

    #[test]
    fn defaults_are_those_of_the_release() {
        assert_eq!(serde_json::from_str::<ApproxNdcg>("{}").unwrap(), ApproxNdcg { positives: 5, ..settings(1.0) });
        assert!(settings(0.0).check().unwrap_err().starts_with("steepness is 0:"));
        assert!(ApproxNdcg { positives: 0, ..settings(1.0) }.check().unwrap_err().starts_with("positives is 0:"));
    }
}
