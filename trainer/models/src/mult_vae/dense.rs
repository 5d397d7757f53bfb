//! Layers of a small network on the rows of a batch, forward and back, in parallel over rows.

use embeddings::product::{View, multiply};
use rayon::prelude::*;
use vectors::Matrix;

/// Rows that one task takes.
const ROWS: usize = 64;

fn by_rows(values: &[f32], dim: usize) -> View<'_> {
    View { values, row: dim, column: 1 }
}

fn by_columns(values: &[f32], dim: usize) -> View<'_> {
    View { values, row: 1, column: dim }
}

/// `y = x W^T + b` for `x [B, in]`, `W [out, in]` and `b [out]`.
pub(super) fn forward(input: &[f32], weights: &Matrix, bias: &[f32]) -> Vec<f32> {
    let (from, to) = (weights.dim, weights.rows);
    let mut output = vec![0.0; input.len() / from * to];
    output.par_chunks_mut(ROWS * to).zip(input.par_chunks(ROWS * from)).for_each(|(output, input)| {
        output.chunks_exact_mut(to).for_each(|row| row.copy_from_slice(bias));
        multiply([input.len() / from, from, to], output, true, by_rows(input, from), by_columns(&weights.values, from));
    });
    output
}

/// `dL/dx = dL/dy W`, `[B, in]`.
pub(super) fn backward(derivatives: &[f32], weights: &Matrix) -> Vec<f32> {
    let (from, to) = (weights.dim, weights.rows);
    let mut of_input = vec![0.0; derivatives.len() / to * from];
    of_input.par_chunks_mut(ROWS * from).zip(derivatives.par_chunks(ROWS * to)).for_each(|(of_input, derivatives)| {
        multiply([derivatives.len() / to, to, from], of_input, false, by_rows(derivatives, to), by_rows(&weights.values, from));
    });
    of_input
}

/// `dL/dW = (dL/dy)^T x` and `dL/db`, the sum of `dL/dy` over the rows.
pub(super) fn gradients(derivatives: &[f32], input: &[f32], [from, to]: [usize; 2]) -> [Matrix; 2] {
    let count = input.len() / from;
    let mut of_weights = vec![0.0; to * from];
    of_weights.par_chunks_mut(ROWS * from).enumerate().for_each(|(block, gradients)| {
        let derivatives = by_columns(&derivatives[block * ROWS..], to);
        multiply([gradients.len() / from, count, from], gradients, false, derivatives, by_rows(input, from));
    });
    let mut of_bias = vec![0.0; to];
    for row in derivatives.chunks_exact(to) {
        of_bias.iter_mut().zip(row).for_each(|(sum, derivative)| *sum += derivative);
    }
    [Matrix { rows: to, dim: from, values: of_weights }, Matrix { rows: 1, dim: to, values: of_bias }]
}

/// Derivatives by tanh's outputs become those by its inputs.
pub(super) fn tanh_backward(derivatives: &mut [f32], outputs: &[f32]) {
    let both = derivatives.par_iter_mut().zip(outputs).with_min_len(4096);
    both.for_each(|(derivative, output)| *derivative *= 1.0 - output * output);
}
