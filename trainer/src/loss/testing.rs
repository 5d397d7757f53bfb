//! What the tests of losses share: scores as `f64` variables, values and gradients as vectors.

use super::{Loss, Scores};
use candle_core::{Device, Tensor, Var};

/// Values `[B]` and gradients of their sum: by positives `[B]` and negatives `[B][N]`.
pub(super) struct Evaluated {
    pub(super) values: Vec<f64>,
    pub(super) by_positives: Vec<f64>,
    pub(super) by_negatives: Vec<Vec<f64>>,
}

/// Runs the loss in `f64` on rows of scores.
pub(super) fn evaluate(loss: &Loss, positives: &[f64], negatives: &[Vec<f64>], quantiles: &[f64]) -> Evaluated {
    let positives = Var::new(positives, &Device::Cpu).unwrap();
    let negatives = Var::new(negatives.to_vec(), &Device::Cpu).unwrap();
    let quantiles = Tensor::new(quantiles, &Device::Cpu).unwrap();
    let scores = Scores { positives: &positives, negatives: &negatives, quantiles: Some(&quantiles) };
    let values = loss.forward(&scores).unwrap();
    let gradients = values.sum_all().unwrap().backward().unwrap();
    let by_positives = match gradients.get(&positives) {
        Some(gradient) => gradient.to_vec1().unwrap(),
        None => vec![0.0; positives.elem_count()],
    };
    Evaluated { values: values.to_vec1().unwrap(), by_positives, by_negatives: gradients.get(&negatives).unwrap().to_vec2().unwrap() }
}

/// Runs the loss on one row; the value, and the gradient as `[s+, negatives]`.
pub(super) fn evaluate_row(loss: &Loss, positive: f64, negatives: &[f64], quantile: f64) -> (f64, Vec<f64>) {
    let found = evaluate(loss, &[positive], &[negatives.to_vec()], &[quantile]);
    (found.values[0], [found.by_positives, found.by_negatives.concat()].concat())
}

/// Whether all entries are within `tolerance` of the expected ones.
#[track_caller]
pub(super) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}\nfound    {found:?}\nexpected {expected:?}");
    }
}

/// Positive and negatives of the reference's worked example A (dot products).
pub(super) const EXAMPLE_A: (f64, [f64; 4]) = (1.2, [0.9, -0.3, 1.5, 0.1]);
/// Positive and negatives of the reference's worked example C (cosines).
pub(super) const EXAMPLE_C: (f64, [f64; 4]) = (0.6, [0.5, -0.1, 0.7, 0.05]);
/// Scores of all items of the reference's worked example B; items 0, 2 and 5 are positive.
pub(super) const EXAMPLE_B: [f64; 8] = [0.9, 0.2, 0.5, -0.3, 0.7, 0.1, -0.6, 0.4];
