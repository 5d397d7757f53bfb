//! Smooth gains of a list.

use super::{items::of_items, smooth_metrics::ideal_dcg};
use vectors::elementary::exp_of_negative;

/// The loss of a list, whose scores become derivatives: see [`smooth_ndcg`](crate::smooth_ndcg()) in the form of gains.
pub(crate) fn smooth_ndcg(temperature: f64, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    of_items(positives, negatives, 1.0, |scores, positives| {
        let ideal = ideal_dcg(positives);
        let (mut dcg, mut derivatives) = (0.0, vec![0.0; scores.len()]);
        let mut shares = vec![0.0; scores.len()];
        for (at, discount) in discounts(scores).into_iter().enumerate() {
            let difference = |other: usize| scores[other] - scores[at];
            for (other, share) in shares.iter_mut().enumerate() {
                *share = f64::from(exp_of_negative((-difference(other) * difference(other) / temperature) as f32));
            }
            let sum: f64 = shares.iter().sum();
            let gain = shares[..positives].iter().sum::<f64>() / sum;
            dcg += discount * gain;
            for (other, share) in shares.iter().enumerate() {
                let worth = if other < positives { 1.0 } else { 0.0 };
                let pull = discount / ideal * share / sum * (worth - gain) * 2.0 * difference(other) / temperature;
                derivatives[other] += pull;
                derivatives[at] -= pull;
            }
        }
        (1.0 - dcg / ideal, derivatives)
    })
}

/// The discount of the rank that each score has; equal scores have the mean of theirs.
fn discounts(scores: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut discounts = vec![0.0; scores.len()];
    let mut rank = 1;
    for level in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let sum: f64 = (rank..rank + level.len()).map(|rank| 1.0 / (1.0 + rank as f64).log2()).sum();
        level.iter().for_each(|&at| discounts[at] = sum / level.len() as f64);
        rank += level.len();
    }
    discounts
}
