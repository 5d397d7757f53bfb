//! Metrics of smooth ranks.

use super::smooth_rank::{Rank, SmoothRank, of_ranks};
use std::f64::consts::LN_2;

/// Values of [`smooth_ndcg`](crate::smooth_ndcg()) in the form of ranks, and of [`approx_ndcg`](crate::approx_ndcg()).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothNdcg {
    /// The ranks.
    pub ranks: SmoothRank,
    /// What NDCG is taken from: 1 or 0.
    pub best: f32,
}

/// Values of [`smooth_recall`](crate::smooth_recall()).
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothRecall {
    /// The ranks.
    pub ranks: SmoothRank,
    /// Lengths of the top lists.
    pub cutoffs: Vec<u32>,
    /// Temperature of the step at a cutoff, above 0.
    pub cutoff_temperature: f32,
}

/// The loss of a list, whose scores become derivatives.
pub(super) fn smooth_ndcg(settings: &SmoothNdcg, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    of_ranks(settings.ranks, positives, negatives, |ranks| {
        let ideal = ideal_dcg(ranks.len());
        let mut dcg = 0.0;
        for rank in ranks {
            let above = 1.0 + rank.in_list;
            let discount = 1.0 / above.log2();
            dcg += discount;
            *rank = Rank { in_list: discount * discount / (ideal * above * LN_2), among_positives: 0.0 };
        }
        f64::from(settings.best) - dcg / ideal
    })
}

/// The loss of a list, whose scores become derivatives.
pub(super) fn smooth_ap(settings: SmoothRank, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    of_ranks(settings, positives, negatives, |ranks| {
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

/// The loss of a list, whose scores become derivatives.
pub(super) fn smooth_recall(settings: &SmoothRecall, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    let sharpness = 1.0 / f64::from(settings.cutoff_temperature);
    of_ranks(settings.ranks, positives, negatives, |ranks| {
        let count = ranks.len().max(1) as f64;
        let mut sum = 0.0;
        for rank in ranks {
            let mut derivative = 0.0;
            for cutoff in settings.cutoffs.iter().map(|&cutoff| f64::from(cutoff)) {
                let weight = 1.0 / (count.min(cutoff) * settings.cutoffs.len() as f64);
                let (hit, slope) = sigmoid((cutoff - rank.in_list) * sharpness);
                sum += weight * hit;
                derivative += weight * slope * sharpness;
            }
            *rank = Rank { in_list: derivative, among_positives: 0.0 };
        }
        1.0 - sum
    })
}

/// The DCG of so many positives at the top, or of one.
pub(super) fn ideal_dcg(count: usize) -> f64 {
    (1..=count.max(1)).map(|rank| 1.0 / (1.0 + rank as f64).log2()).sum()
}

/// The sigmoid and its slope.
fn sigmoid(x: f64) -> (f64, f64) {
    let small = (-x.abs()).exp();
    let share = 1.0 / (1.0 + small);
    (if x < 0.0 { small * share } else { share }, small * share * share)
}
