//! Layers of a small network on some rows of a batch, forward and back.

use crate::operations::column_sums;
use embeddings::product::{View, multiply};
use rayon::prelude::*;
use vectors::Matrix;

/// Rows that one task takes.
pub(super) const ROWS: usize = 64;

fn by_rows(values: &[f32], dim: usize) -> View<'_> {
    View { values, row: dim, column: 1 }
}

fn by_columns(values: &[f32], dim: usize) -> View<'_> {
    View { values, row: 1, column: dim }
}

/// `y = x W^T + b` for `x [rows, in]`, `W [out, in]` and `b [out]`.
pub(super) fn forward(input: &[f32], weights: &Matrix, bias: &[f32], output: &mut [f32]) {
    let (from, to) = (weights.dim, weights.rows);
    output.chunks_exact_mut(to).for_each(|row| row.copy_from_slice(bias));
    multiply([input.len() / from, from, to], output, true, by_rows(input, from), by_columns(&weights.values, from));
}

/// `dL/dx = dL/dy W`, `[rows, in]`.
pub(super) fn backward(derivatives: &[f32], weights: &Matrix, of_input: &mut [f32]) {
    let (from, to) = (weights.dim, weights.rows);
    multiply([derivatives.len() / to, to, from], of_input, false, by_rows(derivatives, to), by_rows(&weights.values, from));
}

/// `dL/dW = (dL/dy)^T x` and `dL/db`, the sum of `dL/dy` over the rows, of a whole batch.
pub(super) fn gradients(derivatives: &[f32], input: &[f32], [from, to]: [usize; 2]) -> [Vec<f32>; 2] {
    let count = input.len() / from;
    let mut of_weights = vec![0.0; to * from];
    of_weights.par_chunks_mut(ROWS * from).enumerate().for_each(|(block, gradients)| {
        let derivatives = by_columns(&derivatives[block * ROWS..], to);
        multiply([gradients.len() / from, count, from], gradients, false, derivatives, by_rows(input, from));
    });
    [of_weights, column_sums(derivatives, to)]
}

/// Derivatives by tanh's outputs become those by its inputs.
pub(super) fn tanh_backward(derivatives: &mut [f32], outputs: &[f32]) {
    derivatives.iter_mut().zip(outputs).for_each(|(derivative, output)| *derivative *= 1.0 - output * output);
}
