//! Softmax at K over a row.

use super::softmax::{Softmax, softmax};

/// Values of [`softmax_at_k`](crate::softmax_at_k()).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftmaxAtK {
    /// The softmax that is weighted.
    pub softmax: Softmax,
    /// Temperature of the weights, above 0.
    pub weight_temperature: f32,
    /// Whether the weights are constants of the gradient.
    pub detach_weight: bool,
}

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(super) fn softmax_at_k(settings: &SoftmaxAtK, positive: f32, negatives: &mut [f32], quantile: f32) -> (f32, f32) {
    let sharpness = 1.0 / settings.weight_temperature;
    let weight = 1.0 / (1.0 + ((quantile - positive) * sharpness).exp());
    let (loss, derivative) = softmax(&settings.softmax, positive, negatives, weight);
    let slope = if settings.detach_weight { 0.0 } else { weight * (1.0 - weight) * sharpness };
    (weight * loss, derivative + slope * loss)
}
