//! Sinkhorn's scaling of a matrix, forwards and back.
//!
//! The scaled matrix is kept as `diag(r) M diag(c)`: an iteration is two products of M with a vector, and what flows back to M through all
//! of them is a sum of outer products of vectors. No second matrix is made.

use super::matrix::{Matrix, Over};
use crate::neural_sort::TOLERANCE;

/// The factors of each iteration.
pub(super) struct Scaling {
    /// What is summed over first: the rows, so that columns are divided first, or the columns.
    first: Over,
    /// Factors of what is divided first and second; the first entry is that of the matrix as it comes.
    factors: Vec<[Vec<f64>; 2]>,
}

/// A vector of the rows and one of the columns.
pub(super) type Sides = [Vec<f64>; 2];

impl Scaling {
    /// Scales a matrix in at most so many iterations, fewer once all sums are 1, none of 0.
    pub(super) fn new(matrix: &Matrix, iterations: u32, rows_first: bool) -> Self {
        let (first, second) = if rows_first { (Over::Columns, Over::Rows) } else { (Over::Rows, Over::Columns) };
        let ones = |over| vec![1.0; if over == Over::Rows { matrix.columns } else { matrix.rows().count() }];
        let mut factors = vec![[ones(first), ones(second)]];
        for iteration in 0..iterations {
            let [before, other] = &factors[factors.len() - 1];
            let sums = matrix.product(first, other);
            if iteration > 0 && before.iter().zip(&sums).all(|(factor, sum)| (factor * sum - 1.0).abs() < TOLERANCE) {
                break;
            }
            let divided = inverse(sums);
            let other = inverse(matrix.product(second, &divided));
            factors.push([divided, other]);
        }
        Self { first, factors }
    }

    /// The factors of rows and columns.
    pub(super) fn factors(&self) -> Sides {
        self.sides(self.factors[self.factors.len() - 1].clone())
    }

    /// First and second in the order of rows and columns, or back.
    fn sides(&self, [first, second]: Sides) -> Sides {
        if self.first == Over::Rows { [second, first] } else { [first, second] }
    }

    /// Turns derivatives by the factors into those by the matrix: vectors of rows and of columns, whose outer products are to be summed.
    pub(super) fn back(&self, matrix: &Matrix, by_factors: Sides) -> Vec<Sides> {
        let second = if self.first == Over::Rows { Over::Columns } else { Over::Rows };
        let [mut by_first, mut by_second] = self.sides(by_factors);
        let mut outer = Vec::with_capacity(2 * self.factors.len());
        for pair in self.factors.windows(2).rev() {
            let ([_, other_before], [divided, other]) = (&pair[0], &pair[1]);
            let by_sums = by_inverse(&by_second, other);
            matrix.product(self.first, &by_sums).iter().zip(&mut by_first).for_each(|(more, by)| *by += more);
            outer.push(self.sides([divided.clone(), by_sums]));
            let by_sums = by_inverse(&by_first, divided);
            by_second = matrix.product(second, &by_sums);
            by_first.fill(0.0);
            outer.push(self.sides([by_sums, other_before.clone()]));
        }
        outer
    }
}

/// One over each sum that is not 0.
fn inverse(sums: Vec<f64>) -> Vec<f64> {
    sums.into_iter().map(|sum| if sum == 0.0 { 1.0 } else { 1.0 / sum }).collect()
}

/// The derivatives by sums of those by their inverses.
fn by_inverse(by: &[f64], inverse: &[f64]) -> Vec<f64> {
    by.iter().zip(inverse).map(|(by, inverse)| -by * inverse * inverse).collect()
}
