//! NeuralNDCG.
//!
//! ```text
//! l(u) = -1/IDCG@k sum_{i <= k} 1 / log2(1 + i) sum_p P_ip
//! ```
//! P is the [soft permutation](super::neural_sort) of the user's list of some positives p and negatives, scaled by Sinkhorn's method until
//! its rows and columns sum to 1; as the temperature falls to 0 this is -NDCG@k. The transposed form sums over items and scales the
//! transpose, so that rows are divided before columns; apart from what is left of the scaling it is the same double sum, and in
//! allRank's release, which scales both alike, it is equal to the first. Without scaling the two are the same, so the pair is refused.
//! The release's stochastic form, the mean over 32 lists with Gumbel noise on the scores' logarithms, is not offered.
//!
//! A list of L = P + N items costs L^2 exponentials and, with scaling, some passes over a matrix of as many entries each iteration: it
//! is for some hundreds of negatives, not for all items. Pobrotyn and Bialobrzeski, "NeuralNDCG", SIGIR eCom 2021, arXiv:2102.07831.

mod fused;
mod matrix;
mod sinkhorn;

use super::neural_sort::{neural_sort, sinkhorn};
use super::primitives::unmask;
use super::smooth_rank::{check_positives, discounts, ideal_dcg};
use super::{Facts, FusedLoss, LossKind, Scores, check_above_zero};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `neural-ndcg` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeuralNdcg {
    /// Temperature of the permutation, above 0.
    pub temperature: f64,
    /// Length of the top list, k; the whole list where it is left out.
    #[serde(default)]
    pub cutoff: Option<u32>,
    /// Most iterations of Sinkhorn's scaling, 0 for none.
    #[serde(default = "iterations")]
    pub sinkhorn_iterations: u32,
    /// Whether the transposed permutation is scaled.
    #[serde(default)]
    pub transposed: bool,
    /// Positives of a list; users with fewer have shorter lists.
    #[serde(default = "super::smooth_rank::positives")]
    pub positives: u32,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

/// As many as in the release.
fn iterations() -> u32 {
    50
}

impl LossKind for NeuralNdcg {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Pobrotyn and Bialobrzeski, SIGIR eCom 2021",
            values: "`sinkhorn_iterations` at most 50",
            cost: "O((P + N)^2) each iteration",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_positives(self.positives)?;
        match (self.cutoff, self.transposed, self.sinkhorn_iterations) {
            (Some(0), ..) => Err("cutoff is 0: expected at least 1, or no cutoff for the whole list".into()),
            (_, true, 0) => {
                Err("transposed is true: without Sinkhorn's scaling it changes nothing; expected sinkhorn_iterations above 0".into())
            }
            _ => Ok(()),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        neural_ndcg(positives, negatives, self)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn list(&self) -> Option<usize> {
        Some(self.positives as usize)
    }

    /// That of the permutation, and of four vectors an iteration.
    fn list_memory(&self, scores: u64) -> u64 {
        scores.saturating_mul(8 * (scores + 4 * u64::from(self.sinkhorn_iterations)))
    }

    fn numbers_of_row(&self, scores: u64) -> u64 {
        scores.saturating_mul(scores)
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

impl FusedLoss for NeuralNdcg {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        fused::neural_ndcg(self, positives, negatives)
    }
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "neural-ndcg compares each item of a list with each other; draw some hundreds of negatives";

/// One value per list, `[B]`, from `positives [B, P]` and `negatives [B, N]`.
pub fn neural_ndcg(positives: &Tensor, negatives: &Tensor, settings: &NeuralNdcg) -> Result<Tensor> {
    let (scores, is_item) = unmask(&Tensor::cat(&[positives, negatives], 1)?)?; // [B, L]
    let length = scores.dim(1)?;
    let cutoff = settings.cutoff.map_or(length, |cutoff| length.min(cutoff as usize));
    let permutation = match settings.sinkhorn_iterations {
        0 => neural_sort(&scores, &is_item, cutoff, settings.temperature)?,
        iterations => {
            let whole = neural_sort(&scores, &is_item, length, settings.temperature)?;
            sinkhorn(&whole, iterations, settings.transposed)?.narrow(1, 0, cutoff)?
        }
    };
    let gains = permutation.narrow(D::Minus1, 0, positives.dim(1)?)?.sum(D::Minus1)?; // [B, cutoff]
    let ranks = Tensor::arange(1, cutoff as u32 + 1, gains.device())?.to_dtype(gains.dtype())?;
    let counts = is_item.narrow(1, 0, positives.dim(1)?)?.sum(D::Minus1)?.maximum(1.0)?;
    gains.broadcast_mul(&discounts(&ranks)?)?.sum(D::Minus1)?.neg()? / ideal_dcg(&counts, cutoff)?
}

#[cfg(test)]
impl super::contract::Contract for NeuralNdcg {
    fn examples() -> Vec<Self> {
        let switches = [(None, 0, false), (Some(2), 0, false), (None, 1, false), (Some(2), 1, true), (None, 5, false), (Some(2), 5, true)];
        let example = |(cutoff, sinkhorn_iterations, transposed)| NeuralNdcg {
            temperature: 0.7,
            cutoff,
            sinkhorn_iterations,
            transposed,
            positives: 3,
            similarity: Similarity::Dot,
        };
        switches.map(example).into()
    }

    /// Sinkhorn's scaling stops at a tolerance, where the loss jumps by as much; a single round has nothing to stop.
    fn is_gradient_exact(&self) -> bool {
        self.sinkhorn_iterations <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, assert_gradients, of_example_b};
    use super::*;

    fn settings(temperature: f64, sinkhorn_iterations: u32) -> NeuralNdcg {
        NeuralNdcg { temperature, cutoff: None, sinkhorn_iterations, transposed: false, positives: 3, similarity: Similarity::Dot }
    }

    fn worked(settings: &NeuralNdcg) -> (f64, Vec<f64>) {
        of_example_b(|positives, negatives| neural_ndcg(positives, negatives, settings))
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = worked(&settings(1.0, 0));
        assert_close(&[value], &[-0.77850506], 5e-9);
        let expected = [0.0419297, 0.18992216, -0.11388896, -0.03368276, -0.06635479, -0.12125887, 0.02127386, 0.08205966];
        assert_close(&gradient, &expected, 6e-9);
    }

    #[test]
    fn worked_example_of_scaled_permutations() {
        assert_close(&[worked(&settings(1.0, 50)).0], &[-0.80002561], 5e-9);
    }

    /// Ten rounds are far from the tolerance, at which the loss jumps.
    #[test]
    fn gradients_of_scaled_permutations_are_central_differences() {
        let (positives, negatives) = ([0.9, 0.5, 0.1], [0.2, -0.3, 0.7, -0.6, 0.4]);
        for transposed in [false, true] {
            let settings = NeuralNdcg { transposed, ..settings(0.5, 10) };
            let inputs = [(&positives[..], &[1, 3][..]), (&negatives[..], &[1, 5][..])];
            assert_gradients(&inputs, 1e-8, |inputs| neural_ndcg(&inputs[0], &inputs[1], &settings));
        }
    }

    /// Items 0, 2 and 5 have the ranks 1, 3 and 6; two of them are in the top 5.
    #[test]
    fn without_smoothing_it_is_minus_ndcg() {
        let dcg = |ranks: &[f64]| ranks.iter().map(|rank| 1.0 / (1.0 + rank).log2()).sum::<f64>();
        let exact = -dcg(&[1.0, 3.0, 6.0]) / dcg(&[1.0, 2.0, 3.0]);
        assert_close(&[exact], &[-0.87107854], 5e-9);
        for iterations in [0, 50] {
            assert_close(&[worked(&settings(1e-3, iterations)).0], &[exact], 1e-12);
            for (cutoff, hits, ideal) in
                [(5, &[1.0, 3.0][..], &[1.0, 2.0, 3.0][..]), (2, &[1.0], &[1.0, 2.0]), (99, &[1.0, 3.0, 6.0], &[1.0, 2.0, 3.0])]
            {
                let at_cutoff = NeuralNdcg { cutoff: Some(cutoff), ..settings(1e-3, iterations) };
                assert_close(&[worked(&at_cutoff).0], &[-dcg(hits) / dcg(ideal)], 1e-12);
            }
        }
    }

    #[test]
    fn transposed_it_is_the_same_once_all_sums_are_1() {
        let transposed = |iterations| NeuralNdcg { transposed: true, ..settings(1.0, iterations) };
        let (whole, other) = (worked(&settings(1.0, 500)), worked(&transposed(500)));
        assert_close(&[other.0], &[whole.0], 1e-6);
        assert_close(&other.1, &whole.1, 1e-5);
        assert!((worked(&settings(1.0, 1)).0 - worked(&transposed(1)).0).abs() > 1e-4, "but not before");
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |settings: NeuralNdcg| settings.check().unwrap_err();
        assert!(message(settings(0.0, 50)).starts_with("temperature is 0:"));
        assert!(message(NeuralNdcg { positives: 0, ..settings(1.0, 50) }).starts_with("positives is 0:"));
        assert!(message(NeuralNdcg { cutoff: Some(0), ..settings(1.0, 50) }).starts_with("cutoff is 0:"));
        assert!(message(NeuralNdcg { transposed: true, ..settings(1.0, 0) }).starts_with("transposed is true:"));
    }

    #[test]
    fn defaults_are_the_paper() {
        let expected = NeuralNdcg { positives: 5, ..settings(0.5, 50) };
        assert_eq!(serde_json::from_str::<NeuralNdcg>(r#"{"temperature": 0.5}"#).unwrap(), expected);
    }
}
