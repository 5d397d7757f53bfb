//! Sampled softmax loss (SL).
//!
//! ```text
//! l(u, i) = log sum_j exp((s_uj - s_ui) / t)
//! ```
//! The positive is left out of the sum, as in the authors' release, so the loss may be negative and is bounded by the cosine alone;
//! `include_positive` adds it. Wu et al., "On the Effectiveness of Sampled Softmax Loss for Item Recommendation", TOIS 2024.

use super::primitives::{log_sum_exp, margins, softplus};
use super::{
    Facts, FusedLoss, Kernel,
    KernelArgument::{self, *},
    LossKind, Scores, check_above_zero,
    fused::softmax as rows,
    fused::with_derivative,
};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `softmax` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Softmax {
    /// Temperature, above 0.
    pub temperature: f64,
    /// Whether the positive stands in the sum beside the negatives.
    #[serde(default)]
    pub include_positive: bool,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

impl LossKind for Softmax {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Wu et al., TOIS 2024",
            values: "SL@K: `temperature` 0.2 / 0.2 / – / 0.05; Adam 0.1 / 0.01 / 0.1 / 0.1; 1,000 negatives",
            cost: "O(N)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        softmax(positives, negatives, self.temperature, self.include_positive)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(kernel(self.temperature, self.include_positive, 1.0, UNWEIGHTED))
    }
}

impl FusedLoss for Softmax {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| rows::softmax(self.temperature as f32, self.include_positive, positive, negatives, 1.0))
    }
}

/// The weight of rows that have none.
pub(super) const UNWEIGHTED: [KernelArgument; 4] = [NoNumbers, Users, Number(0.0), Flag(false)];

/// The kernel of `factor log sum_j exp((s_j - s+) / temperature)`, with a weight of rows: quantiles, users, inverse temperature, and whether it is detached.
pub(super) fn kernel(temperature: f64, include_positive: bool, factor: f32, weight: [KernelArgument; 4]) -> Kernel {
    let softmax = [Number(1.0 / temperature as f32), Flag(include_positive), Number(factor)];
    Kernel { name: "weigh_softmax", arguments: [&softmax[..], &weight].concat() }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn softmax(positives: &Tensor, negatives: &Tensor, temperature: f64, include_positive: bool) -> Result<Tensor> {
    let sum = log_sum_exp(&(margins(positives, negatives)? / temperature)?)?;
    if include_positive { softplus(&sum) } else { Ok(sum) } // log(1 + exp(sum)): the positive's own term is exp(0)
}

#[cfg(test)]
impl super::contract::Contract for Softmax {
    fn examples() -> Vec<Self> {
        [false, true].map(|include_positive| Softmax { temperature: 0.2, include_positive, similarity: Similarity::Cosine }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_C, assert_close, evaluate_row};
    use super::*;
    use crate::Loss;

    fn loss(temperature: f64, include_positive: bool) -> Loss {
        Loss::Softmax(Softmax { temperature, include_positive, similarity: Similarity::Cosine })
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate_row(&loss(0.2, false), EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        assert_close(&[value], &[0.85415026], 5e-9);
        assert_close(&gradient, &[-5.0, 1.29083288, 0.06426678, 3.50884755, 0.13605278], 6e-9);
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
    }

    #[test]
    fn worked_example_with_the_positive() {
        let (value, gradient) = evaluate_row(&loss(0.2, true), EXAMPLE_C.0, &EXAMPLE_C.1, 0.0);
        assert_close(&[value], &[1.20877441], 5e-9);
        assert_close(&gradient, &[-3.50718515, 0.90543798, 0.0450791, 2.4612356, 0.09543246], 6e-9);
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
    }

    #[test]
    fn temperatures_that_are_none_are_named() {
        for temperature in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            let message = loss(temperature, false).check().unwrap_err();
            assert!(message.starts_with(&format!("temperature is {temperature}:")), "{message}");
        }
    }

    #[test]
    fn defaults_are_the_release() {
        assert_eq!(serde_json::from_str::<Loss>(r#"{"softmax": {"temperature": 0.2}}"#).unwrap(), loss(0.2, false));
    }
}
