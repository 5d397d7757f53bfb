//! The difference of two soft means over a list.

use super::items::is_item;
use super::softmax::{exponentials, scale};

/// The loss of a list, whose scores become derivatives.
pub(crate) fn bsl_of_lists(positive_temperature: f32, negative_temperature: f32, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    let of_negatives = soft_mean(negatives, negative_temperature, 1.0);
    let of_positives = soft_mean(positives, positive_temperature, -1.0);
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
