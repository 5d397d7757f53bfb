//! Symmetric metric learning with adaptive margins (SML).
//!
//! ```text
//! sum over a batch of B rows:
//!   sum_j max(d_ui - d_uj + m_u, 0) + l sum_j max(d_ui - d_ij + n_i, 0)   -   g (mean of m_u + mean of n_i),   d = -s
//! ```
//! Scores are negative squared distances. A negative has to be farther than the positive from the user, by the user's margin `m_u`, and
//! from the positive, by the item's margin `n_i`; the margins are learned and pushed up by `g`. They start at their largest value and are
//! kept between 0 and it, and users and items in the unit ball, both after each step.
//!
//! The paper takes the means over all users and items, the authors' release over the rows of the batch, and so does this: which users and
//! items a batch holds is all that a step can know. Each row's value carries its own margins' part, `g (m_u + n_i) / B`, so that the mean over
//! rows is the release's sum over the batch divided by B, and weighs hinges against margins as it does: with B = 512 and g = 10 there, the
//! margin of a row that has no violator grows, and one violator outweighs that. Larger batches need a larger `g`. A row with several
//! negatives is several triplets of the release.
//! Li et al., "Symmetric Metric Learning with Adaptive Margin for Recommendation", AAAI 2020.

use super::primitives::{is_item, margins};
use super::{Facts, InitialValue, Learned, LossKind, Per, Related, Scores, StateSpec, Update, check_above_zero, scores};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `sml` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sml {
    /// The weight of the distances between items, at least 0.
    #[serde(default = "item_weight")]
    pub item_weight: f64,
    /// How strongly margins are pushed up, at least 0.
    #[serde(default = "margin_weight")]
    pub margin_weight: f64,
    /// The largest margin, at which all start, as a squared distance, above 0.
    #[serde(default = "one")]
    pub largest_margin: f64,
    /// How two vectors make a score.
    #[serde(default = "super::distance")]
    pub similarity: Similarity,
}

fn item_weight() -> f64 {
    0.01
}

fn margin_weight() -> f64 {
    10.0
}

fn one() -> f64 {
    1.0
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "sml compares each positive with its negatives, which all items are too many for";

/// What was learned of the rows' users and positives, and how the negatives stand to the positives.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// `[B]`, of the rows' users.
    pub user_margins: &'a Tensor,
    /// `[B]`, of the rows' positives.
    pub item_margins: &'a Tensor,
    /// `[B, N]`, similarities of each row's positive with its negatives.
    pub items: &'a Tensor,
}

impl LossKind for Sml {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Li et al., AAAI 2020",
            values: "`item_weight` 0.01, `margin_weight` 10, `largest_margin` 1; RG: 1, 100 or 50 negatives",
            cost: "O(N d)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        for (key, value) in [("item_weight", self.item_weight), ("margin_weight", self.margin_weight)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(format!("{key} is {value}: expected a finite number of at least 0"));
            }
        }
        check_above_zero("largest_margin", self.largest_margin)
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let [user_margins, item_margins] = scores::columns(given.columns, "sml")?;
        let items = scores::given(given.relations.of_negatives, "sml", "the distances of positives from negatives")?;
        sml(positives, negatives, Surroundings { user_margins, item_margins, items }, self)
    }

    fn columns(&self) -> Vec<StateSpec> {
        let largest = self.largest_margin as f32;
        let motion = Update::Learned(Learned { bounds: (0.0, largest), ..Learned::default() });
        let column = |name, of| StateSpec { name, per: of, initial: InitialValue::Same(largest), update: motion.clone() };
        vec![column("user_margins", Per::Users), column("item_margins", Per::Items)]
    }

    fn relations(&self) -> Related {
        Related { of_negatives: true, of_rows: false }
    }

    fn max_norm(&self) -> Option<f32> {
        Some(1.0)
    }

    fn couples_rows(&self) -> bool {
        true
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`; the rows are the whole batch.
pub fn sml(positives: &Tensor, negatives: &Tensor, surroundings: Surroundings, settings: &Sml) -> Result<Tensor> {
    let Surroundings { user_margins, item_margins, items } = surroundings;
    let is_item = is_item(negatives)?;
    let of_user = hinges(positives, negatives, user_margins, &is_item)?;
    let of_item = hinges(positives, items, item_margins, &is_item)?;
    let pushed = ((user_margins + item_margins)? * (settings.margin_weight / positives.dim(0)? as f64))?;
    (of_user + (of_item * settings.item_weight)?)? - pushed
}

/// `sum_j max(s_j - s_i + margin, 0)` over the items of a row: `[B]` from `positives [B]`, `others [B, N]` and `least [B]`.
fn hinges(positives: &Tensor, others: &Tensor, least: &Tensor, is_item: &Tensor) -> Result<Tensor> {
    let violations = margins(&(positives - least)?, others)?.relu()?;
    is_item.where_cond(&violations, &violations.zeros_like()?)?.sum(D::Minus1)
}

#[cfg(test)]
impl super::contract::Contract for Sml {
    fn examples() -> Vec<Self> {
        vec![Sml { item_weight: 0.01, margin_weight: 10.0, largest_margin: 1.0, similarity: Similarity::NegativeSquaredDistance }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, assert_gradients, differentiate};
    use super::*;
    use proptest::prelude::*;

    fn settings() -> Sml {
        Sml { item_weight: 0.01, margin_weight: 10.0, largest_margin: 1.0, similarity: Similarity::NegativeSquaredDistance }
    }

    fn formula(inputs: &[Tensor], settings: &Sml) -> Result<Tensor> {
        let [positives, negatives, items, user_margins, item_margins] = inputs else { panic!("five inputs") };
        sml(positives, negatives, Surroundings { user_margins, item_margins, items }, settings)
    }

    /// Inputs of the formula from d_ui, d_uj, d_ij, m_u and n_i of rows.
    fn shaped<'a>(inputs: [&'a [f64]; 5], shapes: &'a [Vec<usize>; 2]) -> [(&'a [f64], &'a [usize]); 5] {
        [0, 1, 1, 0, 0]
            .map(|at| &shapes[at][..])
            .into_iter()
            .zip(inputs)
            .map(|(shape, values)| (values, shape))
            .collect::<Vec<_>>()
            .try_into()
            .unwrap()
    }

    fn evaluate(inputs: [&[f64]; 5]) -> (f64, Vec<Vec<f64>>) {
        let rows = inputs[0].len();
        differentiate(&shaped(inputs, &[vec![rows], vec![rows, inputs[1].len() / rows]]), |t| formula(t, &settings()))
    }

    /// The reference's distances (0.5, 0.7, 0.6) as scores, whose gradients have the other sign.
    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate([&[-0.5], &[-0.7], &[-0.6], &[0.9], &[0.8]]);
        assert_close(&[value], &[-16.293], 1e-12);
        assert_close(&gradient.concat(), &[-1.01, 1.0, 0.01, -9.0, -9.99], 1e-12);
    }

    /// The worked example with the margins' mean, 1.7, weighed by 2 in place of 10: 0.707 - 3.4.
    #[test]
    fn margins_have_a_weight() {
        let inputs: [&[f64]; 5] = [&[-0.5], &[-0.7], &[-0.6], &[0.9], &[0.8]];
        let light = Sml { margin_weight: 2.0, ..settings() };
        let (value, gradient) = differentiate(&shaped(inputs, &[vec![1], vec![1, 1]]), |t| formula(t, &light));
        assert_close(&[value], &[-2.693], 1e-12);
        assert_close(&gradient.concat(), &[-1.01, 1.0, 0.01, -1.0, -1.99], 1e-12);
    }

    /// Two rows: the hinges are 0.7 + 0.2 and 0, those of items 0.7 and 0.4 + 0.1; the margins' means are 0.7 and 0.5.
    #[test]
    fn hinges_are_summed_over_negatives_and_margins_are_means_over_the_batch() {
        let (value, gradient) = evaluate([&[-0.5, -0.1], &[-0.7, -1.2, -0.9, -0.8], &[-0.6, -1.4, -0.3, -0.6], &[0.9, 0.5], &[0.8, 0.6]]);
        assert_close(&[value], &[0.9 + 0.01 * (0.7 + 0.5) - 10.0 * (0.7 + 0.7)], 1e-12);
        assert_close(&gradient[0], &[-2.01, -0.02], 1e-12);
        assert_close(&gradient[1], &[1.0, 1.0, 0.0, 0.0], 1e-12);
        assert_close(&gradient[2], &[0.01, 0.0, 0.01, 0.01], 1e-12);
        assert_close(&gradient[3], &[2.0 - 5.0, -5.0], 1e-12);
        assert_close(&gradient[4], &[0.01 - 5.0, 0.02 - 5.0], 1e-12);
    }

    #[test]
    fn masked_negatives_add_nothing_whatever_stands_beside_them() {
        let expected = evaluate([&[-0.5], &[-0.7], &[-0.6], &[0.9], &[0.8]]);
        for beside in [-1e30, 0.0, -0.6] {
            let found = evaluate([&[-0.5], &[-1e30, -0.7], &[beside, -0.6], &[0.9], &[0.8]]);
            assert_close(&[found.0], &[expected.0], 1e-12);
            assert_close(&found.1.concat(), &[-1.01, 0.0, 1.0, 0.0, 0.01, -9.0, -9.99], 1e-12);
            let (value, gradient) = evaluate([&[-0.5], &[-1e30], &[beside], &[0.9], &[0.8]]);
            assert_close(&[value], &[-17.0], 1e-12);
            assert_close(&gradient.concat(), &[0.0, 0.0, 0.0, -10.0, -10.0], 1e-12);
        }
    }

    #[test]
    fn values_and_gradients_are_finite_at_extreme_scores() {
        let negatives = [800.0, -300.0, -1e4, 1e4, -1e30, 0.2];
        let (value, gradient) = evaluate([&[500.0, -1e4, 0.3], &negatives, &negatives, &[0.5; 3], &[0.5; 3]]);
        assert!(gradient.concat().iter().chain([&value]).all(|number| number.is_finite()), "{value} {gradient:?}");
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |settings: Sml| settings.check().unwrap_err();
        assert!(message(Sml { item_weight: -1.0, ..settings() }).starts_with("item_weight is -1:"));
        assert!(message(Sml { margin_weight: f64::NAN, ..settings() }).starts_with("margin_weight is NaN:"));
        assert!(message(Sml { largest_margin: 0.0, ..settings() }).starts_with("largest_margin is 0:"));
    }

    #[test]
    fn defaults_are_the_release() {
        assert_eq!(serde_json::from_str::<Sml>("{}").unwrap(), settings());
    }

    proptest! {
        /// Distances on one grid and margins on another, so that no hinge is at its kink.
        #[test]
        fn gradients_are_central_differences(
            distances in prop::collection::vec((-999i32..0).prop_map(|at| f64::from(at) / 250.0), 14),
            margins in prop::collection::vec((0i32..250).prop_map(|at| (f64::from(at) + 0.5) / 250.0), 4),
            item_weight in 0.01f64..2.0,
        ) {
            let settings = Sml { item_weight, ..settings() };
            let inputs = [&distances[..2], &distances[2..8], &distances[8..], &margins[..2], &margins[2..]];
            assert_gradients(&shaped(inputs, &[vec![2], vec![2, 3]]), 1e-8, |t| formula(t, &settings));
        }
    }
}
