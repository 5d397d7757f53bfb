//! All rows of one side by one eigendecomposition, where their equations differ by a factor alone.
//!
//! ```text
//! (w G + ridge I) x = b      G = V L V^T      x = V (w L + ridge)^-1 V^T b      b = (sum over positives of q) / 2 - w o
//! ```
//! All in f64, but for the rows as they are kept. x is the least of `x^T (w G + ridge I) x - 2 b^T x`, which is `-b^T x` there.
#![allow(unsafe_code)] // SAFETY: written by `multiversion` alone: it calls a clone only after it has found the clone's instructions.

use super::{Moments, Pass};
use embeddings::product::{View, multiply};
use faer::{MatRef, Side, linalg::solvers::SelfAdjointEigen};
use rayon::prelude::*;

/// Rows that one parallel task takes.
const ROWS: usize = 64;
/// An eigenvalue that is below this share of the largest is what rounding leaves of 0.
const SINGULAR: f64 = 1e-12;

/// The eigendecomposition of G.
struct Spectrum {
    /// V, whose columns are eigenvectors. `[dim, dim]`
    vectors: Vec<f64>,
    /// L, ascending.
    values: Vec<f64>,
}

impl Spectrum {
    fn of(gram: &[f64], dim: usize) -> Option<Self> {
        let eigen = SelfAdjointEigen::new(MatRef::from_column_major_slice(gram, dim, dim), Side::Lower).ok()?;
        let vectors = (0..dim * dim).map(|at| eigen.U()[(at / dim, at % dim)]).collect();
        let values = (0..dim).map(|at| eigen.S()[at].max(0.0)).collect();
        Some(Self { vectors, values })
    }
}

/// Bytes for vectors of this length: the eigendecomposition with its working space, and what threads need.
pub(in super::super) fn bytes_in_thread(dim: u64) -> u64 {
    8 * (4 * dim * dim + 2 * ROWS as u64 * dim)
}

/// Solves all rows, whose w and ridge follow from how many positives they have; the sum of their objectives. G and o are the gram and the sum of `shared`. A row
/// with w = 0 and no positives becomes 0. `None` where a row's equations are singular.
pub(in super::super) fn solve(
    pass: Pass,
    shared: &Moments,
    weight: impl Fn(usize) -> f64 + Sync,
    ridge: impl Fn(usize) -> f64 + Sync,
) -> Option<f64> {
    let Pass { moved, fixed, positives, .. } = pass;
    let dim = moved.dim;
    let Spectrum { vectors, values } = Spectrum::of(&shared.gram, dim)?;
    let largest = values.last().copied().unwrap_or_default();
    let (by_column, by_row) = (View { values: &vectors, row: dim, column: 1 }, View { values: &vectors, row: 1, column: dim });
    let solve_rows = |(right, rotated): &mut (Vec<f64>, Vec<f64>), (task, rows): (usize, &mut [f32])| {
        let count = rows.len() / dim;
        let own_positives = |at: usize| positives.row(task * ROWS + at).len();
        let (weight, ridge) = (|at: usize| weight(own_positives(at)), |at: usize| ridge(own_positives(at)));
        for (at, right) in right.chunks_exact_mut(dim).take(count).enumerate() {
            right.iter_mut().zip(&shared.sum).for_each(|(right, sum)| *right = -weight(at) * sum);
            for &id in positives.row(task * ROWS + at) {
                add_half(right, fixed.row(id as usize));
            }
        }
        multiply([count, dim, dim], rotated, false, View { values: right, row: dim, column: 1 }, by_column);
        let mut objective = 0.0;
        for (at, row) in rotated.chunks_exact_mut(dim).take(count).enumerate() {
            let (weight, ridge) = (weight(at), ridge(at));
            let least = SINGULAR * (weight * largest + ridge);
            for (value, eigenvalue) in row.iter_mut().zip(&values) {
                let own = weight * eigenvalue + ridge;
                if weight == 0.0 && ridge == 0.0 {
                    *value = 0.0;
                } else if own > least {
                    objective -= *value * *value / own;
                    *value /= own;
                } else {
                    return None;
                }
            }
        }
        multiply([count, dim, dim], right, false, View { values: rotated, row: dim, column: 1 }, by_row);
        rows.iter_mut().zip(right).for_each(|(row, value)| *row = *value as f32);
        Some(objective)
    };
    let tasks = moved.values.par_chunks_mut(ROWS * dim).enumerate();
    let sums: Option<Vec<f64>> = tasks.map_init(|| (vec![0.0; ROWS * dim], vec![0.0; ROWS * dim]), solve_rows).collect();
    Some(sums?.iter().sum())
}

/// `sum += row / 2`
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_half(sum: &mut [f64], row: &[f32]) {
    for (sum, &value) in sum.iter_mut().zip(row) {
        *sum += 0.5 * f64::from(value);
    }
}
