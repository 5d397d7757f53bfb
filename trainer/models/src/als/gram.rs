//! Some vectors, each by one square matrix.
//!
//! ```text
//! y_r = sum over k of x_rk g_k        g_k: row k of the matrix
//! ```
//! Four vectors and two of the machine's vectors of columns stay in registers while the matrix passes by, so that it is read once for four vectors and
//! not once for each. Sums have the order of [`embeddings::weighted_sum`], and its bits.

use pulp::{Arch, Simd, WithSimd};

/// Vectors that are multiplied together.
const TILE: usize = 4;

/// `products [n, dim]` of `vectors [n, dim]` and a matrix `[dim, dim]`, row by row.
///
/// # Panics
/// When there are not as many products as vectors.
pub(super) fn multiply(matrix: &[f32], dim: usize, vectors: &[f32], products: &mut [f32]) {
    assert_eq!(vectors.len(), products.len(), "numbers of the vectors and of their products");
    Arch::new().dispatch(Multiply { matrix, dim, vectors, products });
}

struct Multiply<'a> {
    matrix: &'a [f32],
    dim: usize,
    vectors: &'a [f32],
    products: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { matrix, dim, vectors, products } = self;
        let tiles = vectors.chunks_exact(TILE * dim);
        let mut rest = products.chunks_exact_mut(TILE * dim);
        for (vectors, products) in tiles.clone().zip(&mut rest) {
            multiply_rows::<S, TILE>(simd, matrix, dim, vectors, products);
        }
        let rows = tiles.remainder().chunks_exact(dim).zip(rest.into_remainder().chunks_exact_mut(dim));
        rows.for_each(|(vector, product)| multiply_rows::<S, 1>(simd, matrix, dim, vector, product));
    }
}

/// Of `R` vectors.
#[inline(always)]
fn multiply_rows<S: Simd, const R: usize>(simd: S, matrix: &[f32], dim: usize, vectors: &[f32], products: &mut [f32]) {
    let whole = dim / S::F32_LANES;
    let mut at = 0;
    while at + 2 <= whole {
        columns::<S, R, 2>(simd, matrix, dim, at, vectors, products);
        at += 2;
    }
    if at < whole {
        columns::<S, R, 1>(simd, matrix, dim, at, vectors, products);
    }
    for column in whole * S::F32_LANES..dim {
        for (vector, product) in vectors.chunks_exact(dim).zip(products.chunks_exact_mut(dim)) {
            product[column] = vector.iter().zip(matrix[column..].iter().step_by(dim)).fold(0.0, |sum, (x, g)| sum + x * g);
        }
    }
}

/// `C` of the machine's vectors of columns, from one on.
#[inline(always)]
fn columns<S: Simd, const R: usize, const C: usize>(simd: S, matrix: &[f32], dim: usize, at: usize, vectors: &[f32], products: &mut [f32]) {
    let mut sums = [[simd.splat_f32s(0.0); C]; R];
    for (k, row) in matrix.chunks_exact(dim).enumerate() {
        let row: &[S::f32s; C] = S::as_simd_f32s(row).0[at..at + C].try_into().expect("as many as columns are formed");
        for (sums, vector) in sums.iter_mut().zip(vectors.chunks_exact(dim)) {
            let factor = simd.splat_f32s(vector[k]);
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum = simd.mul_add_e_f32s(factor, value, *sum);
            }
        }
    }
    for (product, sums) in products.chunks_exact_mut(dim).zip(sums) {
        S::as_mut_simd_f32s(product).0[at..at + C].copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::positions;
    use super::*;
    use embeddings::weighted_sum;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_weighted_sums_of_the_matrix_s_rows(dim in 1usize..70, count in 0usize..10, seed: u32) {
            let value = |at: usize| (((at as f64 + 1.0) * (f64::from(seed % 997) + 12.9898)).sin() * 43.0) as f32;
            let matrix: Vec<f32> = (0..dim * dim).map(value).collect();
            let vectors: Vec<f32> = (0..count * dim).map(|at| value(at + 10_000)).collect();
            let (mut products, mut expected) = (vec![7.0; count * dim], vec![0.0; count * dim]);
            multiply(&matrix, dim, &vectors, &mut products);
            let ids = positions(dim);
            let rows = vectors.chunks_exact(dim).zip(expected.chunks_exact_mut(dim));
            rows.for_each(|(vector, sum)| weighted_sum(&matrix, &ids, vector, sum));
            prop_assert_eq!(products, expected);
        }
    }

    #[test]
    fn the_product_of_two_vectors_and_a_square() {
        let mut products = [0.0; 4];
        multiply(&[1.0, 2.0, 3.0, 4.0], 2, &[1.0, 0.0, 2.0, -1.0], &mut products);
        assert_eq!(products, [1.0, 2.0, -1.0, 0.0]);
    }
}
