//! What the quadratic approximations of the softmax share: Taylor's series of its loss at scores of 0.
//!
//! ```text
//! log sum_c exp(s_c) - s_i = log C - s_i + mean_c s_c + (mean_c s_c^2 - (mean_c s_c)^2) / 2 + ...
//! ```
//! over the C candidates of a row, which are its positive and its negatives.

use super::primitives::{count_items, unmask};
use candle_core::{D, Result, Tensor};

/// The series up to the second order, `[B]`, from `positives [B]` and `negatives [B, N]`; `centred` has the square of the mean.
pub(super) fn series(positives: &Tensor, negatives: &Tensor, centred: bool) -> Result<Tensor> {
    let (scores, _) = unmask(negatives)?;
    let count = (count_items(negatives)? + 1.0)?;
    let mean = ((scores.sum(D::Minus1)? + positives)? / &count)?;
    let square = ((scores.sqr()?.sum(D::Minus1)? + positives.sqr()?)? / &count)?;
    let second = if centred { (square - mean.sqr()?)? } else { square };
    ((count.log()? - positives)? + mean)? + (second / 2.0)?
}
