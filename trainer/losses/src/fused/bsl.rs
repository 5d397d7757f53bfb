//! A multiple of softmax over a row, and the difference of two soft means.

use super::items::is_item;
use super::softmax::{Softmax, exponentials, scale, softmax};

/// Values of [`bsl`](crate::bsl()), of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bsl {
    /// The softmax of the negatives' temperature.
    pub softmax: Softmax,
    /// The negatives' temperature over the positive's.
    pub factor: f32,
}

/// Values of [`bsl_of_lists`](crate::bsl_of_lists()).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BslOfLists {
    /// Temperature of the positives, above 0.
    pub positive_temperature: f32,
    /// Temperature of the negatives, above 0.
    pub negative_temperature: f32,
}

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(super) fn bsl(settings: &Bsl, positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let (loss, derivative) = softmax(&settings.softmax, positive, negatives, settings.factor);
    (settings.factor * loss, derivative)
}

/// The loss of a list, whose scores become derivatives.
pub(super) fn bsl_of_lists(settings: BslOfLists, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    let of_negatives = soft_mean(negatives, settings.negative_temperature, 1.0);
    let of_positives = soft_mean(positives, settings.positive_temperature, -1.0);
    (of_negatives - of_positives) as f32
}

/// `t log mean_j exp(s_j / t)` over the items, 0 of none; the scores become its derivatives times `weight`.
fn soft_mean(scores: &mut [f32], temperature: f32, weight: f64) -> f64 {
    let count = scores.iter().filter(|&&score| is_item(score)).count();
    if count == 0 {
        scores.fill(0.0);
        return 0.0;
    }
    let (max, sum) = exponentials(scores, 1.0 / temperature);
    scale(scores, (weight / sum) as f32);
    f64::from(max) + f64::from(temperature) * (sum / count as f64).ln()
}
