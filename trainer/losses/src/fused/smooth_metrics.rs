//! Metrics of smooth ranks.

use super::smooth_rank::{Rank, SmoothRank, of_ranks};
use std::f64::consts::LN_2;

/// `best` less the NDCG of a list, whose scores become derivatives.
pub(crate) fn smooth_ndcg(best: f32, ranks: SmoothRank, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    of_ranks(ranks, positives, negatives, |ranks| {
        let ideal = ideal_dcg(ranks.len());
        let mut dcg = 0.0;
        for rank in ranks {
            let above = 1.0 + rank.in_list;
            let discount = 1.0 / above.log2();
            dcg += discount;
            *rank = Rank { in_list: discount * discount / (ideal * above * LN_2), among_positives: 0.0 };
        }
        f64::from(best) - dcg / ideal
    })
}

/// One less the mean precision of a list, whose scores become derivatives.
pub(crate) fn smooth_ap(ranks: SmoothRank, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    of_ranks(ranks, positives, negatives, |ranks| {
        let share = 1.0 / ranks.len().max(1) as f64;
        let mut sum = 0.0;
        for rank in ranks {
            let precision = rank.among_positives / rank.in_list;
            sum += precision;
            *rank = Rank { in_list: share * precision / rank.in_list, among_positives: -share / rank.in_list };
        }
        1.0 - share * sum
    })
}

/// One less the mean recall of a list at the cutoffs, whose hits are smooth by a temperature; its scores become derivatives.
pub(crate) fn smooth_recall(
    cutoffs: &[u32],
    cutoff_temperature: f32,
    ranks: SmoothRank,
    positives: &mut [f32],
    negatives: &mut [f32],
) -> f32 {
    let inverse_temperature = 1.0 / f64::from(cutoff_temperature);
    of_ranks(ranks, positives, negatives, |ranks| {
        let count = ranks.len().max(1) as f64;
        let mut sum = 0.0;
        for rank in ranks {
            let mut derivative = 0.0;
            for cutoff in cutoffs.iter().map(|&cutoff| f64::from(cutoff)) {
                let weight = 1.0 / (count.min(cutoff) * cutoffs.len() as f64);
                let (hit, slope) = sigmoid((cutoff - rank.in_list) * inverse_temperature);
                sum += weight * hit;
                derivative += weight * slope * inverse_temperature;
            }
            *rank = Rank { in_list: derivative, among_positives: 0.0 };
        }
        1.0 - sum
    })
}

/// The DCG of so many positives at the top, or of one.
pub(crate) fn ideal_dcg(count: usize) -> f64 {
    (1..=count.max(1)).map(|rank| 1.0 / (1.0 + rank as f64).log2()).sum()
}

/// The sigmoid and its slope.
fn sigmoid(x: f64) -> (f64, f64) {
    let small = (-x.abs()).exp();
    let share = 1.0 / (1.0 + small);
    (if x < 0.0 { small * share } else { share }, small * share * share)
}
