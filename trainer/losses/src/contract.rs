//! What every loss promises, whatever its formula.

use super::testing::{Evaluated, Rows, assert_close, evaluate, evaluate_in, evaluate_rows};
use super::*;
use candle_core::DType;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What a loss brings to the tests that all must pass.
pub(super) trait Contract: Sized {
    /// Some of it, with each of its switches off and on.
    fn examples() -> Vec<Self>;

    /// Whether differences of the loss are its gradient everywhere: not where a part is held constant on purpose.
    fn is_gradient_exact(&self) -> bool {
        true
    }
}

/// Examples of all kinds of losses.
pub(super) fn examples() -> Vec<Loss> {
    Loss::examples()
}

/// serde knows every variant: a new kind fails here until it has an example.
#[test]
fn every_kind_has_an_example() {
    let error = serde_json::from_str::<Loss>(r#"{"?": {}}"#).unwrap_err().to_string();
    let kinds: BTreeSet<&str> = error.split('`').skip(3).step_by(2).collect();
    let examples = examples();
    let written: Vec<serde_json::Value> = examples.iter().map(|loss| serde_json::to_value(loss).unwrap()).collect();
    let found: BTreeSet<&str> = written.iter().flat_map(|value| value.as_object().unwrap().keys()).map(String::as_str).collect();
    assert_eq!(found, kinds);
    assert!(examples.iter().all(|loss| loss.check().is_ok()));
}

/// The training loop gives ranks, own numbers and relations of drawn negatives alone.
#[test]
fn losses_that_look_beyond_a_row_need_draws() {
    for loss in examples() {
        assert!(loss.looks_at_scores_alone() || loss.needs_draws().is_some(), "{loss:?}");
    }
}

#[test]
fn kinds_reject_unknown_keys() {
    for loss in examples() {
        let mut value = serde_json::to_value(&loss).unwrap();
        assert_eq!(serde_json::from_value::<Loss>(value.clone()).unwrap(), loss);
        let settings = value.as_object_mut().unwrap().values_mut().next().unwrap();
        settings.as_object_mut().unwrap().insert("tempratur".into(), 0.1.into());
        let error = serde_json::from_value::<Loss>(value).unwrap_err().to_string();
        assert!(error.contains("tempratur"), "{error}");
    }
}

fn all(found: &Evaluated) -> impl Iterator<Item = f64> {
    found.values.iter().chain(&found.by_positives).chain(found.by_negatives.iter().flatten()).copied()
}

/// Scores far beyond what an exponential bears, and rows that are masked but for one entry.
#[test]
fn values_and_gradients_are_finite_at_extreme_scores() {
    let positives = [500.0, -500.0, 0.0, 1e4, -1e4, 0.3];
    let negatives =
        [[800.0, -300.0, 790.0], [800.0, -300.0, 790.0], [0.0, 0.0, 0.0], [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4], [-1e30, 0.2, -1e30]];
    let quantiles = [0.0, 700.0, 0.0, 1e4, 1e4, 0.5];
    for (loss, dtype) in examples().iter().flat_map(|loss| [(loss, DType::F32), (loss, DType::F64)]) {
        let found = evaluate_in(dtype, loss, &positives, &negatives.map(Vec::from), &quantiles);
        assert!(all(&found).all(f64::is_finite), "{loss:?}: {:?} {:?} {:?}", found.values, found.by_positives, found.by_negatives);
        assert_eq!((found.by_negatives[5][0], found.by_negatives[5][2]), (0.0, 0.0), "{loss:?}: masked entries have no gradient");
    }
}

/// Different scores from -0.9 to 0.9 on a grid, so that none is within a step of differences of a kink: of another score, where places
/// change, of the margin of `ccl`, which lies between grid points, of the threshold h of `sparsemax`, as `1000 k (s_j - h)` is a whole
/// number that 3 never divides, or of the end of `psl`'s relu, which scores 2 apart reach.
fn scores(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    let places = prop::sample::subsequence((-300..300).collect::<Vec<i32>>(), count).prop_shuffle();
    places.prop_map(|places| places.into_iter().map(|at| f64::from(3 * at + 1) / 1000.0).collect())
}

/// The loss of one row whose j-th negative has the j-th of these log-probabilities, and the place that `ranked[1 + j]` has.
fn of_draws(loss: &Loss, scores: &[f64], ranked: &[f64], quantile: f64, log_probabilities: &[f64]) -> Evaluated {
    let drawn = log_probabilities[..scores.len() - 1].to_vec();
    let (positives, negatives) = (&scores[..1], &[scores[1..].to_vec()]);
    let ranks = (&ranked[..1], &[ranked[1..].to_vec()][..]);
    let rows = Rows { positives, negatives, quantiles: &[quantile], log_probabilities: (&[-3.0], &[drawn]), ranks: Some(ranks) };
    evaluate_rows(DType::F64, loss, rows).unwrap()
}

proptest! {
    #[test]
    fn gradients_are_central_differences(
        scores in scores(2..9),
        quantile in -1.0f64..1.0,
        draws in prop::collection::vec(-8.0f64..0.0, 8),
    ) {
        let step = 1e-5;
        for loss in examples().into_iter().filter(Loss::is_gradient_exact) {
            let value = |moved: &[f64]| of_draws(&loss, moved, &scores, quantile, &draws).values[0];
            let found = of_draws(&loss, &scores, &scores, quantile, &draws);
            let differences: Vec<f64> = (0..scores.len()).map(|at| {
                let moved = |by: f64| value(&scores.iter().enumerate().map(|(j, s)| if j == at { s + by } else { *s }).collect::<Vec<_>>());
                (moved(step) - moved(-step)) / (2.0 * step)
            }).collect();
            assert_close(&[found.by_positives, found.by_negatives.concat()].concat(), &differences, 2e-7);
        }
    }

    #[test]
    fn the_order_of_negatives_does_not_matter(
        scores in prop::collection::vec(-1.0f64..1.0, 2..40),
        quantile in -1.0f64..1.0,
        draws in prop::collection::vec(-8.0f64..0.0, 39),
    ) {
        let (mut reversed, mut reversed_draws) = (scores.clone(), draws[..scores.len() - 1].to_vec());
        reversed[1..].reverse();
        reversed_draws.reverse();
        for loss in examples() {
            let found = of_draws(&loss, &scores, &scores, quantile, &draws);
            let mut other = of_draws(&loss, &reversed, &reversed, quantile, &reversed_draws);
            other.by_negatives[0].reverse();
            assert_close(&all(&found).collect::<Vec<_>>(), &all(&other).collect::<Vec<_>>(), 1e-12);
        }
    }

    #[test]
    fn rows_do_not_see_each_other(scores in prop::collection::vec(-1.0f64..1.0, 12..13), quantiles in prop::collection::vec(-1.0f64..1.0, 3..4)) {
        let negatives: Vec<Vec<f64>> = scores[3..].chunks(3).map(<[f64]>::to_vec).collect();
        for loss in examples().into_iter().filter(|loss| !loss.couples_rows()) {
            let together = evaluate(&loss, &scores[..3], &negatives, &quantiles);
            for row in 0..3 {
                let alone = evaluate(&loss, &scores[row..=row], &negatives[row..=row], &quantiles[row..=row]);
                assert_close(&[together.values[row], together.by_positives[row]], &[alone.values[0], alone.by_positives[0]], 1e-13);
                assert_close(&together.by_negatives[row], &alone.by_negatives[0], 1e-13);
            }
        }
    }
}
