//! The fused forms of lists against the candle formulas in `f64`.

use super::super::Loss;
use super::super::list_contract::{MASKED, evaluate, examples};
use proptest::prelude::*;

/// Compares one list: value and gradients within a part in `10^5` of the largest of each kind.
#[track_caller]
fn assert_twin(loss: &Loss, positives: &[f32], negatives: &[f32]) {
    let wide = |scores: &[f32]| vec![scores.iter().copied().map(f64::from).collect::<Vec<f64>>()];
    let exact = evaluate(loss, &wide(positives), &wide(negatives));
    let (mut by_positives, mut by_negatives) = (positives.to_vec(), negatives.to_vec());
    let value = loss.fused().unwrap().row(&mut by_positives, &mut by_negatives, 0.0);
    let exact_gradient = || exact.by_positives[0].iter().chain(&exact.by_negatives[0]);
    let steepest = exact_gradient().fold(1e-3f64, |a, b| a.max(b.abs()));
    let near = |found: f32, exact: f64, scale: f64| (f64::from(found) - exact).abs() <= 1e-5 * scale;
    assert!(near(value, exact.values[0], exact.values[0].abs().max(1.0)), "{loss:?}: {value} {}", exact.values[0]);
    for (&found, &exact) in by_positives.iter().chain(&by_negatives).zip(exact_gradient()) {
        assert!(near(found, exact, steepest), "{loss:?}: {found} {exact}\n{by_positives:?} {by_negatives:?}\n{:?}", exact_gradient());
    }
}

fn examples_with_fused_form() -> Vec<Loss> {
    examples().into_iter().filter(|loss| loss.fused().is_some()).collect()
}

/// Scores up to `scale` of some positives and negatives, each masked with one chance in five, but for the first positive.
fn list(scale: f32) -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
    let score = move || prop_oneof![4 => -scale..scale, 1 => Just(MASKED as f32)];
    (-scale..scale, prop::collection::vec(score(), 0..5), prop::collection::vec(score(), 1..60))
        .prop_map(|(first, rest, negatives)| ([vec![first], rest].concat(), negatives))
}

proptest! {
    #[test]
    fn twins_agree_on_cosines((positives, negatives) in list(1.0)) {
        for loss in examples_with_fused_form() {
            assert_twin(&loss, &positives, &negatives);
        }
    }

    #[test]
    fn twins_agree_on_wide_scores((positives, negatives) in list(60.0)) {
        for loss in examples_with_fused_form() {
            assert_twin(&loss, &positives, &negatives);
        }
    }
}

#[test]
fn twins_agree_on_long_lists() {
    let negatives: Vec<f32> = (0..5003).map(|at| (at as f32 * 0.7).sin()).collect();
    for loss in examples_with_fused_form().into_iter().filter(|loss| loss.needs_draws().is_none()) {
        assert_twin(&loss, &[0.4, -0.2, 0.9, 0.95, 0.1], &negatives);
    }
}

#[test]
fn twins_agree_at_extremes() {
    let masked = MASKED as f32;
    for loss in examples_with_fused_form() {
        assert_twin(&loss, &[500.0, -500.0], &[800.0, -300.0, 790.0]);
        assert_twin(&loss, &[0.0, 0.0, 0.0], &[0.0, 0.0, 0.0]);
        assert_twin(&loss, &[1e4, 1e4], &[-1e4]);
        assert_twin(&loss, &[0.3, masked, 0.1], &[masked, masked]);
        assert_twin(&loss, &[masked, masked], &[0.1, 0.2]);
    }
}

#[test]
fn masked_entries_get_no_gradient_and_nan_comes_through() {
    let masked = MASKED as f32;
    for loss in examples_with_fused_form() {
        let run = |mut positives: [f32; 3], mut negatives: [f32; 4]| {
            let value = loss.fused().unwrap().row(&mut positives, &mut negatives, 0.0);
            (value, positives, negatives)
        };
        let (value, positives, negatives) = run([0.3, masked, 0.1], [masked, 0.2, masked, 0.4]);
        assert!(value.is_finite() && [positives[1], negatives[0], negatives[2]] == [0.0; 3], "{loss:?}: {positives:?} {negatives:?}");
        assert!(run([f32::NAN, 0.2, 0.1], [0.1; 4]).0.is_nan(), "{loss:?}: positive");
        assert!(run([0.3, 0.2, 0.1], [0.1, f32::NAN, 0.1, 0.2]).0.is_nan(), "{loss:?}: negative");
    }
}
