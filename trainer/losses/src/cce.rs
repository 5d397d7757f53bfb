//! Categorical cross-entropy.
//!
//! ```text
//! l(u, i) = log(exp(s_ui) + sum_j exp(s_uj)) - s_ui = softplus(log sum_j exp(s_uj - s_ui))
//! ```
//! The positive is in the sum, the temperature is 1. With the sampler `all` this is the full form over the items that are not train
//! positives; RecStudio's sums over the user's other positives too.

use super::softmax::{self, softmax};
use super::{Facts, FusedLoss, Kernel, LossKind, Scores, fused::softmax as rows, fused::with_derivative};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `cce` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cce {
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

impl LossKind for Cce {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Di Teodoro et al., \"A Theoretical Analysis\"", values: "1 to 100 negatives; Adam 0.001", cost: "O(N)" }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        cce(positives, negatives)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(softmax::kernel(1.0, true, 1.0, softmax::UNWEIGHTED))
    }
}

impl FusedLoss for Cce {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| rows::softmax(1.0, true, positive, negatives, 1.0))
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn cce(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    softmax(positives, negatives, 1.0, true)
}

#[cfg(test)]
impl super::contract::Contract for Cce {
    fn examples() -> Vec<Self> {
        vec![Cce { similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_A, assert_close, evaluate_row};
    use super::super::{Bce, Bpr};
    use super::*;
    use crate::Loss;
    use proptest::prelude::*;

    const BCE: Loss = Loss::Bce(Bce { similarity: Similarity::Dot });
    const BPR: Loss = Loss::Bpr(Bpr { similarity: Similarity::Dot });
    const CCE: Loss = Loss::Cce(Cce { similarity: Similarity::Dot });

    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate_row(&CCE, EXAMPLE_A.0, &EXAMPLE_A.1, 0.0);
        assert_close(&[value], &[1.29381669], 5e-9);
        assert_close(&gradient, &[-0.72577784, 0.20314877, 0.06118723, 0.3701612, 0.09128063], 6e-9);
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
    }

    #[test]
    fn scores_of_hundreds() {
        let (value, gradient) = evaluate_row(&CCE, 500.0, &[800.0, -300.0, 790.0], 0.0);
        assert_close(&[value], &[300.0000454], 1e-7);
        assert_close(&gradient, &[-1.0, 1.0, 0.0, 0.0], 1e-4);
    }

    proptest! {
        #[test]
        fn with_one_negative_it_is_bpr(positive in -3.0f64..3.0, negative in -3.0f64..3.0) {
            let (cce, bpr) = (evaluate_row(&CCE, positive, &[negative], 0.0), evaluate_row(&BPR, positive, &[negative], 0.0));
            assert_close(&[cce.0], &[bpr.0], 1e-12);
            assert_close(&cce.1, &bpr.1, 1e-12);
        }

        /// `-log NDCG <= CCE <= BPR <= BCE` for a positive's score that is not negative, its rank taken among the same negatives.
        #[test]
        fn it_lies_between_minus_log_ndcg_and_bpr(positive in 0.0f64..3.0, negatives in prop::collection::vec(-3.0f64..3.0, 1..30)) {
            let rank = 1 + negatives.iter().filter(|&&negative| negative >= positive).count();
            let mut values = vec![(1.0 + rank as f64).log2().ln()];
            values.extend([&CCE, &BPR, &BCE].map(|loss| evaluate_row(loss, positive, &negatives, 0.0).0));
            prop_assert!(values.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12), "{:?}", values);
        }
    }
}
