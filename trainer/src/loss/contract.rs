//! What every loss promises, whatever its formula.

use super::testing::{Evaluated, assert_close, evaluate, evaluate_in};
use super::{Bce, Bpr, Cce, Loss, Softmax, SoftmaxAtK};
use candle_core::DType;
use evaluator::Similarity;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Every kind, with each of its switches off and on.
pub(super) fn examples() -> Vec<Loss> {
    let softmax = |include_positive| Softmax { temperature: 0.2, include_positive, similarity: Similarity::Cosine };
    let softmax_at_k = |include_positive, detach_weight| SoftmaxAtK {
        cutoff: 3,
        temperature: 0.2,
        weight_temperature: 1.5,
        quantile_every: 5,
        detach_weight,
        include_positive,
        similarity: Similarity::Cosine,
    };
    vec![
        Loss::Bce(Bce { similarity: Similarity::Dot }),
        Loss::Bpr(Bpr { similarity: Similarity::Dot }),
        Loss::Cce(Cce { similarity: Similarity::Dot }),
        Loss::Softmax(softmax(false)),
        Loss::Softmax(softmax(true)),
        Loss::SoftmaxAtK(softmax_at_k(false, false)),
        Loss::SoftmaxAtK(softmax_at_k(true, false)),
        Loss::SoftmaxAtK(softmax_at_k(false, true)),
    ]
}

/// Whether differences of the loss are its gradient: not where a part is held constant on purpose.
fn is_gradient_exact(loss: &Loss) -> bool {
    match loss {
        Loss::Bce(_) | Loss::Bpr(_) | Loss::Cce(_) | Loss::Softmax(_) => true,
        Loss::SoftmaxAtK(settings) => !settings.detach_weight,
    }
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

proptest! {
    #[test]
    fn gradients_are_central_differences(scores in prop::collection::vec(-1.0f64..1.0, 2..9), quantile in -1.0f64..1.0) {
        let step = 1e-5;
        for loss in examples().into_iter().filter(is_gradient_exact) {
            let value = |scores: &[f64]| evaluate(&loss, &scores[..1], &[scores[1..].to_vec()], &[quantile]).values[0];
            let found = evaluate(&loss, &scores[..1], &[scores[1..].to_vec()], &[quantile]);
            let differences: Vec<f64> = (0..scores.len()).map(|at| {
                let moved = |by: f64| value(&scores.iter().enumerate().map(|(j, s)| if j == at { s + by } else { *s }).collect::<Vec<_>>());
                (moved(step) - moved(-step)) / (2.0 * step)
            }).collect();
            assert_close(&[found.by_positives, found.by_negatives.concat()].concat(), &differences, 2e-7);
        }
    }

    #[test]
    fn the_order_of_negatives_does_not_matter(scores in prop::collection::vec(-1.0f64..1.0, 2..40), quantile in -1.0f64..1.0) {
        let negatives = scores[1..].to_vec();
        let reversed: Vec<f64> = negatives.iter().rev().copied().collect();
        for loss in examples() {
            let found = evaluate(&loss, &scores[..1], std::slice::from_ref(&negatives), &[quantile]);
            let mut other = evaluate(&loss, &scores[..1], std::slice::from_ref(&reversed), &[quantile]);
            other.by_negatives[0].reverse();
            assert_close(&all(&found).collect::<Vec<_>>(), &all(&other).collect::<Vec<_>>(), 1e-12);
        }
    }

    #[test]
    fn rows_do_not_see_each_other(scores in prop::collection::vec(-1.0f64..1.0, 12..13), quantiles in prop::collection::vec(-1.0f64..1.0, 3..4)) {
        let negatives: Vec<Vec<f64>> = scores[3..].chunks(3).map(<[f64]>::to_vec).collect();
        for loss in examples() {
            let together = evaluate(&loss, &scores[..3], &negatives, &quantiles);
            for row in 0..3 {
                let alone = evaluate(&loss, &scores[row..=row], &negatives[row..=row], &quantiles[row..=row]);
                assert_close(&[together.values[row], together.by_positives[row]], &[alone.values[0], alone.by_positives[0]], 1e-13);
                assert_close(&together.by_negatives[row], &alone.by_negatives[0], 1e-13);
            }
        }
    }
}
