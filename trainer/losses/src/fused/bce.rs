//! Sums of softplus of a row's scores.

use super::pairwise::{softplus_sum, weighted_softplus_sums};
use vectors::elementary::softplus;

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(crate) fn bce(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    beside(positive, softplus_sum(negatives, 0.0))
}

/// The loss as by [`bce`], of negatives that count as much as their weights.
pub(crate) fn weighted_bce(positive: f32, negatives: &mut [f32], weights: &[f32]) -> (f32, f32) {
    let [loss, _] = weighted_softplus_sums(negatives, weights, 0.0);
    beside(positive, loss)
}

/// The loss of a positive beside that of its negatives, and its derivative.
fn beside(positive: f32, of_negatives: f64) -> (f32, f32) {
    let (loss, slope) = softplus(-positive);
    ((f64::from(loss) + of_negatives) as f32, -slope)
}
