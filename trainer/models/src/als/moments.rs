//! Sums over the rows of a table, in f64.

use super::cholesky::{add_outer, padded};
use embeddings::{
    dot,
    product::{View, multiply},
};
use rayon::prelude::*;
use vectors::Matrix;

/// Parts of a table that are summed in parallel, and then in their order.
const PARTS: usize = 16;
/// Rows that are multiplied together.
const ROWS: usize = 128;

/// The weighted sums of a table's rows r.
#[derive(Clone)]
pub(in super::super) struct Moments {
    /// `sum of w r r^T`, `[dim, dim]`
    pub(in super::super) gram: Vec<f64>,
    /// `sum of w r`, `[dim]`
    pub(in super::super) sum: Vec<f64>,
}

impl Moments {
    /// Bytes of forming the moments of so many rows.
    pub(super) fn bytes(rows: u64, dim: u64) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        let parts = rows.div_ceil(ROWS as u64).min(PARTS as u64).min(threads);
        8 * ((parts + 1) * (dim + 1) + threads * (ROWS as u64 + dim)) * dim
    }

    /// The weighted sums of a table's rows, with a weight of at least 0 for each row.
    pub(in super::super) fn of(table: &Matrix, weight: impl Fn(usize) -> f64 + Sync) -> Self {
        Self::summed(table, |moments, blocks| {
            let mut scaled = vec![0.0; ROWS * table.dim];
            blocks.for_each(|(first, rows)| moments.add(rows, |row| weight(first + row), &mut scaled));
        })
    }

    /// The Gram matrix with the weight 1 for each row, of which few rows at a time are summed in floats; the sum of the rows is left out.
    pub(in super::super) fn gram_by_floats(table: &Matrix) -> Self {
        let (dim, width) = (table.dim, padded(table.dim));
        let mut total = Self::summed(table, |moments, blocks| {
            let (mut gathered, mut matrix) = (vec![0.0; ROWS * width], vec![0.0; width * width]);
            for (_, rows) in blocks {
                for (row, gathered) in rows.chunks_exact(dim).zip(gathered.chunks_exact_mut(width)) {
                    gathered[..dim].copy_from_slice(row);
                }
                matrix.fill(0.0);
                add_outer(&mut matrix, &gathered[..rows.len() / dim * width], width);
                for (gram, matrix) in moments.gram.chunks_exact_mut(dim).zip(matrix.chunks_exact(width)) {
                    gram.iter_mut().zip(matrix).for_each(|(gram, value)| *gram += f64::from(*value));
                }
            }
        });
        for row in 0..dim {
            for column in 0..row {
                total.gram[row * dim + column] = total.gram[column * dim + row];
            }
        }
        total
    }

    /// The sum over parts of a table, each summed over its blocks of rows: the first row of a block, and the rows. As many parts are held as there are threads.
    fn summed<'t>(table: &'t Matrix, add: impl Fn(&mut Self, &mut dyn Iterator<Item = (usize, &'t [f32])>) + Sync) -> Self {
        let dim = table.dim;
        let zeros = || Self { gram: vec![0.0; dim * dim], sum: vec![0.0; dim] };
        let part = table.rows.div_ceil(PARTS).max(ROWS);
        let of_part = |&(at, rows): &(usize, &'t [f32])| {
            let mut moments = zeros();
            add(&mut moments, &mut (at * part..).step_by(ROWS).zip(rows.chunks(ROWS * dim)));
            moments
        };
        let parts: Vec<(usize, &[f32])> = table.values.chunks(part * dim).enumerate().collect();
        let mut total = zeros();
        for parts in parts.chunks(rayon::current_num_threads()) {
            let sums: Vec<Self> = parts.par_iter().map(of_part).collect();
            for part in sums {
                total.gram.iter_mut().zip(part.gram).for_each(|(total, value)| *total += value);
                total.sum.iter_mut().zip(part.sum).for_each(|(total, value)| *total += value);
            }
        }
        total
    }

    /// Adds rows `[n, dim]`, of which `scaled` takes those times the root of their weights.
    fn add(&mut self, rows: &[f32], weight: impl Fn(usize) -> f64, scaled: &mut [f64]) {
        let dim = self.sum.len();
        for (at, (row, scaled)) in rows.chunks_exact(dim).zip(scaled.chunks_exact_mut(dim)).enumerate() {
            let root = weight(at).sqrt();
            for ((&value, scaled), sum) in row.iter().zip(scaled).zip(&mut self.sum) {
                *scaled = root * f64::from(value);
                *sum += root * *scaled;
            }
        }
        let scaled = &scaled[..rows.len()];
        let (left, right) = (View { values: scaled, row: 1, column: dim }, View { values: scaled, row: dim, column: 1 });
        multiply([dim, rows.len() / dim, dim], &mut self.gram, true, left, right);
    }
}

/// `sum of w |r|²` over the rows of a table.
pub(in super::super) fn squared_norms(table: &Matrix, weight: impl Fn(usize) -> f64 + Sync) -> f64 {
    let of_part = |(part, rows): (usize, &[f32])| {
        let rows = rows.chunks_exact(table.dim).enumerate();
        rows.map(|(at, row)| weight(part * ROWS + at) * f64::from(dot(row, row))).sum()
    };
    let parts: Vec<f64> = table.values.par_chunks(ROWS * table.dim).enumerate().map(of_part).collect();
    parts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_sums_over_all_rows() {
        let (rows, dim) = (16 * 128 + 77, 3);
        let table = Matrix { rows, dim, values: (0..rows * dim).map(|at| ((at * 37) % 19) as f32 - 9.0).collect() };
        let weight = |row: usize| (row % 5) as f64;
        let Moments { gram, sum } = Moments::of(&table, weight);
        let value = |row: usize, at: usize| f64::from(table.row(row)[at]);
        for one in 0..dim {
            let expected: f64 = (0..rows).map(|row| weight(row) * value(row, one)).sum();
            assert!((sum[one] - expected).abs() < 1e-8);
            for other in 0..dim {
                let expected: f64 = (0..rows).map(|row| weight(row) * value(row, one) * value(row, other)).sum();
                assert!((gram[one * dim + other] - expected).abs() < 1e-8 * expected.abs().max(1.0));
            }
        }
        let (floats, plain) = (Moments::gram_by_floats(&table), Moments::of(&table, |_| 1.0));
        assert_eq!(floats.gram, plain.gram); // integers
        let expected: f64 = (0..dim).map(|at| gram[at * dim + at]).sum();
        assert!((squared_norms(&table, weight) - expected).abs() < 1e-6 * expected);
    }
}
