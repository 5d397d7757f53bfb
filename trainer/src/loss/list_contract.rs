//! What every loss of lists promises, whatever its formula.

use super::testing::{assert_close, assert_gradients, differentiate};
use super::*;
use candle_core::{DType, Device, Var};
use proptest::prelude::*;
use std::slice::from_ref;

/// A loss of lists and its name in messages.
struct Example {
    name: &'static str,
    formula: Box<dyn Fn(&Tensor, &Tensor) -> Result<Tensor>>,
}

/// Every loss of lists, with each of its switches off and on.
fn examples() -> Vec<Example> {
    fn example(name: &'static str, formula: impl Fn(&Tensor, &Tensor) -> Result<Tensor> + 'static) -> Example {
        Example { name, formula: Box::new(formula) }
    }
    let similarity = Similarity::Dot;
    let ndcg = move |form, include_self| {
        let settings = SmoothNdcg { temperature: 0.4, form, positives: 3, include_self, similarity };
        move |positives: &Tensor, negatives: &Tensor| smooth_ndcg(positives, negatives, &settings)
    };
    let neural = move |sinkhorn_iterations, transposed, cutoff| {
        let settings = NeuralNdcg { temperature: 0.7, cutoff, sinkhorn_iterations, transposed, positives: 3, similarity };
        move |positives: &Tensor, negatives: &Tensor| neural_ndcg(positives, negatives, &settings)
    };
    let recall =
        SmoothRecall { temperature: 0.4, cutoffs: vec![1, 3], cutoff_temperature: 0.8, positives: 3, include_self: false, similarity };
    vec![
        example("smooth-ndcg of ranks", ndcg(Form::Ranks, false)),
        example("smooth-ndcg of ranks with self", ndcg(Form::Ranks, true)),
        example("smooth-ndcg of gains", ndcg(Form::Gains, false)),
        example("smooth-ap", |p, n| {
            smooth_ap(p, n, &SmoothAp { temperature: 0.4, positives: 3, include_self: false, similarity: Similarity::Dot })
        }),
        example("smooth-recall", move |p, n| smooth_recall(p, n, &recall)),
        example("approx-ndcg", move |p, n| approx_ndcg(p, n, &ApproxNdcg { steepness: 2.0, positives: 3, similarity })),
        example("bsl", move |p, n| bsl_of_lists(p, n, &Bsl { positive_temperature: 0.3, negative_temperature: 0.5, similarity })),
        example("neural-ndcg", neural(0, false, None)),
        example("neural-ndcg@2", neural(0, false, Some(2))),
        example("neural-ndcg scaled", neural(5, false, None)),
        example("neural-ndcg@2 transposed", neural(5, true, Some(2))),
    ]
}

/// Values of some lists and gradients of their sum, all in `f64`.
#[derive(Debug)]
struct Evaluated {
    values: Vec<f64>,
    by_positives: Vec<Vec<f64>>,
    by_negatives: Vec<Vec<f64>>,
}

fn evaluate_in(dtype: DType, example: &Example, positives: &[Vec<f64>], negatives: &[Vec<f64>]) -> Evaluated {
    let [positives, negatives] = [positives, negatives].map(|scores| Var::new(scores.to_vec(), &Device::Cpu).unwrap());
    let values = (example.formula)(&positives.to_dtype(dtype).unwrap(), &negatives.to_dtype(dtype).unwrap()).unwrap();
    assert_eq!((values.dtype(), values.dims()), (dtype, &[positives.dim(0).unwrap()][..]), "{}: one value per list", example.name);
    let gradients = values.sum_all().unwrap().backward().unwrap();
    Evaluated {
        values: values.to_dtype(DType::F64).unwrap().to_vec1().unwrap(),
        by_positives: gradients.get(&positives).unwrap().to_vec2().unwrap(),
        by_negatives: gradients.get(&negatives).unwrap().to_vec2().unwrap(),
    }
}

fn evaluate(example: &Example, positives: &[Vec<f64>], negatives: &[Vec<f64>]) -> Evaluated {
    evaluate_in(DType::F64, example, positives, negatives)
}

const MASKED: f64 = -1e30;

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
    for (example, dtype) in examples().iter().flat_map(|example| [(example, DType::F32), (example, DType::F64)]) {
        let found = evaluate_in(dtype, example, &positives, &negatives);
        let all = found.values.iter().chain(found.by_positives.iter().flatten()).chain(found.by_negatives.iter().flatten());
        assert!(all.copied().all(f64::is_finite), "{}: {found:?}", example.name);
        for (by, scores) in found.by_positives.iter().zip(&positives).chain(found.by_negatives.iter().zip(&negatives)) {
            let of_masked: Vec<f64> = by.iter().zip(scores).filter(|(_, score)| **score == MASKED).map(|(by, _)| *by).collect();
            assert!(of_masked.iter().all(|by| *by == 0.0), "{}: masked entries have no gradient: {found:?}", example.name);
        }
    }
}

/// A score that is not a number must end a trial, not vanish.
#[test]
fn nan_comes_through() {
    for example in examples() {
        let value = |positive, negative| evaluate(&example, &[vec![0.3, positive]], &[vec![negative, 0.2, 0.4]]).values[0];
        assert!(value(0.1, 0.5).is_finite(), "{}", example.name);
        assert!(value(f64::NAN, 0.5).is_nan() && value(0.1, f64::NAN).is_nan(), "{}", example.name);
    }
}

/// Different scores of a list of 3 positives and 4 negatives, far enough apart for differences.
fn list() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::sample::subsequence((-30..30).collect::<Vec<i32>>(), 7).prop_shuffle().prop_map(|places| {
        let scores: Vec<f64> = places.into_iter().map(|place| f64::from(place) * 0.05).collect();
        (scores[..3].to_vec(), scores[3..].to_vec())
    })
}

proptest! {
    #[test]
    fn gradients_are_central_differences((positives, negatives) in list()) {
        for example in examples() {
            let inputs = [(&positives[..], &[1, 3][..]), (&negatives[..], &[1, 4][..])];
            assert_gradients(&inputs, 2e-7, |inputs| (example.formula)(&inputs[0], &inputs[1]));
            let (_, by) = differentiate(&inputs, |inputs| (example.formula)(&inputs[0], &inputs[1]));
            assert_close(&[by.concat().iter().sum()], &[0.0], 1e-12); // a shift of all scores changes nothing
        }
    }

    #[test]
    fn the_order_within_a_list_does_not_matter((positives, negatives) in list()) {
        let (mut reversed_positives, mut reversed_negatives) = (positives.clone(), negatives.clone());
        reversed_positives.reverse();
        reversed_negatives.reverse();
        for example in examples() {
            let found = evaluate(&example, from_ref(&positives), from_ref(&negatives));
            let mut other = evaluate(&example, from_ref(&reversed_positives), from_ref(&reversed_negatives));
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
        for example in examples() {
            let alone = evaluate(&example, from_ref(&positives), from_ref(&negatives));
            let mut found = evaluate(&example, &[more_positives.clone(), full.0.clone()], &[more_negatives.clone(), full.1.clone()]);
            prop_assert_eq!(found.by_positives[0].remove(at.min(3)), 0.0);
            prop_assert_eq!(found.by_negatives[0].remove(at), 0.0);
            assert_close(&found.values[..1], &alone.values, 1e-12);
            assert_close(&found.by_positives[0], &alone.by_positives[0], 1e-11);
            assert_close(&found.by_negatives[0], &alone.by_negatives[0], 1e-11);
        }
    }
}
