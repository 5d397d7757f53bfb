//! Weighted approximate-rank pairwise loss (WARP).
//!
//! ```text
//! l(u, i) = F(r) max(m - s_ui + s_uj, 0),   F(r) = 1 + 1/2 + ... + 1/r   or   log(max(r, 1))
//! ```
//! The negative j is the first of the sampler's draws that scores above `s_ui - m`, and r is how many such items there are, estimated from
//! how many draws that took: see the sampler `warp`, without which there is no rank. A row whose draws found none is masked and costs
//! nothing. The rank is a constant of the gradient. The paper weighs by the harmonic number; LightFM's `logarithm` is about 0.58 less, and
//! 10 at most.
//! Weston, Bengio and Usunier, "WSABIE: Scaling Up To Large Vocabulary Image Annotation", IJCAI 2011.

use super::primitives::margins;
use super::{Facts, LossKind, Scores, check_above_zero, scores};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `warp` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warp {
    /// How far above a negative a positive has to score, above 0.
    #[serde(default = "one")]
    pub margin: f64,
    /// What a rank weighs.
    #[serde(default)]
    pub rank_weight: RankWeight,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

/// What a rank r weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankWeight {
    /// `1 + 1/2 + ... + 1/r`
    #[default]
    Harmonic,
    /// `log(max(r, 1))`, 10 at most.
    Logarithm,
}

fn one() -> f64 {
    1.0
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "warp weighs by the rank that the sampler `warp` estimates from its draws";

impl LossKind for Warp {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Weston, Bengio and Usunier, IJCAI 2011", values: "LightFM: 10 candidates, `rank_weight: logarithm`", cost: "O(1)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("margin", self.margin)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let ranks = scores::given(given.estimated_ranks, "warp", "the ranks that the sampler `warp` estimates")?;
        warp(positives, negatives, ranks, self)
    }

    fn estimated_rank_margin(&self) -> Option<f64> {
        Some(self.margin)
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the estimated `ranks [B]`, whole numbers of at least 0.
pub fn warp(positives: &Tensor, negatives: &Tensor, ranks: &Tensor, settings: &Warp) -> Result<Tensor> {
    let weights = match settings.rank_weight {
        RankWeight::Harmonic => harmonic_numbers(ranks)?,
        RankWeight::Logarithm => ranks.detach().maximum(1.0)?.log()?.minimum(10.0)?,
    };
    weights * (margins(positives, negatives)? + settings.margin)?.relu()?.sum(D::Minus1)?
}

/// `1 + 1/2 + ... + 1/r`, elementwise, without a gradient.
fn harmonic_numbers(ranks: &Tensor) -> Result<Tensor> {
    let numbers: Vec<f64> = ranks.to_dtype(candle_core::DType::F64)?.to_vec1::<f64>()?.into_iter().map(harmonic_number).collect();
    Tensor::from_vec(numbers, ranks.shape(), ranks.device())?.to_dtype(ranks.dtype())
}

/// Summed up to 32, and from there by its asymptotic series, of which the first term left out is below 1e-11.
fn harmonic_number(rank: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if rank <= 32.0 {
        return (1..=rank as u32).map(|k| 1.0 / f64::from(k)).sum();
    }
    let square = 1.0 / (rank * rank);
    rank.ln() + EULER + 0.5 / rank - square / 12.0 + square * square / 120.0
}

#[cfg(test)]
impl super::contract::Contract for Warp {
    fn examples() -> Vec<Self> {
        [RankWeight::Harmonic, RankWeight::Logarithm]
            .map(|rank_weight| Warp { margin: 1.0, rank_weight, similarity: Similarity::Dot })
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, assert_gradients, differentiate};
    use super::*;
    use candle_core::{DType, Device};
    use proptest::prelude::*;

    fn settings(rank_weight: RankWeight) -> Warp {
        Warp { margin: 1.0, rank_weight, similarity: Similarity::Dot }
    }

    /// The sum over rows, and its gradient by positives, negatives and ranks.
    fn evaluate(settings: &Warp, positives: &[f64], negatives: &[f64], ranks: &[f64]) -> (f64, Vec<Vec<f64>>) {
        let (rows, count) = (positives.len(), negatives.len() / positives.len());
        let inputs = [(positives, &[rows][..]), (negatives, &[rows, count]), (ranks, &[rows])];
        differentiate(&inputs, |t| warp(&t[0], &t[1], &t[2], settings))
    }

    /// The seventh draw of 1000 items violates, so that the rank is 999 / 7 = 142.
    #[test]
    fn worked_example() {
        for (rank_weight, expected) in [(RankWeight::Harmonic, 5.536559716506), (RankWeight::Logarithm, 4.955827057601)] {
            let (value, gradient) = evaluate(&settings(rank_weight), &[1.2], &[0.9], &[142.0]);
            assert_close(&[value], &[0.7 * expected], 1e-11);
            assert_close(&gradient.concat(), &[-expected, expected, 0.0], 1e-11);
        }
    }

    /// Literals are exact sums by Python's `fsum`.
    #[test]
    fn harmonic_numbers_are_sums() {
        let ranks = [0.0, 1.0, 2.0, 3.0, 10.0, 32.0, 33.0, 100.0, 999_999.0];
        let expected = [
            0.0,
            1.0,
            1.5,
            1.833333333333333,
            2.928968253968254,
            4.05849519543652,
            4.08879822573955,
            5.187377517639621,
            14.392725722865723,
        ];
        assert_close(&ranks.map(harmonic_number), &expected, 1e-11);
    }

    #[test]
    fn a_logarithm_is_neither_below_0_nor_above_10() {
        let weight = |rank| evaluate(&settings(RankWeight::Logarithm), &[0.0], &[0.0], &[rank]).0;
        assert_close(&[weight(0.0), weight(1.0), weight(1e9)], &[0.0, 0.0, 10.0], 1e-12);
    }

    #[test]
    fn a_row_without_a_violator_costs_nothing() {
        for rank_weight in [RankWeight::Harmonic, RankWeight::Logarithm] {
            let found = evaluate(&settings(rank_weight), &[1.2, 3.0], &[-1e30, 1.0], &[0.0, 142.0]);
            assert_eq!(found, (0.0, vec![vec![0.0; 2], vec![0.0; 2], vec![0.0; 2]]));
        }
    }

    #[test]
    fn values_and_gradients_are_finite_at_extreme_scores() {
        for dtype in [DType::F32, DType::F64] {
            let tensor = |values: &[f64]| Tensor::new(values, &Device::Cpu).unwrap().to_dtype(dtype).unwrap();
            let negatives = tensor(&[800.0, -300.0, 1e4, -1e4, -1e30]).reshape((5, 1)).unwrap();
            let positives = tensor(&[500.0, 1e4, -1e4, 0.0, 0.3]);
            let values = warp(&positives, &negatives, &tensor(&[1e6; 5]), &settings(RankWeight::Harmonic)).unwrap();
            assert_eq!(values.dtype(), dtype);
            assert!(values.to_dtype(DType::F64).unwrap().to_vec1::<f64>().unwrap().iter().all(|value| value.is_finite()), "{values}");
        }
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |margin| Warp { margin, ..settings(RankWeight::Harmonic) }.check().unwrap_err();
        assert!(message(0.0).starts_with("margin is 0:"));
    }

    proptest! {
        /// Scores and the margin are on a grid, on which the kink is only where it is left out.
        #[test]
        fn gradients_are_central_differences(
            positives in prop::collection::vec(-2.0f64..2.0, 3),
            gaps in prop::collection::vec((-300i32..300).prop_map(|at| (f64::from(at) + 0.5) / 100.0), 3),
            ranks in prop::collection::vec(0u32..5000, 3),
        ) {
            let negatives: Vec<f64> = positives.iter().zip(&gaps).map(|(positive, gap)| positive - 1.0 + gap).collect();
            let ranks: Vec<f64> = ranks.into_iter().map(f64::from).collect();
            for rank_weight in [RankWeight::Harmonic, RankWeight::Logarithm] {
                let ranks = Tensor::new(&ranks[..], &Device::Cpu).unwrap();
                let inputs = [(&positives[..], &[3][..]), (&negatives[..], &[3, 1])];
                assert_gradients(&inputs, 1e-8, |t| warp(&t[0], &t[1], &ranks, &settings(rank_weight)));
            }
        }
    }
}
