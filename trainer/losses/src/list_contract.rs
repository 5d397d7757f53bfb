//! What every loss of lists promises, whatever its formula.

use super::contract;
use super::testing::{assert_close, assert_gradients, differentiate};
use super::*;
use candle_core::{DType, Device, Result, Tensor, Var};
use proptest::prelude::*;
use std::slice::from_ref;

/// Every loss of lists, with each of its switches off and on.
pub(super) fn examples() -> Vec<Loss> {
    contract::examples().into_iter().filter(|loss| loss.list().is_some()).collect()
}

fn forward(loss: &Loss, positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    loss.forward(&Scores { positives, negatives, items: 100, given: Given::default() })
}

/// Values of some lists and gradients of their sum, all in `f64`.
#[derive(Debug)]
pub(super) struct Evaluated {
    pub(super) values: Vec<f64>,
    pub(super) by_positives: Vec<Vec<f64>>,
    pub(super) by_negatives: Vec<Vec<f64>>,
}

fn evaluate_in(dtype: DType, loss: &Loss, positives: &[Vec<f64>], negatives: &[Vec<f64>]) -> Evaluated {
    let [positives, negatives] = [positives, negatives].map(|scores| Var::new(scores.to_vec(), &Device::Cpu).unwrap());
    let values = forward(loss, &positives.to_dtype(dtype).unwrap(), &negatives.to_dtype(dtype).unwrap()).unwrap();
    assert_eq!((values.dtype(), values.dims()), (dtype, &[positives.dim(0).unwrap()][..]), "{loss:?}: one value per list");
    let gradients = values.sum_all().unwrap().backward().unwrap();
    Evaluated {
        values: values.to_dtype(DType::F64).unwrap().to_vec1().unwrap(),
        by_positives: gradients.get(&positives).unwrap().to_vec2().unwrap(),
        by_negatives: gradients.get(&negatives).unwrap().to_vec2().unwrap(),
    }
}

pub(super) fn evaluate(loss: &Loss, positives: &[Vec<f64>], negatives: &[Vec<f64>]) -> Evaluated {
    evaluate_in(DType::F64, loss, positives, negatives)
}

pub(super) const MASKED: f64 = -1e30;

/// Scores far beyond what an exponential bears, equal scores, and lists that are masked but for one entry, or have no negatives.
#[test]
fn values_and_gradients_are_finite_at_extreme_scores() {
    let positives = [[500.0, -500.0], [0.0, 0.0], [1e4, 1e4], [-1e4, -1e4], [0.3, MASKED], [0.3, 0.1], [MASKED, MASKED]].map(Vec::from);
    let negatives = [
        [800.0, -300.0, 790.0],
        [0.0, 0.0, 0.0],
        [-1e4, -1e4, -1e4],
        [1e4, 1e4, 1e4],
        [MASKED, 0.2, MASKED],
        [MASKED, MASKED, MASKED],
        [0.1, 0.2, MASKED],
    ]
    .map(Vec::from);
    for (loss, dtype) in examples().iter().flat_map(|loss| [(loss, DType::F32), (loss, DType::F64)]) {
        let found = evaluate_in(dtype, loss, &positives, &negatives);
        let all = found.values.iter().chain(found.by_positives.iter().flatten()).chain(found.by_negatives.iter().flatten());
        assert!(all.copied().all(f64::is_finite), "{loss:?}: {found:?}");
        for (by, scores) in found.by_positives.iter().zip(&positives).chain(found.by_negatives.iter().zip(&negatives)) {
            let of_masked: Vec<f64> = by.iter().zip(scores).filter(|(_, score)| **score == MASKED).map(|(by, _)| *by).collect();
            assert!(of_masked.iter().all(|by| *by == 0.0), "{loss:?}: masked entries have no gradient: {found:?}");
        }
    }
}

/// A score that is not a number must end a trial, not vanish.
#[test]
fn nan_comes_through() {
    for loss in examples() {
        let value = |positive, negative| evaluate(&loss, &[vec![0.3, positive]], &[vec![negative, 0.2, 0.4]]).values[0];
        assert!(value(0.1, 0.5).is_finite(), "{loss:?}");
        assert!(value(f64::NAN, 0.5).is_nan() && value(0.1, f64::NAN).is_nan(), "{loss:?}");
    }
}

/// Different scores of a list of 3 positives and 4 negatives, far enough apart for differences.
pub(super) fn list() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::sample::subsequence((-30..30).collect::<Vec<i32>>(), 7).prop_shuffle().prop_map(|places| {
        let scores: Vec<f64> = places.into_iter().map(|place| f64::from(place) * 0.05).collect();
        (scores[..3].to_vec(), scores[3..].to_vec())
    })
}

proptest! {
    #[test]
    fn gradients_are_central_differences((positives, negatives) in list()) {
        for loss in examples().into_iter().filter(Loss::is_gradient_exact) {
            let inputs = [(&positives[..], &[1, 3][..]), (&negatives[..], &[1, 4][..])];
            assert_gradients(&inputs, 2e-7, |inputs| forward(&loss, &inputs[0], &inputs[1]));
            let (_, by) = differentiate(&inputs, |inputs| forward(&loss, &inputs[0], &inputs[1]));
            assert_close(&[by.concat().iter().sum()], &[0.0], 1e-12); // a shift of all scores changes nothing
        }
    }

    #[test]
    fn the_order_within_a_list_does_not_matter((positives, negatives) in list()) {
        let (mut reversed_positives, mut reversed_negatives) = (positives.clone(), negatives.clone());
        reversed_positives.reverse();
        reversed_negatives.reverse();
        for loss in examples() {
            let found = evaluate(&loss, from_ref(&positives), from_ref(&negatives));
            let mut other = evaluate(&loss, from_ref(&reversed_positives), from_ref(&reversed_negatives));
            other.by_positives[0].reverse();
            other.by_negatives[0].reverse();
            assert_close(&found.values, &other.values, 1e-12);
            assert_close(&found.by_positives[0], &other.by_positives[0], 1e-11);
            assert_close(&found.by_negatives[0], &other.by_negatives[0], 1e-11);
        }
    }

    /// A masked entry is as if it were not there, and lists do not see each other.
    #[test]
    fn masked_entries_and_other_lists_change_nothing((positives, negatives) in list(), (others, at) in (list(), 0usize..4)) {
        let (mut more_positives, mut more_negatives) = (positives.clone(), negatives.clone());
        more_positives.insert(at.min(3), MASKED);
        more_negatives.insert(at, MASKED);
        let full = ([others.0, vec![0.35]].concat(), [others.1, vec![-0.35]].concat());
        for loss in examples() {
            let alone = evaluate(&loss, from_ref(&positives), from_ref(&negatives));
            let mut found = evaluate(&loss, &[more_positives.clone(), full.0.clone()], &[more_negatives.clone(), full.1.clone()]);
            prop_assert_eq!(found.by_positives[0].remove(at.min(3)), 0.0);
            prop_assert_eq!(found.by_negatives[0].remove(at), 0.0);
            assert_close(&found.values[..1], &alone.values, 1e-12);
            assert_close(&found.by_positives[0], &alone.by_positives[0], 1e-11);
            assert_close(&found.by_negatives[0], &alone.by_negatives[0], 1e-11);
        }
    }
}
