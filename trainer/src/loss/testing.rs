//! What the tests of losses share: scores as `f64` variables, values and gradients as vectors.

use super::{LogProbabilities, Loss, Scores};
use candle_core::{DType, Device, Result, Tensor, Var};

/// Items of the catalogue of all tests.
const ITEMS: usize = 100;

/// Scores of some rows, and what a loss may ask for beside them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) positives: &'a [f64],
    pub(super) negatives: &'a [Vec<f64>],
    pub(super) quantiles: &'a [f64],
    /// Of the positives and of the negatives.
    pub(super) log_probabilities: (&'a [f64], &'a [Vec<f64>]),
}

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

/// Runs the loss on rows of scores in the precision of `dtype`; negatives are uniform draws.
pub(super) fn evaluate_in(dtype: DType, loss: &Loss, positives: &[f64], negatives: &[Vec<f64>], quantiles: &[f64]) -> Evaluated {
    let own = vec![-(ITEMS as f64).ln(); positives.len()];
    let drawn: Vec<Vec<f64>> = negatives.iter().map(|row| vec![own[0]; row.len()]).collect();
    evaluate_rows(dtype, loss, Rows { positives, negatives, quantiles, log_probabilities: (&own, &drawn) }).unwrap()
}

/// Runs the loss on rows of scores that were drawn with any probabilities, in the precision of `dtype`.
pub(super) fn evaluate_rows(dtype: DType, loss: &Loss, rows: Rows) -> Result<Evaluated> {
    let device = &Device::Cpu;
    let (positives, negatives) = (Var::new(rows.positives, device)?, Var::new(rows.negatives.to_vec(), device)?);
    let (p, n) = (positives.to_dtype(dtype)?, negatives.to_dtype(dtype)?);
    let quantiles = Tensor::new(rows.quantiles, device)?.to_dtype(dtype)?;
    let own = Tensor::new(rows.log_probabilities.0, device)?.to_dtype(dtype)?;
    let drawn = Tensor::new(rows.log_probabilities.1.to_vec(), device)?.to_dtype(dtype)?;
    let log_probabilities = Some(LogProbabilities { positives: &own, negatives: &drawn });
    let values = loss.forward(&Scores { positives: &p, negatives: &n, quantiles: Some(&quantiles), log_probabilities, items: ITEMS })?;
    assert_eq!((values.dtype(), values.dims()), (dtype, positives.dims()), "one value per positive, of the scores' type");
    let gradients = values.sum_all()?.backward()?;
    Ok(Evaluated {
        values: values.to_dtype(DType::F64)?.to_vec1()?,
        by_positives: gradients.get(&positives).unwrap().to_vec1()?,
        by_negatives: gradients.get(&negatives).unwrap().to_vec2()?,
    })
}

/// Runs the loss on one row; the value, and the gradient as `[s+, negatives]`.
pub(super) fn evaluate_row(loss: &Loss, positive: f64, negatives: &[f64], quantile: f64) -> (f64, Vec<f64>) {
    let found = evaluate(loss, &[positive], &[negatives.to_vec()], &[quantile]);
    (found.values[0], [found.by_positives, found.by_negatives.concat()].concat())
}

/// A formula's values, summed, and the gradient of that sum by each input, in `f64`: `(values, shape)` is an input.
pub(super) fn differentiate(inputs: &[(&[f64], &[usize])], formula: impl Fn(&[Tensor]) -> Result<Tensor>) -> (f64, Vec<Vec<f64>>) {
    let variables: Vec<Var> =
        inputs.iter().map(|(values, shape)| Var::from_slice(values, *shape, &Device::Cpu).unwrap()).collect();
    let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
    let sum = formula(&tensors).unwrap().sum_all().unwrap();
    let gradients = sum.backward().unwrap();
    let of = |variable: &Var| match gradients.get(variable) {
        Some(gradient) => gradient.flatten_all().unwrap().to_vec1().unwrap(),
        None => vec![0.0; variable.elem_count()],
    };
    (sum.to_scalar().unwrap(), variables.iter().map(of).collect())
}

/// Whether a formula's gradient by each input is its central difference.
#[track_caller]
pub(super) fn assert_gradients(inputs: &[(&[f64], &[usize])], tolerance: f64, formula: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let step = 1e-5;
    let (_, gradients) = differentiate(inputs, &formula);
    for (which, gradient) in gradients.iter().enumerate() {
        let moved = |at: usize, by: f64| {
            let values: Vec<f64> = inputs[which].0.iter().enumerate().map(|(k, v)| if k == at { v + by } else { *v }).collect();
            let mut inputs = inputs.to_vec();
            inputs[which].0 = &values;
            differentiate(&inputs, &formula).0
        };
        let differences: Vec<f64> = (0..gradient.len()).map(|at| (moved(at, step) - moved(at, -step)) / (2.0 * step)).collect();
        assert_close(gradient, &differences, tolerance);
    }
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
