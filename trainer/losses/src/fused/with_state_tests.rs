//! The fused forms of losses with more to move than a model against the candle formulas in `f64`.

use super::super::{Loss, adv_info_nce, contract::examples, llpauc, testing::differentiate};
use super::StateRows;
use proptest::prelude::*;

/// A row: its scores, the scalars of `llpauc`, and an adversary's scores.
struct Case<'a> {
    positive: f32,
    negatives: &'a [f32],
    scalars: [f32; 7],
    hardness: &'a [f32],
}

const SCALARS: [f32; 7] = [0.9, 0.1, 0.05, 0.4, 0.6, 0.5, 0.5];

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

/// The formula's value, and its derivatives by the positive, the negatives and what the loss has of its own.
fn exact(loss: &Loss, case: &Case) -> (f64, Vec<Vec<f64>>) {
    let shape = [1, case.negatives.len()];
    let (negatives, scalars, hardness) = (wide(case.negatives), wide(&case.scalars), wide(case.hardness));
    let (own, of_own): (&[f64], &[usize]) = if let Loss::Llpauc(_) = loss { (&scalars, &[7]) } else { (&hardness, &shape) };
    let inputs: [(&[f64], &[usize]); 3] = [(&[f64::from(case.positive)], &[1]), (&negatives, &shape), (own, of_own)];
    differentiate(&inputs, |x| match loss {
        Loss::Llpauc(settings) => llpauc(&x[0], &x[1], &x[2], settings),
        Loss::AdvInfoNce(settings) => adv_info_nce(&x[0], &x[1], &x[2], settings.temperature, settings.negative_weight),
        _ => unreachable!("no other loss has such a fused form"),
    })
}

fn fused(loss: &Loss, case: &Case) -> (f64, Vec<Vec<f64>>) {
    let (mut positive, mut negatives, mut adversary, mut by_numbers) =
        (case.positive, case.negatives.to_vec(), case.hardness.to_vec(), [0.0; 7]);
    let own = StateRows { phase: 0, numbers: &case.scalars, by_numbers: &mut by_numbers, adversary: &mut adversary };
    let mut value = [0.0];
    loss.fused_with_state().unwrap().rows(&mut value, std::slice::from_mut(&mut positive), &mut negatives, own);
    let own = if let Loss::Llpauc(_) = loss { by_numbers.to_vec() } else { wide(&adversary) };
    (f64::from(value[0]), vec![vec![f64::from(positive)], wide(&negatives), own])
}

/// Value and gradients within a part in 10^5 of the largest of each kind.
#[track_caller]
fn assert_twin(loss: &Loss, case: &Case) {
    let ((found, gradients), (value, expected)) = (fused(loss, case), exact(loss, case));
    assert!((found - value).abs() <= 1e-5 * value.abs().max(1.0), "{loss:?}: {found} {value}");
    for (found, exact) in gradients.iter().zip(&expected) {
        let steepest = expected[..2].concat().iter().chain(exact).fold(1e-3f64, |a, b| a.max(b.abs()));
        let near = found.iter().zip(exact).all(|(found, exact)| (found - exact).abs() <= 1e-5 * steepest);
        assert!(near && found.len() == exact.len(), "{loss:?}: {found:?} {exact:?}");
    }
}

/// The fused forms of rows of any length.
fn examples_with_fused_form() -> Vec<Loss> {
    examples().into_iter().filter(|loss| loss.fused_with_state().is_some() && loss.negatives().is_none()).collect()
}

#[test]
fn losses_of_rows_of_any_length_have_a_twin() {
    let losses = examples_with_fused_form();
    assert!(matches!(losses[..], [Loss::AdvInfoNce(_), Loss::Llpauc(_), Loss::Llpauc(_)]), "{losses:?}");
}

/// Scores up to `scale`, each masked with one chance in five, and an adversary's.
fn rows(scale: f32) -> impl Strategy<Value = (f32, Vec<f32>, Vec<f32>)> {
    let score = move || prop_oneof![4 => -scale..scale, 1 => Just(-1e30f32)];
    (-scale..scale, prop::collection::vec((score(), -1f32..1.0), 1..200)).prop_map(|(positive, rest)| {
        let (negatives, hardness) = rest.into_iter().unzip();
        (positive, negatives, hardness)
    })
}

proptest! {
    #[test]
    fn twins_agree_on_cosines((positive, negatives, hardness) in rows(1.0), scalars: [f32; 7]) {
        let scalars = scalars.map(|scalar| if scalar.is_finite() { scalar.abs() % 1.0 } else { 0.5 });
        for loss in examples_with_fused_form() {
            assert_twin(&loss, &Case { positive, negatives: &negatives, scalars, hardness: &hardness });
        }
    }

    #[test]
    fn twins_agree_on_wide_scores((positive, negatives, hardness) in rows(60.0)) {
        for loss in examples_with_fused_form() {
            assert_twin(&loss, &Case { positive, negatives: &negatives, scalars: SCALARS, hardness: &hardness });
        }
    }
}

#[test]
fn twins_agree_on_long_rows_and_at_extremes() {
    let wave = |pitch: f32| (0..5003).map(|at| (at as f32 * pitch).sin()).collect::<Vec<f32>>();
    let (negatives, hardness) = (wave(0.7), wave(0.3));
    for loss in examples_with_fused_form() {
        assert_twin(&loss, &Case { positive: 0.4, negatives: &negatives, scalars: SCALARS, hardness: &hardness });
        for (positive, negatives) in [(500.0, [800.0, -300.0, 790.0]), (-500.0, [800.0, -300.0, 790.0]), (1e4, [-1e4, -1e30, 1e4])] {
            assert_twin(&loss, &Case { positive, negatives: &negatives, scalars: SCALARS, hardness: &[1.0, -1.0, 0.3] });
        }
    }
}

/// A row without negatives: what is masked has no part in anything.
#[test]
fn masked_entries_get_no_gradient() {
    for loss in examples_with_fused_form() {
        for negatives in [[-1e30; 3], [-1e30, 0.2, -1e30]] {
            let case = Case { positive: 0.3, negatives: &negatives, scalars: SCALARS, hardness: &[0.9, 0.1, -0.4] };
            assert_twin(&loss, &case);
            let (_, gradients) = fused(&loss, &case);
            assert_eq!((gradients[1][0], gradients[1][2]), (0.0, 0.0), "{loss:?}");
        }
    }
}

/// A score that is not a number must end a trial.
#[test]
fn nan_comes_through() {
    for loss in examples_with_fused_form() {
        let mut negatives = vec![0.1; 40];
        let hardness = vec![0.2; 40];
        let value = |positive, negatives: &[f32]| fused(&loss, &Case { positive, negatives, scalars: SCALARS, hardness: &hardness }).0;
        assert!(value(f32::NAN, &negatives).is_nan(), "{loss:?}: positive");
        negatives[17] = f32::NAN;
        assert!(value(0.3, &negatives).is_nan(), "{loss:?}: negative");
        assert!(value(0.3, &[f32::NAN; 40]).is_nan(), "{loss:?}: all");
    }
}
