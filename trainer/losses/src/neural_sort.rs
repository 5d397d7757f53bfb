//! NeuralSort: a matrix of shares in the place of the permutation that sorts a list.
//!
//! ```text
//! P_ij = softmax_j(((n + 1 - 2 i) s_j - sum_k |s_j - s_k|) / t)
//! ```
//! Row i is what stands at rank i of the n items, in shares. As t falls to 0 it is the permutation itself. The shares of an item need not
//! add up to 1 over the ranks; Sinkhorn's scaling makes them.
//! Grover et al., "Stochastic Optimization of Sorting Networks via Continuous Relaxations", ICLR 2019, arXiv:1903.08850.

use super::primitives::{MASKED_BELOW, softmax};
use candle_core::{D, Result, Tensor};

/// Sums this near to 1 need no further scaling.
pub(super) const TOLERANCE: f64 = 1e-6;

/// The first `ranks` rows of the matrix, `[B, ranks, L]`, from scores `[B, L]` with 0 in masked places and 1 for items `[B, L]`.
///
/// Rows below the last item and columns of masked places are 0.
pub(super) fn neural_sort(scores: &Tensor, is_item: &Tensor, ranks: usize, temperature: f64) -> Result<Tensor> {
    let counts = is_item.sum_keepdim(1)?; // [B, 1]
    let places = Tensor::arange(1, ranks as u32 + 1, scores.device())?.to_dtype(scores.dtype())?.unsqueeze(0)?; // [1, ranks]
    let slopes = (counts + 1.0)?.broadcast_sub(&(&places * 2.0)?)?; // [B, ranks]
    let distances = distances(scores, is_item)?.unsqueeze(1)?;
    let logits = (slopes.unsqueeze(2)?.broadcast_mul(&scores.unsqueeze(1)?)?.broadcast_sub(&distances)? / temperature)?;
    let masks = (is_item.affine(-1.0, 1.0)? * MASKED_BELOW)?.unsqueeze(1)?;
    let stands = places.broadcast_le(&is_item.sum_keepdim(1)?)?.to_dtype(scores.dtype())?; // [B, ranks]
    softmax(&logits.broadcast_add(&masks)?)?.broadcast_mul(&stands.unsqueeze(2)?)
}

/// `sum_k |s_j - s_k|` over the items, `[B, L]`; the derivative of `|0|` is 0.
fn distances(scores: &Tensor, is_item: &Tensor) -> Result<Tensor> {
    let differences = scores.unsqueeze(2)?.broadcast_sub(&scores.unsqueeze(1)?)?; // [B, L, L]
    (&differences * differences.sign()?)?.broadcast_mul(&is_item.unsqueeze(1)?)?.sum(D::Minus1)
}

/// Matrices `[B, L, L]` whose columns and rows are divided by their sums in turn, columns first or rows first: at least once, at most
/// `iterations` times, and each until all its sums are 1 within the [`TOLERANCE`].
pub(super) fn sinkhorn(matrices: &Tensor, iterations: u32, rows_first: bool) -> Result<Tensor> {
    let (first, second) = if rows_first { (2, 1) } else { (1, 2) };
    let scale = |matrices: &Tensor| normalised(&normalised(matrices, first)?, second);
    let mut scaled = scale(matrices)?;
    for _ in 1..iterations {
        let is_done = imbalances(&scaled)?.lt(TOLERANCE)?; // [B, 1, 1]
        if is_done.min_all()?.to_scalar::<u8>()? == 1 {
            break;
        }
        scaled = is_done.broadcast_as(scaled.shape())?.where_cond(&scaled, &scale(&scaled)?)?;
    }
    Ok(scaled)
}

/// Divides by the sums along a dimension, where they are not 0.
fn normalised(matrices: &Tensor, dimension: usize) -> Result<Tensor> {
    let sums = matrices.sum_keepdim(dimension)?;
    let is_empty = sums.eq(0.0)?.to_dtype(matrices.dtype())?;
    matrices.broadcast_div(&(sums + is_empty)?)
}

/// How far the sum of a row or a column is from 1 at most, of those that are not 0: `[B, 1, 1]`.
fn imbalances(matrices: &Tensor) -> Result<Tensor> {
    let of = |dimension: usize| {
        let sums = matrices.detach().sum(dimension)?; // [B, L]
        let is_some = sums.ne(0.0)?.to_dtype(sums.dtype())?;
        ((sums - 1.0)?.abs()? * is_some)?.max_keepdim(1)
    };
    of(1)?.maximum(&of(2)?)?.unsqueeze(2)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_B, assert_close};
    use super::*;
    use candle_core::Device;

    fn sorted(scores: &[f64], is_item: &[f64], temperature: f64) -> Tensor {
        let [scores, is_item] = [scores, is_item].map(|values| Tensor::new(values, &Device::Cpu).unwrap().unsqueeze(0).unwrap());
        neural_sort(&scores, &is_item, scores.dim(1).unwrap(), temperature).unwrap()
    }

    fn rows(matrices: &Tensor) -> Vec<Vec<f64>> {
        matrices.get(0).unwrap().to_vec2().unwrap()
    }

    #[test]
    fn worked_example() {
        let first = &rows(&sorted(&EXAMPLE_B, &[1.0; 8], 1.0))[0];
        let expected = [0.37943997, 0.02550046, 0.17049337, 0.00012729, 0.31065917, 0.01036771, 0.00000258, 0.10340946];
        assert_close(first, &expected, 5e-9);
    }

    #[test]
    fn without_smoothing_it_is_the_permutation() {
        let matrix = rows(&sorted(&EXAMPLE_B, &[1.0; 8], 1e-3));
        for (row, item) in matrix.iter().zip([0, 4, 2, 7, 1, 5, 3, 6]) {
            let expected: Vec<f64> = (0..8).map(|other| f64::from(u8::from(other == item))).collect();
            assert_close(row, &expected, 1e-12);
        }
    }

    #[test]
    fn masked_places_have_no_rank_and_no_share() {
        let whole = rows(&sorted(&[0.9, 0.2, 0.5], &[1.0; 3], 0.7));
        let masked = rows(&sorted(&[0.0, 0.9, 0.2, 0.0, 0.5], &[0.0, 1.0, 1.0, 0.0, 1.0], 0.7));
        for (row, expected) in masked.iter().zip(&whole) {
            assert_close(row, &[0.0, expected[0], expected[1], 0.0, expected[2]], 1e-14);
        }
        assert_eq!(masked[3..], [[0.0; 5], [0.0; 5]]);
    }

    #[test]
    fn scaling_makes_rows_and_columns_sum_to_1() {
        for rows_first in [false, true] {
            let scaled = sinkhorn(&sorted(&EXAMPLE_B, &[1.0; 8], 0.3), 500, rows_first).unwrap();
            for dimension in [1, 2] {
                let sums: Vec<f64> = scaled.sum(dimension).unwrap().get(0).unwrap().to_vec1().unwrap();
                assert_close(&sums, &[1.0; 8], 2.0 * TOLERANCE);
            }
        }
    }

    /// One round leaves the sums of what was divided last at 1, and not the others.
    #[test]
    fn the_order_of_scaling_is_kept() {
        for (rows_first, exact) in [(false, 2), (true, 1)] {
            let scaled = sinkhorn(&sorted(&EXAMPLE_B, &[1.0; 8], 1.0), 1, rows_first).unwrap();
            let sums = |dimension: usize| scaled.sum(dimension).unwrap().get(0).unwrap().to_vec1::<f64>().unwrap();
            assert_close(&sums(exact), &[1.0; 8], 1e-12);
            assert!(sums(3 - exact).iter().any(|sum| (sum - 1.0).abs() > 1e-3));
        }
    }

    #[test]
    fn a_matrix_does_not_wait_for_another() {
        let (easy, hard) = (sorted(&EXAMPLE_B, &[1.0; 8], 1e-3), sorted(&EXAMPLE_B, &[1.0; 8], 0.5));
        let together = sinkhorn(&Tensor::cat(&[&easy, &hard], 0).unwrap(), 50, false).unwrap();
        for (at, alone) in [easy, hard].iter().enumerate() {
            let alone = rows(&sinkhorn(alone, 50, false).unwrap()).concat();
            assert_eq!(together.get(at).unwrap().to_vec2::<f64>().unwrap().concat(), alone);
        }
    }
}
