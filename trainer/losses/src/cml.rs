//! Collaborative metric learning (CML).
//!
//! ```text
//! l(u, i) = w_ui max(m + d_ui - min_j d_uj, 0),   w_ui = log(1 + n mean_j 1[m + d_ui - d_uj > 0]),   d = -s
//! ```
//! Scores are negative squared distances. Of the negatives the nearest pulls alone; the share of those within the margin, times the n items
//! of the catalogue, estimates the positive's rank, and its weight is a constant of the gradient. Over all items the share is that of the
//! user's negatives, of which there are fewer than n. Users and items are kept in the unit ball: after each step the training loop scales longer
//! rows back. Another radius would be the same model with another margin.
//!
//! The paper sums over a batch, of which the training loop takes the mean. Its optional penalty on the covariance of the vectors' dimensions
//! is a function of vectors and not of scores, and is left out. Hsieh et al., "Collaborative Metric Learning", WWW 2017.

use super::primitives::{is_item, margins};
use super::{Facts, LossKind, Scores, check_above_zero};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `cml` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cml {
    /// How much farther than a positive a negative has to be, as a squared distance, above 0.
    pub margin: f64,
    /// How two vectors make a score.
    #[serde(default = "super::distance")]
    pub similarity: Similarity,
}

impl LossKind for Cml {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Hsieh et al., WWW 2017", values: "–", cost: "O(N)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("margin", self.margin)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        cml(positives, negatives, scores.items, self.margin)
    }

    fn max_norm(&self) -> Option<f32> {
        Some(1.0)
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`, which were drawn from a catalogue of `items`.
pub fn cml(positives: &Tensor, negatives: &Tensor, items: usize, margin: f64) -> Result<Tensor> {
    let weights = rank_weights(&(margins(positives, negatives)?.detach() + margin)?, &is_item(negatives)?, items)?;
    let hinge = ((nearest(negatives)? - positives)? + margin)?.relu()?;
    weights * hinge
}

/// The highest score of each row, `[B]`; of equal ones, which an item that is drawn twice has, the first has the gradient alone.
fn nearest(negatives: &Tensor) -> Result<Tensor> {
    negatives.gather(&negatives.argmax_keepdim(D::Minus1)?, D::Minus1)?.squeeze(D::Minus1)
}

/// `log(1 + n mean_j 1[violation_j > 0])` over the entries that are items, `[B]` from `[B, N]`.
fn rank_weights(violations: &Tensor, is_item: &Tensor, items: usize) -> Result<Tensor> {
    let violators = violations.gt(0.0)?.to_dtype(violations.dtype())?.sum(D::Minus1)?;
    let drawn = is_item.to_dtype(violations.dtype())?.sum(D::Minus1)?.maximum(1.0)?;
    (((violators / drawn)? * items as f64)? + 1.0)?.log()
}

#[cfg(test)]
impl super::contract::Contract for Cml {
    fn examples() -> Vec<Self> {
        vec![Cml { margin: 0.5, similarity: Similarity::NegativeSquaredDistance }]
    }

    /// Of equally near negatives the first has the gradient alone.
    fn is_gradient_exact(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, assert_gradients, differentiate};
    use super::*;
    use proptest::prelude::*;

    /// The sum over rows, and its gradient by positives and negatives.
    fn evaluate(positives: &[f64], negatives: &[f64], items: usize, margin: f64) -> (f64, Vec<Vec<f64>>) {
        let (rows, count) = (positives.len(), negatives.len() / positives.len());
        differentiate(&[(positives, &[rows]), (negatives, &[rows, count])], |t| cml(&t[0], &t[1], items, margin))
    }

    fn squared_distance(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        (a - b)?.sqr()?.sum_all()?.reshape(1)
    }

    /// The reference's p = (0.1, 0.2), q_i = (0.3, -0.1), q_j = (0, 0.4): one negative of three that violates stands for 3 items.
    #[test]
    fn worked_example() {
        let points: [(&[f64], &[usize]); 3] = [(&[0.1, 0.2], &[2]), (&[0.3, -0.1], &[2]), (&[0.0, 0.4], &[2])];
        let (value, gradient) = differentiate(&points, |t| {
            let (near, far) = (squared_distance(&t[0], &t[1])?.neg()?, squared_distance(&t[0], &t[2])?.neg()?);
            cml(&near, &far.reshape((1, 1))?, 3, 0.5)
        });
        assert_close(&[value], &[0.804050729450], 1e-12);
        let expected = [-0.83177662, 1.38629436, 0.55451774, -0.83177662, 0.27725887, -0.55451774];
        assert_close(&gradient.concat(), &expected, 5e-9);
    }

    /// Distances 0.13 against 0.05, 0.7, 0.4 and 0.62: three of four are within 0.63, which stand for 75 of 100 items; log(76) 0.58.
    #[test]
    fn the_share_of_violators_weighs_and_the_nearest_pulls() {
        let (value, gradient) = evaluate(&[-0.13], &[-0.05, -0.7, -0.4, -0.62], 100, 0.5);
        assert_close(&[value], &[2.511825337366], 1e-12);
        assert_close(&gradient.concat(), &[-4.330733340286, 4.330733340286, 0.0, 0.0, 0.0], 1e-12);
    }

    #[test]
    fn an_item_that_is_drawn_twice_pulls_once() {
        let (once, twice) = (evaluate(&[-0.13], &[-0.05], 100, 0.5), evaluate(&[-0.13], &[-0.05, -0.05], 100, 0.5));
        assert_close(&[twice.0], &[once.0], 1e-12);
        assert_close(&[twice.1[1].iter().sum()], &once.1[1], 1e-12);
    }

    #[test]
    fn masked_entries_are_neither_drawn_nor_near() {
        let expected = evaluate(&[-0.13], &[-0.05, -0.7], 100, 0.5);
        let found = evaluate(&[-0.13], &[-0.05, -1e30, -0.7, -1e30], 100, 0.5);
        assert_close(&[found.0], &[expected.0], 1e-12);
        assert_close(&found.1[1], &[expected.1[1][0], 0.0, expected.1[1][1], 0.0], 1e-12);
        assert_eq!(evaluate(&[-0.13], &[-1e30, -1e30], 100, 0.5), (0.0, vec![vec![0.0], vec![0.0, 0.0]]));
    }

    #[test]
    fn values_and_gradients_are_finite_at_extreme_scores() {
        let positives = [500.0, -500.0, 0.0, 1e4, -1e4, 0.3];
        let negatives = [800.0, -300.0, 790.0, -300.0, 0.0, 0.0, -1e4, -1e4, 1e4, 1e4, -1e30, 0.2];
        let (value, gradient) = evaluate(&positives, &negatives, 1_000_000, 0.5);
        assert!(gradient.concat().iter().chain([&value]).all(|number| number.is_finite()), "{value} {gradient:?}");
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |margin| Cml { margin, similarity: Similarity::NegativeSquaredDistance }.check().unwrap_err();
        assert!(message(0.0).starts_with("margin is 0:"));
        assert!(message(f64::NAN).starts_with("margin is NaN:"));
    }

    proptest! {
        /// Distances on a grid that the margin is not on: none is at a kink, and no step changes who violates.
        #[test]
        fn gradients_are_central_differences(mut negatives in prop::collection::btree_set(1i32..1000, 6), positives in prop::collection::vec(1i32..1000, 2)) {
            let score = |at: &i32| -f64::from(*at) / 500.0;
            let (positives, mut negatives): (Vec<f64>, Vec<f64>) = (positives.iter().map(score).collect(), std::mem::take(&mut negatives).iter().map(score).collect());
            negatives.swap(0, 4);
            assert_gradients(&[(&positives, &[2]), (&negatives, &[2, 3])], 1e-8, |t| cml(&t[0], &t[1], 1000, 0.501));
            let (value, mut gradient) = evaluate(&positives[..1], &negatives, 1000, 0.501);
            negatives.reverse();
            gradient[1].reverse();
            prop_assert_eq!(evaluate(&positives[..1], &negatives, 1000, 0.501), (value, gradient), "the order does not matter");
        }
    }
}
