//! The fused forms against the candle formulas in `f64`.

use super::super::contract::examples;
use super::super::testing::evaluate;
use super::super::{Loss, Softmax};
use proptest::prelude::*;
use vectors::Similarity;

/// Compares one row: value and gradients within a part in `10^5` of the largest of each kind, and the last digit of an `f32` near 1,
/// as the gradient of a positive is a probability of nearly 1 less 1 in some losses.
#[track_caller]
fn assert_twin(loss: &Loss, positive: f32, negatives: &[f32], quantile: f32) {
    let wide: Vec<f64> = negatives.iter().copied().map(f64::from).collect();
    let exact = evaluate(loss, &[f64::from(positive)], &[wide], &[f64::from(quantile)]);
    let mut gradient = negatives.to_vec();
    let mut by_positive = [positive];
    let value = loss.fused().unwrap().row(&mut by_positive, &mut gradient, quantile);
    let steepest = exact.by_positives.iter().chain(&exact.by_negatives[0]).fold(1e-3f64, |a, b| a.max(b.abs()));
    let near = |found: f32, exact: f64, scale: f64| (f64::from(found) - exact).abs() <= 1e-5 * scale + f64::from(f32::EPSILON);
    assert!(near(value, exact.values[0], exact.values[0].abs().max(1.0)), "{loss:?}: {value} {}", exact.values[0]);
    assert!(near(by_positive[0], exact.by_positives[0], steepest), "{loss:?}: {by_positive:?} {}", exact.by_positives[0]);
    for (&found, &exact) in gradient.iter().zip(&exact.by_negatives[0]) {
        assert!(near(found, exact, steepest), "{loss:?}: {found} {exact}");
    }
}

/// An example of each loss that has a fused form.
fn examples_with_fused_form() -> Vec<Loss> {
    examples().into_iter().filter(|loss| loss.fused().is_some()).collect()
}

/// Temperatures at both ends of what papers tune.
fn sharp_and_blunt() -> [Loss; 2] {
    [0.01, 5.0].map(|temperature| Loss::Softmax(Softmax { temperature, include_positive: false, similarity: Similarity::Cosine }))
}

proptest! {
    #[test]
    fn twins_agree_on_cosines(scores in prop::collection::vec(-1f32..1.0, 2..200), quantile in -1f32..1.0) {
        for loss in examples_with_fused_form().iter().chain(&sharp_and_blunt()) {
            assert_twin(loss, scores[0], &scores[1..], quantile);
        }
    }

    #[test]
    fn twins_agree_on_wide_scores(scores in prop::collection::vec(-60f32..60.0, 2..80), quantile in -60f32..60.0) {
        for loss in examples_with_fused_form() {
            assert_twin(&loss, scores[0], &scores[1..], quantile);
        }
    }
}

#[test]
fn twins_agree_on_long_rows() {
    let negatives: Vec<f32> = (0..5003).map(|at| (at as f32 * 0.7).sin()).collect();
    let any_length = |loss: &Loss| loss.needs_draws().is_none();
    for loss in examples_with_fused_form().into_iter().filter(any_length).chain(sharp_and_blunt()) {
        assert_twin(&loss, 0.4, &negatives, 0.6);
    }
}

#[test]
fn twins_agree_at_extremes() {
    for loss in examples_with_fused_form() {
        assert_twin(&loss, 500.0, &[800.0, -300.0, 790.0], 700.0);
        assert_twin(&loss, -500.0, &[800.0, -300.0, 790.0], 0.0);
        assert_twin(&loss, 1e4, &[-1e4], 0.0);
        assert_twin(&loss, 0.3, &[-1e30, 0.2, -1e30, 0.1], 0.5);
    }
}

#[test]
fn masked_entries_get_no_gradient() {
    for loss in examples_with_fused_form() {
        let mut negatives = [-1e30, 0.2, -1e30, 0.1];
        let mut positives = [0.3];
        let value = loss.fused().unwrap().row(&mut positives, &mut negatives, 0.5);
        assert!(value.is_finite() && positives[0].is_finite(), "{loss:?}");
        assert_eq!((negatives[0], negatives[2]), (0.0, 0.0), "{loss:?}");
    }
}

/// A score that is not a number must end a trial, not vanish in a clamp.
#[test]
fn nan_comes_through() {
    for loss in examples_with_fused_form() {
        let fused = loss.fused().unwrap();
        let mut negatives: Vec<f32> = (0..40).map(|at| at as f32 / 40.0).collect();
        negatives[17] = f32::NAN;
        assert!(fused.row(&mut [0.3], &mut negatives, 0.5).is_nan(), "{loss:?}: negative");
        assert!(fused.row(&mut [f32::NAN], &mut [0.1, 0.2], 0.5).is_nan(), "{loss:?}: positive");
    }
}

/// A negative of weight 2 is one that is there twice, and one of weight 0 is not there.
#[test]
fn weights_say_how_often_a_negative_counts() {
    let negatives: Vec<f32> = (0..150).map(|at| 3.0 * (at as f32 * 0.7).sin()).collect();
    let weights: Vec<f32> = (0..150).map(|at| (at % 3) as f32).collect();
    let repeated = || negatives.iter().zip(&weights).flat_map(|(&score, &weight)| std::iter::repeat_n(score, weight as usize));
    let weighing: Vec<Loss> = examples_with_fused_form().into_iter().filter(|loss| loss.fused().unwrap().takes_weights()).collect();
    assert!(weighing.iter().any(|loss| matches!(loss, Loss::Bce(_))) && weighing.iter().any(|loss| matches!(loss, Loss::Bpr(_))));
    for loss in weighing {
        let fused = loss.fused().unwrap();
        let (mut own, mut weighed) = ([0.4], negatives.clone());
        let found = fused.weighted_row(&mut own, &mut weighed, &weights);
        let (mut expected_own, mut rows) = ([0.4], repeated().collect::<Vec<f32>>());
        let expected = fused.row(&mut expected_own, &mut rows, 0.0);
        assert!((found - expected).abs() < 1e-5 * expected.abs(), "{loss:?}: {found} {expected}");
        assert!((own[0] - expected_own[0]).abs() < 1e-5 * expected_own[0].abs(), "{loss:?}: {own:?} {expected_own:?}");
        let derivatives =
            weighed.iter().zip(&weights).flat_map(|(&derivative, &weight)| std::iter::repeat_n(derivative / weight, weight as usize));
        for (found, expected) in derivatives.zip(&rows) {
            assert!((found - expected).abs() < 1e-6, "{loss:?}: {found} {expected}");
        }
        assert!(weighed.iter().step_by(3).all(|&derivative| derivative == 0.0), "{loss:?}");
    }
}

/// The literals are the reference's stability test.
#[test]
fn scores_of_hundreds_neither_overflow_nor_vanish() {
    let row = |kind: &str| {
        let loss: Loss = serde_json::from_str(&format!(r#"{{"{kind}": {{}}}}"#)).unwrap();
        f64::from(loss.fused().unwrap().row(&mut [500.0], &mut [800.0, -300.0, 790.0], 0.0))
    };
    assert_eq!(row("bpr"), 590.0);
    assert!((row("cce") - 300.0000454).abs() < 2e-5, "{}", row("cce"));
}

#[test]
fn cce_is_the_softmax_of_temperature_1_with_the_positive() {
    let row = |loss: &str| {
        let (mut positives, mut negatives) = ([0.3], [0.7, -1.2, 0.1]);
        let loss: Loss = serde_json::from_str(loss).unwrap();
        (loss.fused().unwrap().row(&mut positives, &mut negatives, 0.0), positives, negatives)
    };
    assert_eq!(row(r#"{"cce": {}}"#), row(r#"{"softmax": {"temperature": 1.0, "include_positive": true}}"#));
}
