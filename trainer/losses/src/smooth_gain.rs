//! Smooth gains: what stands at each rank of a list, in shares.
//!
//! ```text
//! NDCG = 1/IDCG sum_k 1 / log2(1 + k) sum_p h_k(p),   h_k(j) = softmax_j(-(s_j - s_(k))^2 / t)
//! ```
//! s_(k) is the k-th largest score of the list. Each rank's gain is shared out among all items, by how near their scores are to the one
//! that stands there; t is of squared differences, and the authors lower it while they train. A list of L = P + N items costs L^2
//! exponentials and as much memory. Chapelle and Wu, "Gradient Descent Optimization of Smoothed Information Retrieval Metrics",
//! Information Retrieval 2010.

use super::primitives::{MASKED_BELOW, softmax, unmask};
use super::smooth_rank::{discounts, ideal_dcg};
use candle_core::{D, Result, Tensor};

/// NDCG of lists whose ranks have smooth gains: `[B]` from `positives [B, P]` and `negatives [B, N]`.
///
/// Nothing is sorted: every item stands for the rank it has.
pub(super) fn ndcg_of_smooth_gains(positives: &Tensor, negatives: &Tensor, temperature: f64) -> Result<Tensor> {
    let length = positives.dim(1)?;
    let scores = Tensor::cat(&[positives, negatives], 1)?; // [B, L]
    let (unmasked, is_item) = unmask(&scores)?;
    let distances = unmasked.unsqueeze(1)?.broadcast_sub(&unmasked.unsqueeze(2)?)?.sqr()?; // [B, L of ranks, L of items]
    let masks = (is_item.affine(-1.0, 1.0)? * MASKED_BELOW)?.unsqueeze(1)?;
    let shares = softmax(&(distances.neg()? / temperature)?.broadcast_add(&masks)?)?;
    let gains = (shares.narrow(D::Minus1, 0, length)?.sum(D::Minus1)? * &is_item)?;
    let counts = is_item.narrow(1, 0, length)?.sum(D::Minus1)?.maximum(1.0)?;
    (gains * discounts_of_places(&scores)?)?.sum(D::Minus1)? / ideal_dcg(&counts, length)?
}

/// The discount of the rank that each entry has in its row, `[B, L]`; equal scores have the mean of theirs. A constant of the gradient.
fn discounts_of_places(scores: &Tensor) -> Result<Tensor> {
    let (rows, columns) = (scores.detach().unsqueeze(2)?, scores.detach().unsqueeze(1)?);
    let above = columns.broadcast_gt(&rows)?.to_dtype(scores.dtype())?; // [B, L, L]
    let level = columns.broadcast_eq(&rows)?.to_dtype(scores.dtype())?;
    let not_later = Tensor::tril2(scores.dim(1)?, scores.dtype(), scores.device())?; // the entry itself too
    let ranks = (above + level.broadcast_mul(&not_later)?)?.sum(D::Minus1)?;
    level.broadcast_mul(&discounts(&ranks)?.unsqueeze(1)?)?.sum(D::Minus1)? / level.sum(D::Minus1)?
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, of_example_b};
    use super::*;
    use candle_core::Device;

    #[test]
    fn worked_example() {
        let (value, gradient) = of_example_b(|positives, negatives| ndcg_of_smooth_gains(positives, negatives, 0.1)?.affine(-1.0, 1.0));
        assert_close(&[value], &[0.22381088], 5e-9);
        let expected = [-0.13319135, 0.17060698, -0.13791708, -0.08512268, 0.08644675, -0.0697411, 0.02082207, 0.1480964];
        assert_close(&gradient, &expected, 6e-9);
    }

    /// Ranks 2, 3 and 4 have the discounts 0.63092975, 0.5 and 0.43067656.
    #[test]
    fn equal_scores_share_their_discounts() {
        let scores = Tensor::new(&[[0.5f64, 0.9, 0.5, -1e30, 0.5]], &Device::Cpu).unwrap();
        let found = discounts_of_places(&scores).unwrap().to_vec2::<f64>().unwrap().concat();
        assert_close(&found, &[0.52053544, 1.0, 0.52053544, 0.38685281, 0.52053544], 5e-9);
    }
}
