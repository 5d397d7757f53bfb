//! A matrix of shares and its products with vectors.

use multiversion::multiversion;

/// `[rows, columns]`, row by row. In `f64`: where a share is nearly all, little is left of the gradient.
pub(super) struct Matrix {
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
}

/// What a product sums over, and what it then has an entry for: the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Rows,
    Columns,
}

impl Matrix {
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns)
    }

    /// The product with a vector that has an entry for each of what is summed over.
    pub(super) fn product(&self, over: Over, vector: &[f64]) -> Vec<f64> {
        match over {
            Over::Columns => self.rows().map(|row| dot(row, vector)).collect(),
            Over::Rows => {
                let mut sums = vec![0.0; self.columns];
                self.rows().zip(vector).for_each(|(row, &factor)| add(&mut sums, row, factor));
                sums
            }
        }
    }
}

/// Doubles of a step.
const LANES: usize = 8;

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn dot(row: &[f64], vector: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let ((row, row_rest), (vector, vector_rest)) = (row.as_chunks::<LANES>(), vector.as_chunks::<LANES>());
    for (row, vector) in row.iter().zip(vector) {
        for lane in 0..LANES {
            sums[lane] += row[lane] * vector[lane];
        }
    }
    let rest: f64 = row_rest.iter().zip(vector_rest).map(|(value, factor)| value * factor).sum();
    sums.iter().sum::<f64>() + rest
}

/// The sum of all entries.
#[inline(always)]
pub(super) fn sum(values: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (values, rest) = values.as_chunks::<LANES>();
    for values in values {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().chain(rest).sum()
}

/// Adds a multiple of a vector.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn add(sums: &mut [f64], vector: &[f64], factor: f64) {
    for (sum, &value) in sums.iter_mut().zip(vector) {
        *sum += value * factor;
    }
}
