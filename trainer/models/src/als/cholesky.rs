//! Sums of outer products, and Cholesky's factor, in floats.
//!
//! ```text
//! A += sum of r r^T        A = U^T U        A x = b
//! ```
//! Matrices are squares of [`padded`] width, row by row, of which only the upper triangle means something. Four rows and two of the machine's vectors of
//! a matrix stay in registers while the rows r, or those of U above, are added to them. Sums have a fixed order.

use pulp::{Arch, Simd, WithSimd};

/// The floats of the longest vectors of any machine.
const LONGEST: usize = 16;
/// Rows of a matrix that are formed together.
const TILE: usize = 4;
/// A pivot that is smaller than this share of its diagonal is what rounding leaves of 0.
const SINGULAR: f32 = f32::EPSILON;

/// A width of whole vectors, at least this long.
pub(super) const fn padded(width: usize) -> usize {
    width.next_multiple_of(LONGEST)
}

/// `matrix += sum of r r^T` over the rows r of `rows [n, width]`.
pub(super) fn add_outer(matrix: &mut [f32], rows: &[f32], width: usize) {
    Arch::new().dispatch(AddOuter { matrix, rows, width });
}

/// Solves A x = b; `b` is used up. What `matrix` holds of A becomes U, and `reciprocals [width]` hold those of U's diagonal. `false` where A is not
/// positive definite, as far as floats tell. Rows and columns that pad A need ones on the diagonal and zeros beside.
pub(super) fn solve(matrix: &mut [f32], reciprocals: &mut [f32], b: &mut [f32], x: &mut [f32]) -> bool {
    Arch::new().dispatch(Solve { matrix, reciprocals, b, x })
}

struct AddOuter<'a> {
    matrix: &'a mut [f32],
    rows: &'a [f32],
    width: usize,
}

impl WithSimd for AddOuter<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (tile, rows) in self.matrix.chunks_exact_mut(TILE * self.width).enumerate() {
            outer(simd, rows, tile * TILE, self.rows, self.width, 1.0);
        }
    }
}

/// Adds `sign` times the sum of r r^T to four rows of a matrix, the first of which is `first`, from its diagonal on.
#[inline(always)]
fn outer<S: Simd>(simd: S, target: &mut [f32], first: usize, rows: &[f32], width: usize, sign: f32) {
    let (mut at, vectors) = (first / S::F32_LANES, width / S::F32_LANES);
    while at + 2 <= vectors {
        columns::<S, 2>(simd, target, [first, at], rows, width, sign);
        at += 2;
    }
    if at < vectors {
        columns::<S, 1>(simd, target, [first, at], rows, width, sign);
    }
}

/// As [`outer`], for `C` vectors of columns from one on.
#[inline(always)]
fn columns<S: Simd, const C: usize>(simd: S, target: &mut [f32], [first, at]: [usize; 2], rows: &[f32], width: usize, sign: f32) {
    let mut sums = [[simd.splat_f32s(0.0); C]; TILE];
    for row in rows.chunks_exact(width) {
        let factors: &[f32; TILE] = row[first..first + TILE].try_into().expect("as many as a tile has rows");
        let (row, _) = S::as_simd_f32s(row);
        let row: &[S::f32s; C] = row[at..at + C].try_into().expect("as many as columns are formed");
        for (sums, &factor) in sums.iter_mut().zip(factors) {
            let factor = simd.splat_f32s(factor);
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum = simd.mul_add_e_f32s(factor, value, *sum);
            }
        }
    }
    for (target, sums) in target.chunks_exact_mut(width).zip(sums) {
        let (target, _) = S::as_mut_simd_f32s(target);
        for (target, sum) in target[at..at + C].iter_mut().zip(sums) {
            *target = simd.mul_add_e_f32s(simd.splat_f32s(sign), sum, *target);
        }
    }
}

struct Solve<'a> {
    matrix: &'a mut [f32],
    reciprocals: &'a mut [f32],
    b: &'a mut [f32],
    x: &'a mut [f32],
}

impl WithSimd for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> bool {
        let is_definite = self.factor(simd);
        if is_definite {
            self.forward(simd);
            self.backward(simd);
        }
        is_definite
    }
}

impl Solve<'_> {
    #[inline(always)]
    fn factor<S: Simd>(&mut self, simd: S) -> bool {
        let width = self.b.len();
        for first in (0..width).step_by(TILE) {
            let (done, rest) = self.matrix.split_at_mut(first * width);
            let tile = &mut rest[..TILE * width];
            let mut least = [0.0; TILE];
            for (row, least) in least.iter_mut().enumerate() {
                *least = SINGULAR * tile[row * width + first + row];
            }
            outer(simd, tile, first, done, width, -1.0);
            for row in 0..TILE {
                let pivot = tile[row * width + first + row];
                if !(pivot > least[row] && pivot.is_finite()) {
                    return false;
                }
                let reciprocal = pivot.sqrt().recip();
                self.reciprocals[first + row] = reciprocal;
                let (above, below) = tile.split_at_mut((row + 1) * width);
                let own = &mut above[row * width..];
                scale(simd, from_vector::<S>(own, first), reciprocal);
                for (other, target) in below.chunks_exact_mut(width).enumerate() {
                    let factor = own[first + row + 1 + other];
                    subtract(simd, from_vector::<S>(target, first), factor, &own[first / S::F32_LANES * S::F32_LANES..]);
                }
            }
        }
        true
    }

    /// U^T y = b; `x` takes y.
    #[inline(always)]
    fn forward<S: Simd>(&mut self, simd: S) {
        let width = self.b.len();
        for (at, row) in self.matrix.chunks_exact(width).enumerate() {
            let y = self.b[at] * self.reciprocals[at];
            let start = at / S::F32_LANES * S::F32_LANES;
            subtract(simd, &mut self.b[start..], y, &row[start..]);
            self.x[at] = y;
        }
    }

    /// U x = y, from the last number on. Numbers of x that are not found yet are zeros in `b`.
    #[inline(always)]
    fn backward<S: Simd>(&mut self, simd: S) {
        let width = self.b.len();
        self.b.fill(0.0);
        for (at, row) in self.matrix.chunks_exact(width).enumerate().rev() {
            let start = at / S::F32_LANES * S::F32_LANES;
            let known = product(simd, &row[start..], &self.b[start..]);
            self.b[at] = (self.x[at] - known) * self.reciprocals[at];
        }
        self.x.copy_from_slice(self.b);
    }
}

/// A row from the vector on that holds this number.
#[inline(always)]
fn from_vector<S: Simd>(row: &mut [f32], number: usize) -> &mut [f32] {
    &mut row[number / S::F32_LANES * S::F32_LANES..]
}

#[inline(always)]
fn scale<S: Simd>(simd: S, row: &mut [f32], by: f32) {
    for value in S::as_mut_simd_f32s(row).0 {
        *value = simd.mul_f32s(*value, simd.splat_f32s(by));
    }
}

/// `target -= factor * row`
#[inline(always)]
fn subtract<S: Simd>(simd: S, target: &mut [f32], factor: f32, row: &[f32]) {
    let factor = simd.splat_f32s(-factor);
    for (target, &value) in S::as_mut_simd_f32s(target).0.iter_mut().zip(S::as_simd_f32s(row).0) {
        *target = simd.mul_add_e_f32s(factor, value, *target);
    }
}

#[inline(always)]
fn product<S: Simd>(simd: S, one: &[f32], other: &[f32]) -> f32 {
    let mut sum = simd.splat_f32s(0.0);
    for (&one, &other) in S::as_simd_f32s(one).0.iter().zip(S::as_simd_f32s(other).0) {
        sum = simd.mul_add_e_f32s(one, other, sum);
    }
    simd.reduce_sum_f32s(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gaussian elimination in f64.
    fn dense(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        for at in 0..b.len() {
            let (above, below) = a.split_at_mut(at + 1);
            let pivots = &above[at];
            for (other, row) in below.iter_mut().enumerate() {
                let factor = row[at] / pivots[at];
                row.iter_mut().zip(pivots).for_each(|(value, pivot)| *value -= factor * pivot);
                b[at + 1 + other] -= factor * b[at];
            }
        }
        for at in (0..b.len()).rev() {
            b[at] = (b[at] - (at + 1..b.len()).map(|column| a[at][column] * b[column]).sum::<f64>()) / a[at][at];
        }
        b
    }

    proptest! {
        #[test]
        fn solutions_are_those_of_elimination(dim in 1usize..70, count in 0usize..30, seed: u32) {
            let value = |at: usize| ((at as f64 + 1.0) * (f64::from(seed % 997) + 12.9898)).sin();
            let width = padded(dim);
            let (mut rows, mut matrix) = (vec![0.0f32; count * width], vec![0.0f32; width * width]);
            let (mut b, mut reciprocals, mut x) = (vec![0.0f32; width], vec![0.0; width], vec![7.0; width]);
            rows.chunks_exact_mut(width).enumerate().for_each(|(row, values)| (0..dim).for_each(|at| values[at] = value(row * dim + at) as f32));
            (0..width).for_each(|at| matrix[at * width + at] = 1.0);
            (0..dim).for_each(|at| b[at] = value(10_000 + at) as f32);
            let entry = |one: usize, other: usize| {
                let sum: f64 = rows.chunks_exact(width).map(|row| f64::from(row[one]) * f64::from(row[other])).sum();
                sum + f64::from(u8::from(one == other))
            };
            let a = (0..dim).map(|one| (0..dim).map(|other| entry(one, other)).collect()).collect();
            let expected = dense(a, b[..dim].iter().map(|&value| f64::from(value)).collect());
            add_outer(&mut matrix, &rows, width);
            prop_assert!(solve(&mut matrix, &mut reciprocals, &mut b, &mut x));
            // A condition of at most 1 + 30 * 70, times roundings of 6e-8.
            let largest = expected.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
            for (found, expected) in x.iter().zip(expected) {
                prop_assert!((f64::from(*found) - expected).abs() < 1.3e-4 * largest, "{found} {expected}");
            }
            prop_assert!(x[dim..].iter().all(|&value| value == 0.0));
        }
    }

    #[test]
    fn a_singular_matrix_is_told() {
        let (mut matrix, rows) = (vec![0.0f32; 256], vec![0.3f32; 16]);
        add_outer(&mut matrix, &rows, 16);
        (2..16).for_each(|at| matrix[at * 17] += 1.0);
        assert!(!solve(&mut matrix, &mut [0.0; 16], &mut [1.0; 16], &mut [0.0; 16]));
    }
}
