//! Smooth ranks of a list's positives.
//!
//! ```text
//! R_p = 1 + sum_{j in V, j != p} sigmoid((s_j - s_p) / t)
//! ```
//! V is the list: a user's drawn positives and negatives. As t falls to 0, R_p becomes the rank. Taken literally the sum of ITEM's Eq. 2
//! runs over all of V, p itself too, which adds sigmoid(0) = 1/2 to every rank, so that no list is perfect; `include_self` does so.
//! Karmim et al., "ITEM", TMLR 2024, hal-04645098, Eq. 2 and 7, after Qin et al., "A General Approximation Framework for Direct
//! Optimization of Information Retrieval Measures", Information Retrieval 2010.

use super::primitives::{sigmoid, unmask};
use candle_core::{D, DType, Result, Tensor};
use std::f64::consts::LN_2;

/// Positives of a list where a sweep file names none, as in ITEM.
pub(super) const POSITIVES: u32 = 5;

/// The ranks of the positives of some lists.
pub(super) struct SmoothRanks {
    /// `[B, P]`, in the whole list.
    pub(super) in_list: Tensor,
    /// `[B, P]`, among the list's positives.
    pub(super) among_positives: Tensor,
    /// `[B, P]`, 1 for positives and 0 for masked places, whose ranks mean nothing.
    pub(super) is_item: Tensor,
    /// `[B]`, positives of each list, and 1 for a list without any.
    pub(super) counts: Tensor,
}

/// Ranks from `positives [B, P]` and `negatives [B, N]`.
pub(super) fn smooth_ranks(positives: &Tensor, negatives: &Tensor, temperature: f64, include_self: bool) -> Result<SmoothRanks> {
    let (positives, is_item) = unmask(positives)?;
    let (negatives, is_negative) = unmask(negatives)?;
    let others = (Tensor::eye(positives.dim(1)?, positives.dtype(), positives.device())?.neg()? + 1.0)?; // [P, P]
    let among_positives = outscored_by(&positives, &positives, &is_item.unsqueeze(1)?.broadcast_mul(&others)?, temperature)?;
    let among_positives = (among_positives + if include_self { 1.5 } else { 1.0 })?;
    let in_list = (&among_positives + outscored_by(&positives, &negatives, &is_negative.unsqueeze(1)?, temperature)?)?;
    let counts = is_item.sum(D::Minus1)?.maximum(1.0)?;
    Ok(SmoothRanks { in_list, among_positives, is_item, counts })
}

/// `sum_j w_pj sigmoid((s_j - s_p) / t)`: `[B, P]` from `positives [B, P]`, `others [B, M]` and weights like `[B, P, M]`.
fn outscored_by(positives: &Tensor, others: &Tensor, weights: &Tensor, temperature: f64) -> Result<Tensor> {
    let margins = others.unsqueeze(1)?.broadcast_sub(&positives.unsqueeze(2)?)?; // [B, P, M]
    sigmoid(&(margins / temperature)?)?.broadcast_mul(weights)?.sum(D::Minus1)
}

/// `1 / log2(1 + rank)`, elementwise.
pub(super) fn discounts(ranks: &Tensor) -> Result<Tensor> {
    (ranks + 1.0)?.log()?.recip()? * LN_2
}

/// The DCG of lists whose so many positives lead: `[B]` from `counts [B]`, of at most the first `most` ranks.
pub(super) fn ideal_dcg(counts: &Tensor, most: usize) -> Result<Tensor> {
    let mut sums = vec![0.0];
    sums.extend((1..=most).scan(0.0, |sum, rank| {
        *sum += 1.0 / (1.0 + rank as f64).log2();
        Some(*sum)
    }));
    let sums = Tensor::new(sums, counts.device())?.to_dtype(counts.dtype())?;
    sums.index_select(&counts.minimum(most as f64)?.to_dtype(DType::U32)?, 0)
}

/// Positives of the longest list.
const MOST_POSITIVES: u32 = 10_000;

/// The error of a list of no positives, or of more than can be meant.
pub(super) fn check_positives(positives: u32) -> std::result::Result<(), String> {
    match positives {
        1..=MOST_POSITIVES => Ok(()),
        _ => Err(format!("positives is {positives}: expected 1 to {MOST_POSITIVES} positives of a list")),
    }
}

/// [`POSITIVES`], for serde.
pub(super) fn positives() -> u32 {
    POSITIVES
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_close;
    use super::*;
    use candle_core::Device;

    /// The ranks of the worked list are 1, 3 and 6; those of its positives among themselves 1, 2 and 3.
    #[test]
    fn without_smoothing_they_are_the_ranks() {
        let positives = Tensor::new(&[[0.9f64, -1e30, 0.5, 0.1]], &Device::Cpu).unwrap();
        let negatives = Tensor::new(&[[0.2f64, -0.3, 0.7, -1e30, -0.6, 0.4]], &Device::Cpu).unwrap();
        for (include_self, more) in [(false, 0.0), (true, 0.5)] {
            let ranks = smooth_ranks(&positives, &negatives, 1e-3, include_self).unwrap();
            let found: Vec<Vec<f64>> = [ranks.in_list, ranks.among_positives].map(|ranks| ranks.get(0).unwrap().to_vec1().unwrap()).into();
            assert_close(&[found[0][0], found[0][2], found[0][3]], &[1.0 + more, 3.0 + more, 6.0 + more], 1e-12);
            assert_close(&[found[1][0], found[1][2], found[1][3]], &[1.0 + more, 2.0 + more, 3.0 + more], 1e-12);
            assert_eq!(ranks.is_item.to_vec2::<f64>().unwrap(), [[1.0, 0.0, 1.0, 1.0]]);
            assert_eq!(ranks.counts.to_vec1::<f64>().unwrap(), [3.0]);
        }
    }

    #[test]
    fn lists_of_no_length_are_named() {
        assert_eq!(check_positives(0).unwrap_err(), "positives is 0: expected 1 to 10000 positives of a list");
        assert!(check_positives(10_001).is_err() && check_positives(1).is_ok() && check_positives(10_000).is_ok());
    }

    /// 1 + 1/log2(3) + 1/2 is the reference's 2.13092975.
    #[test]
    fn ideal_lists() {
        let counts = Tensor::new(&[1.0f64, 3.0, 2.0, 5.0], &Device::Cpu).unwrap();
        let of = |most| ideal_dcg(&counts, most).unwrap().to_vec1::<f64>().unwrap();
        assert_close(&of(5), &[1.0, 2.13092975, 1.63092975, 2.94845912], 5e-9);
        assert_close(&of(2), &[1.0, 1.63092975, 1.63092975, 1.63092975], 5e-9);
    }
}
