//! What the tests of losses share: scores as `f64` variables, values and gradients as vectors.

use super::{Given, InitialValue, Loss, Others, Pair, Per, Relations, Scores};
use candle_core::{DType, Device, Result, Tensor, Var};

/// Items of the catalogue of all tests.
const ITEMS: usize = 100;

/// Scores of some rows, and what a loss may ask for beside them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) positives: &'a [f64],
    pub(super) negatives: &'a [Vec<f64>],
    pub(super) quantiles: &'a [f64],
    /// Log-probabilities of the positives and of the negatives.
    pub(super) log_probabilities: (&'a [f64], &'a [Vec<f64>]),
    /// The scores whose order gives the ranks, where it is not that of the scores above: those of the positives and of the negatives.
    pub(super) ranks: Option<(&'a [f64], &'a [Vec<f64>])>,
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
    evaluate_rows(dtype, loss, Rows { positives, negatives, quantiles, log_probabilities: (&own, &drawn), ranks: None }).unwrap()
}

/// Runs the loss on rows of scores that were drawn with any probabilities, in the precision of `dtype`. Its own numbers are as at first,
/// an adversary scores everything alike, users have no other items, and items and users are as far from each other as the unit vectors of different axes.
pub(super) fn evaluate_rows(dtype: DType, loss: &Loss, rows: Rows) -> Result<Evaluated> {
    let (positives, negatives) = (Var::new(rows.positives, &Device::Cpu)?, Var::new(rows.negatives.to_vec(), &Device::Cpu)?);
    let column = |values: &[f64]| Tensor::new(values, &Device::Cpu)?.to_dtype(dtype);
    let matrix = |values: &[Vec<f64>]| Tensor::new(values.to_vec(), &Device::Cpu)?.to_dtype(dtype);
    let as_list = |tensor: Tensor| if loss.list().is_some() { tensor.unsqueeze(1) } else { Ok(tensor) };
    let (p, n) = (as_list(positives.to_dtype(dtype)?)?, negatives.to_dtype(dtype)?);
    let (quantiles, estimated_ranks) = (column(rows.quantiles)?, column(&vec![7.0; rows.positives.len()])?);
    let (own, drawn) = (column(rows.log_probabilities.0)?, matrix(rows.log_probabilities.1)?);
    let (of_positives, of_negatives) = rows.ranks.map_or_else(|| ranks(rows.positives, rows.negatives), |(p, n)| ranks(p, n));
    let (of_positives, of_negatives) = (as_list(column(&of_positives)?)?, matrix(&of_negatives)?);
    let columns = columns(loss, rows.positives.len(), dtype)?;
    let (apart, of_rows) = ((n.zeros_like()? + away(loss))?, Tensor::eye(rows.positives.len(), dtype, &Device::Cpu)?);
    let of_rows = (((1.0 - &of_rows)? * away(loss))? + (of_rows * itself(loss))?)?;
    let (own_above, drawn_above) = (p.zeros_like()?, n.zeros_like()?);
    let count = column(&vec![0.0; rows.positives.len()])?;
    let others = Others { above: Pair { positives: &own_above, negatives: &drawn_above }, count: &count };
    let given = Given {
        phase: 0,
        weights: None,
        quantiles: Some(&quantiles),
        log_probabilities: Some(Pair { positives: &own, negatives: &drawn }),
        ranks: Some(Pair { positives: &of_positives, negatives: &of_negatives }),
        others: Some(others),
        estimated_ranks: Some(&estimated_ranks),
        columns: &columns,
        adversary: Some(&n.zeros_like()?),
        relations: Relations { of_negatives: Some(&apart), of_users: Some(&of_rows), of_positives: Some(&of_rows) },
    };
    let values = loss.forward(&Scores { positives: &p, negatives: &n, items: ITEMS, given })?;
    assert_eq!((values.dtype(), values.dims()), (dtype, positives.dims()), "one value per row, of the scores' type");
    let gradients = values.sum_all()?.backward()?;
    let by = |scores: &Var| gradients.get(scores).map_or_else(|| scores.zeros_like(), |gradient| Ok(gradient.clone()));
    Ok(Evaluated {
        values: values.to_dtype(DType::F64)?.to_vec1()?,
        by_positives: by(&positives)?.to_vec1()?,
        by_negatives: by(&negatives)?.to_vec2()?,
    })
}

/// Places among the items of a row, counted from 1; of equal scores, all have the best place.
fn ranks(positives: &[f64], negatives: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let of = |row: usize, score: f64| {
        1.0 + std::iter::once(&positives[row]).chain(&negatives[row]).filter(|&&other| other > score).count() as f64
    };
    let rows = 0..positives.len();
    let of_negatives = rows.clone().map(|row| negatives[row].iter().map(|&score| of(row, score)).collect()).collect();
    (rows.map(|row| of(row, positives[row])).collect(), of_negatives)
}

/// The loss's own numbers as at first; a tenth where they start at random.
fn columns(loss: &Loss, rows: usize, dtype: DType) -> Result<Vec<Tensor>> {
    let column = |column: super::StateSpec| {
        let length = if let Per::Whole(length) = column.per { length } else { rows };
        let start = if let InitialValue::Same(start) = column.initial { f64::from(start) } else { 0.1 };
        Tensor::new(vec![start; length], &Device::Cpu)?.to_dtype(dtype)
    };
    loss.columns().into_iter().map(column).collect()
}

/// The similarity of unit vectors of different axes, and of one with itself.
fn away(loss: &Loss) -> f64 {
    if loss.similarity() == vectors::Similarity::NegativeSquaredDistance { -2.0 } else { 0.0 }
}

fn itself(loss: &Loss) -> f64 {
    if loss.similarity() == vectors::Similarity::NegativeSquaredDistance { 0.0 } else { 1.0 }
}

/// Runs the loss on one row; the value, and the gradient as `[s+, negatives]`.
pub(super) fn evaluate_row(loss: &Loss, positive: f64, negatives: &[f64], quantile: f64) -> (f64, Vec<f64>) {
    let found = evaluate(loss, &[positive], &[negatives.to_vec()], &[quantile]);
    (found.values[0], [found.by_positives, found.by_negatives.concat()].concat())
}

/// A formula's values, summed, and the gradient of that sum by each input, in `f64`: `(values, shape)` is an input.
pub(super) fn differentiate(inputs: &[(&[f64], &[usize])], formula: impl Fn(&[Tensor]) -> Result<Tensor>) -> (f64, Vec<Vec<f64>>) {
    let variables: Vec<Var> = inputs.iter().map(|(values, shape)| Var::from_slice(values, *shape, &Device::Cpu).unwrap()).collect();
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

/// A formula of one list, `positives [1, 3]` and `negatives [1, 5]`, on the reference's worked example B: the value, and the gradient in
/// the order of the items.
pub(super) fn of_example_b(formula: impl Fn(&Tensor, &Tensor) -> Result<Tensor>) -> (f64, Vec<f64>) {
    const ORDER: [usize; 8] = [0, 2, 5, 1, 3, 4, 6, 7]; // positives, then negatives
    let list = ORDER.map(|item| EXAMPLE_B[item]);
    let (value, by) = differentiate(&[(&list[..3], &[1, 3]), (&list[3..], &[1, 5])], |inputs| formula(&inputs[0], &inputs[1]));
    let mut gradient = vec![0.0; ORDER.len()];
    ORDER.iter().zip(by.concat()).for_each(|(&item, by)| gradient[item] = by);
    (value, gradient)
}

/// A loss of pairs on the reference's worked example B, whose negatives are all items but the row's positive: the sum over the three positives, and
/// its gradient in the order of the items.
pub(super) fn of_all_items(loss: &Loss) -> (f64, Vec<f64>) {
    let (mut sum, mut gradient) = (0.0, vec![0.0; EXAMPLE_B.len()]);
    for positive in [0, 2, 5] {
        let others: Vec<usize> = (0..EXAMPLE_B.len()).filter(|&item| item != positive).collect();
        let negatives: Vec<f64> = others.iter().map(|&item| EXAMPLE_B[item]).collect();
        let (value, by) = evaluate_row(loss, EXAMPLE_B[positive], &negatives, 0.0);
        sum += value;
        [positive].iter().chain(&others).zip(by).for_each(|(&item, by)| gradient[item] += by);
    }
    (sum, gradient)
}
