//! User interest boundary loss (UIB).
//!
//! ```text
//! l(u, i) = (1 - a) f(b_u - s_ui) + a sum_j f(s_uj - b_u),   f(x) = log(1 + exp(x))   or   max(x, 0)
//! ```
//! `b_u` is a number for each user that is learned with the vectors: positives are pushed above it and negatives below. It is no part of
//! the score, so ranking does without it. The authors' release has one negative, the softplus, and weights from 0.01 to 0.99; it also
//! knows a boundary that is a linear map of the user's vector, which is not offered. "NDCG-Consistent Softmax Approximation with
//! Accelerated Convergence" compares with the sum without weights, which is twice the loss at a = 1/2, and sums over its 1 or 10 negatives.
//! Zhuo et al., "Learning Explicit User Interest Boundary for Recommendation", WWW 2022, arXiv:2111.11026.

use super::primitives::{margins, softplus, sum_over_negatives};
use super::{Facts, InitialValue, Learned, LossKind, Per, Scores, StateSpec, Update, scores};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `uib` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uib {
    /// The weight of the negatives' part, between 0 and 1; the positive's is what is left to 1.
    #[serde(default = "half")]
    pub negative_weight: f64,
    /// What a score on the wrong side of the boundary costs.
    #[serde(default)]
    pub penalty: Penalty,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

/// What a score costs that is `x` beyond the boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// `log(1 + exp(x))`
    #[default]
    Softplus,
    /// `max(x, 0)`
    Hinge,
}

fn half() -> f64 {
    0.5
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "uib learns its boundaries from draws";

impl LossKind for Uib {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Zhuo et al., WWW 2022", values: "`negative_weight` tuned from 0.01 to 0.99; 1 negative", cost: "O(N)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.negative_weight {
            weight if weight > 0.0 && weight < 1.0 => Ok(()),
            weight => Err(format!("negative_weight is {weight}: expected a number between 0 and 1")),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let [boundaries] = scores::columns(given.columns, "uib")?;
        uib(positives, negatives, boundaries, given.weights, self)
    }

    fn columns(&self) -> Vec<StateSpec> {
        vec![StateSpec {
            name: "boundaries",
            per: Per::Users,
            initial: InitialValue::Same(0.0),
            update: Update::Learned(Learned::default()),
        }]
    }

    fn weighs_negatives(&self) -> bool {
        true
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the `boundaries [B]` of the rows' users; `weights [B, N]` of
/// the negatives stand for those of the sum.
pub fn uib(positives: &Tensor, negatives: &Tensor, boundaries: &Tensor, weights: Option<&Tensor>, settings: &Uib) -> Result<Tensor> {
    let cost = |beyond: &Tensor| match settings.penalty {
        Penalty::Softplus => softplus(beyond),
        Penalty::Hinge => beyond.relu(),
    };
    let below = (cost(&(boundaries - positives)?)? * (1.0 - settings.negative_weight))?;
    let above = sum_over_negatives(&cost(&margins(boundaries, negatives)?)?, weights)?;
    below + (above * settings.negative_weight)?
}

#[cfg(test)]
impl super::contract::Contract for Uib {
    fn examples() -> Vec<Self> {
        [Penalty::Softplus, Penalty::Hinge].map(|penalty| Uib { negative_weight: 0.3, penalty, similarity: Similarity::Dot }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_A, assert_close, assert_gradients, differentiate};
    use super::*;
    use proptest::prelude::*;

    fn settings(negative_weight: f64, penalty: Penalty) -> Uib {
        Uib { negative_weight, penalty, similarity: Similarity::Dot }
    }

    /// The sum over rows, and its gradient by positives, negatives and boundaries.
    fn evaluate(settings: &Uib, positives: &[f64], negatives: &[f64], boundaries: &[f64]) -> (f64, Vec<Vec<f64>>) {
        let (rows, count) = (positives.len(), negatives.len() / positives.len());
        let inputs = [(positives, &[rows][..]), (negatives, &[rows, count]), (boundaries, &[rows])];
        differentiate(&inputs, |t| uib(&t[0], &t[1], &t[2], None, settings))
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate(&settings(0.5, Penalty::Softplus), &[1.2], &[0.9], &[0.4]);
        assert_close(&[value], &[0.672588825064], 1e-12);
        assert_close(&gradient.concat(), &[-0.155012759436, 0.311229665601, -0.156216906165], 1e-12);
    }

    /// The literals are the formula's, worked out apart from this code.
    #[test]
    fn several_negatives_are_summed() {
        let (value, gradient) = evaluate(&settings(0.3, Penalty::Softplus), &[EXAMPLE_A.0], &EXAMPLE_A.1, &[0.4]);
        assert_close(&[value], &[1.255456546958], 1e-12);
        assert_close(&gradient[0], &[-0.217017863211], 1e-12);
        assert_close(&gradient[1], &[0.186737799361, 0.099543668350, 0.225078031679, 0.127667244957], 1e-12);
        assert_close(&gradient[2], &[-0.422008881134], 1e-12);
    }

    /// 0.7 (1.3 - 1.2) + 0.3 (1.5 - 1.3); the negatives below 1.3 are left alone.
    #[test]
    fn the_hinge_leaves_alone_what_is_on_its_side() {
        let (value, gradient) = evaluate(&settings(0.3, Penalty::Hinge), &[EXAMPLE_A.0], &EXAMPLE_A.1, &[1.3]);
        assert_close(&[value], &[0.13], 1e-12);
        assert_close(&gradient.concat(), &[-0.7, 0.0, 0.0, 0.3, 0.0, 0.4], 1e-12);
    }

    #[test]
    fn weighed_negatives_are_a_weighed_sum() {
        let settings = settings(0.3, Penalty::Softplus);
        let alone = |negative| evaluate(&settings, &[EXAMPLE_A.0], &[negative], &[0.4]).0;
        let inputs: [(&[f64], &[usize]); 4] = [(&[EXAMPLE_A.0], &[1]), (&[0.9, 1.5], &[1, 2]), (&[0.4], &[1]), (&[0.25, 0.75], &[1, 2])];
        let (value, gradient) = differentiate(&inputs, |t| uib(&t[0], &t[1], &t[2], Some(&t[3]), &settings));
        assert_close(&[value], &[0.25 * alone(0.9) + 0.75 * alone(1.5)], 1e-12);
        assert_eq!(gradient[3], [0.0, 0.0], "weights are constants");
    }

    #[test]
    fn extreme_scores_are_finite_and_masked_ones_add_nothing() {
        for penalty in [Penalty::Softplus, Penalty::Hinge] {
            let settings = settings(0.5, penalty);
            let (value, gradient) = evaluate(&settings, &[500.0, -1e4], &[800.0, -300.0, 790.0, 1e4, -1e30, -1e4], &[0.0, 0.0]);
            assert!(gradient.concat().iter().chain([&value]).all(|number| number.is_finite()), "{penalty:?} {value} {gradient:?}");
            let (value, gradient) = evaluate(&settings, &[1.2], &[-1e30, -1e30], &[1.5]);
            let (alone, expected) = evaluate(&settings, &[1.2], &[-1e4], &[1.5]);
            assert_close(&[value, gradient[0][0], gradient[2][0]], &[alone, expected[0][0], expected[2][0]], 1e-12);
            assert_eq!(gradient[1], [0.0, 0.0]);
        }
    }

    #[test]
    fn weights_that_are_none_are_named() {
        for weight in [0.0, 1.0, -0.1, f64::NAN] {
            let message = settings(weight, Penalty::Softplus).check().unwrap_err();
            assert!(message.starts_with(&format!("negative_weight is {weight}:")), "{message}");
        }
    }

    proptest! {
        /// Scores on a grid that no boundary is on, so that none is at the hinge's kink.
        #[test]
        fn gradients_are_central_differences(
            scores in prop::collection::vec((-300i32..300).prop_map(|at| f64::from(3 * at + 1) / 1000.0), 8),
            boundaries in prop::collection::vec((-300i32..300).prop_map(|at| f64::from(3 * at) / 1000.0), 2),
            negative_weight in 0.01f64..0.99,
        ) {
            for penalty in [Penalty::Softplus, Penalty::Hinge] {
                let settings = settings(negative_weight, penalty);
                let inputs = [(&scores[..2], &[2][..]), (&scores[2..], &[2, 3]), (&boundaries[..], &[2])];
                assert_gradients(&inputs, 1e-8, |t| uib(&t[0], &t[1], &t[2], None, &settings));
            }
        }

        #[test]
        fn a_shift_of_scores_and_boundary_changes_nothing(
            positive in -3.0f64..3.0,
            negatives in prop::collection::vec(-3.0f64..3.0, 1..9),
            boundary in -3.0f64..3.0,
            shift in -3.0f64..3.0,
        ) {
            let settings = settings(0.3, Penalty::Softplus);
            let mut shifted: Vec<f64> = negatives.iter().map(|score| score + shift).collect();
            shifted.reverse(); // nor does the order of the negatives
            let (value, mut gradient) = evaluate(&settings, &[positive], &negatives, &[boundary]);
            let (other, expected) = evaluate(&settings, &[positive + shift], &shifted, &[boundary + shift]);
            gradient[1].reverse();
            assert_close(&[value], &[other], 1e-12);
            assert_close(&gradient.concat(), &expected.concat(), 1e-12);
            assert_close(&[gradient.concat().iter().sum()], &[0.0], 1e-12);
        }
    }
}
