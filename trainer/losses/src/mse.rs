//! Squared error: MSE, and with a weight on positives the weighted squared loss (WSL) of WRMF.
//!
//! ```text
//! l(u, i) = w (s_ui - 1)^2 + sum_j s_uj^2
//! ```
//! The target is 1 for positives and 0 for negatives. `positive_weight` w is 1 for MSE and `1 + a` in WRMF, with a from 0.5 to 8. The
//! literature sums over a user's items once; trained by pairs, a user's negatives are summed once for each of its positives, so that
//! under the sampler `all` a user with P positives has them weighed by `w / P` against the negatives.
//! Hu, Koren and Volinsky, "Collaborative Filtering for Implicit Feedback Datasets", ICDM 2008.

use super::primitives::{is_item, sum_over_negatives};
use super::{
    Facts, FusedLoss, Kernel, KernelArgument::Number, LossKind, Scores, check_above_zero, fused::mse as rows, fused::with_derivative,
};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `mse` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mse {
    /// The weight of the positive, above 0; that of each negative is 1.
    #[serde(default = "one")]
    pub positive_weight: f64,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

fn one() -> f64 {
    1.0
}

impl LossKind for Mse {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Hu, Koren and Volinsky, ICDM 2008 (WRMF)",
            values: "`positive_weight` 1 (MSE), tuned from 1.5 to 9 (WRMF)",
            cost: "O(N)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("positive_weight", self.positive_weight)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        mse(positives, negatives, given.weights, self.positive_weight)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel { name: "weigh_mse", arguments: vec![Number(self.positive_weight as f32)] })
    }

    fn weighs_negatives(&self) -> bool {
        true
    }
}

impl FusedLoss for Mse {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        with_derivative(positives, |positive| rows::mse(self.positive_weight as f32, positive, negatives))
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the negatives' `weights [B, N]`, 1 when left out.
pub fn mse(positives: &Tensor, negatives: &Tensor, weights: Option<&Tensor>, positive_weight: f64) -> Result<Tensor> {
    let errors = is_item(negatives)?.where_cond(negatives, &negatives.zeros_like()?)?; // masked scores are no errors
    ((positives - 1.0)?.sqr()? * positive_weight)? + sum_over_negatives(&errors.sqr()?, weights)?
}

#[cfg(test)]
impl super::contract::Contract for Mse {
    fn examples() -> Vec<Self> {
        vec![Mse { positive_weight: 5.0, similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_B, assert_close, evaluate};
    use super::*;
    use crate::Loss;

    fn loss(positive_weight: f64) -> Loss {
        Loss::Mse(Mse { positive_weight, similarity: Similarity::Dot })
    }

    /// The worked list, with its negatives beside the first positive alone: value, and gradient in the order of the items.
    fn of_the_list(positive_weight: f64) -> (f64, Vec<f64>) {
        let positives = [0, 2, 5].map(|item: usize| EXAMPLE_B[item]);
        let negatives = [1, 3, 4, 6, 7].map(|item: usize| EXAMPLE_B[item]);
        let rows = [negatives.to_vec(), vec![-1e30; 5], vec![-1e30; 5]];
        let found = evaluate(&loss(positive_weight), &positives, &rows, &[0.0; 3]);
        let (p, n) = (found.by_positives, &found.by_negatives[0]);
        (found.values.iter().sum(), vec![p[0], n[0], p[1], n[1], n[2], p[2], n[3], n[4]])
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = of_the_list(1.0);
        assert_close(&[value], &[2.21], 1e-12);
        assert_close(&gradient, &[-0.2, 0.4, -1.0, -0.6, 1.4, -1.8, -1.2, 0.8], 1e-12);
    }

    #[test]
    fn worked_example_of_wrmf() {
        let (value, gradient) = of_the_list(5.0);
        assert_close(&[value], &[6.49], 1e-12);
        assert_close(&gradient, &[-1.0, 0.4, -5.0, -0.6, 1.4, -9.0, -1.2, 0.8], 1e-12);
    }

    #[test]
    fn weights_that_are_none_are_named() {
        for weight in [0.0, -1.0, f64::INFINITY] {
            let message = loss(weight).check().unwrap_err();
            assert!(message.starts_with(&format!("positive_weight is {weight}:")), "{message}");
        }
        assert_eq!(serde_json::from_str::<Loss>(r#"{"mse": {}}"#).unwrap(), loss(1.0));
    }
}
