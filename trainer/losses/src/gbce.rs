//! Generalised binary cross-entropy (gBCE).
//!
//! ```text
//! l(u, i) = (b softplus(-s_ui) + sum_j softplus(s_uj)) / (N + 1),   b = 1 - t (1 - a),   a = min(1, N / (n - 1))
//! ```
//! N of the other n - 1 items are drawn, which makes scores too high: the positive's part is weighed down by b. The `calibration` t goes
//! from 0, where b is 1 and this is the mean of the terms of `bce`, to 1, where b is a and scores are those that training on all items
//! would give. The paper writes `b = a (t (1 - 1/a) + 1/a)`, which is the same. Its release raises a clamped probability to the power b;
//! here b weighs a softplus, which needs no clamp. Over all items there is nothing to calibrate, so the sampler `all` is refused.
//! Petrov and Macdonald, "gSASRec", RecSys 2023, arXiv:2308.07192, who use 0.75 with 256 negatives.

use super::primitives::softplus;
use super::{Facts, LossKind, Scores};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `gbce` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gbce {
    /// From 0, binary cross-entropy, to 1, fully calibrated.
    pub calibration: f64,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "gbce corrects for the items that are not drawn; over all items it is the mean of the terms of bce";

impl LossKind for Gbce {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Petrov and Macdonald, RecSys 2023", values: "`calibration` 0.75 with 256 negatives", cost: "O(N)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.calibration {
            calibration if (0.0..=1.0).contains(&calibration) => Ok(()),
            calibration => Err(format!("calibration is {calibration}: expected a number from 0 to 1")),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        gbce(positives, negatives, scores.items, self.calibration)
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }

    /// 1 since no more than all items count as drawn.
    fn revision(&self) -> u32 {
        1
    }
}

/// One value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`, which were drawn from a catalogue of `items`.
pub fn gbce(positives: &Tensor, negatives: &Tensor, items: usize, calibration: f64) -> Result<Tensor> {
    let drawn = negatives.dim(1)? as f64;
    let rate = (drawn / (items as f64 - 1.0)).min(1.0);
    let weight = 1.0 - calibration * (1.0 - rate);
    ((softplus(&positives.neg()?)? * weight)? + softplus(negatives)?.sum(D::Minus1)?)? / (drawn + 1.0)
}

#[cfg(test)]
impl super::contract::Contract for Gbce {
    fn examples() -> Vec<Self> {
        vec![Gbce { calibration: 0.75, similarity: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bce;
    use super::super::testing::{EXAMPLE_A, assert_close, evaluate_row};
    use super::*;
    use crate::Loss;
    use proptest::prelude::*;

    fn loss(calibration: f64) -> Loss {
        Loss::Gbce(Gbce { calibration, similarity: Similarity::Dot })
    }

    /// The tests' catalogue has the reference's 100 items.
    #[test]
    fn worked_example() {
        let (value, gradient) = evaluate_row(&loss(0.75), EXAMPLE_A.0, &EXAMPLE_A.1, 0.0);
        assert_close(&[value], &[0.86302359], 5e-9);
        assert_close(&gradient, &[-0.01297664, 0.1421899, 0.0851115, 0.1635149, 0.10499584], 6e-9);
    }

    #[test]
    fn fully_calibrated_the_positive_weighs_as_much_as_the_share_that_is_drawn() {
        let by_positive = |calibration| evaluate_row(&loss(calibration), EXAMPLE_A.0, &EXAMPLE_A.1, 0.0).1[0];
        assert_close(&[by_positive(1.0) / by_positive(0.0)], &[0.04040404], 5e-9);
    }

    /// More draws than items, of the tests' 100: nothing is left to calibrate for, and it is the mean of the terms of `bce`.
    #[test]
    fn draws_of_more_than_all_items_count_as_all() {
        let negatives = vec![0.3; 150];
        let [calibrated, plain] = [1.0, 0.0].map(|calibration| evaluate_row(&loss(calibration), 0.7, &negatives, 0.0));
        assert_close(&[calibrated.0, calibrated.1[0]], &[plain.0, plain.1[0]], 1e-12);
    }

    #[test]
    fn calibrations_that_are_none_are_named() {
        for calibration in [-0.1, 1.1, f64::NAN] {
            let message = loss(calibration).check().unwrap_err();
            assert!(message.starts_with(&format!("calibration is {calibration}:")), "{message}");
        }
    }

    proptest! {
        #[test]
        fn without_calibration_it_is_the_mean_of_bce(positive in -3.0f64..3.0, negatives in prop::collection::vec(-3.0f64..3.0, 1..30)) {
            let bce = evaluate_row(&Loss::Bce(Bce { similarity: Similarity::Dot }), positive, &negatives, 0.0);
            let found = evaluate_row(&loss(0.0), positive, &negatives, 0.0);
            let terms = negatives.len() as f64 + 1.0;
            assert_close(&[found.0], &[bce.0 / terms], 1e-12);
            assert_close(&found.1, &bce.1.iter().map(|by| by / terms).collect::<Vec<_>>(), 1e-12);
        }
    }
}
