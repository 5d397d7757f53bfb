//! What the tests of losses share: scores as `f64` variables, values and gradients as vectors.

use super::{Loss, Scores};
use candle_core::{DType, Device, Tensor, Var};

/// Values `[B]` and gradients of their sum: by positives `[B]` and negatives `[B][N]`.
pub(super) struct Evaluated {
    pub(super) values: Vec<f64>,
    pub(super) by_positives: Vec<f64>,
    pub(super) by_negatives: Vec<Vec<f64>>,
}

/// Runs the loss in `f64` on rows of scores.
pub(super) fn evaluate(loss: &Loss, positives: &[f64], negatives: &[Vec<f64>], quantiles: &[f64]) -> Evaluated {
    evaluate_in(DType::F64, loss, positives, negatives, quantiles)
}

/// Runs the loss on rows of scores in the precision of `dtype`.
pub(super) fn evaluate_in(dtype: DType, loss: &Loss, positives: &[f64], negatives: &[Vec<f64>], quantiles: &[f64]) -> Evaluated {
    let positives = Var::new(positives, &Device::Cpu).unwrap();
    let negatives = Var::new(negatives.to_vec(), &Device::Cpu).unwrap();
    let quantiles = Tensor::new(quantiles, &Device::Cpu).unwrap();
    let [p, n, q] = [positives.as_tensor(), &negatives, &quantiles].map(|scores| scores.to_dtype(dtype).unwrap());
    let values = loss.forward(&Scores { positives: &p, negatives: &n, quantiles: Some(&q) }).unwrap();
    assert_eq!((values.dtype(), values.dims()), (dtype, positives.dims()), "one value per positive, of the scores' type");
    let gradients = values.sum_all().unwrap().backward().unwrap();
    Evaluated {
        values: values.to_dtype(DType::F64).unwrap().to_vec1().unwrap(),
        by_positives: gradients.get(&positives).unwrap().to_vec1().unwrap(),
        by_negatives: gradients.get(&negatives).unwrap().to_vec2().unwrap(),
    }
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
