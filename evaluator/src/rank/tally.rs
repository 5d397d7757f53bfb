//! One user's counts while the tiles go by.

use super::{count::count, rankings::Rankings};
use crate::settings::Ties;
use dataset::Interactions;
use std::ops::Range;

/// A user's held-out items, the scores that others must reach to stand before them, and how many did.
pub(super) struct Tally {
    /// Items that are no other candidates, ascending: held out or masked; of held-out ones the score that was foreseen.
    hidden: Vec<(u32, Option<f32>)>,
    /// How many of them were passed.
    passed: usize,
    /// Scores of the held-out items, descending.
    thresholds: Vec<f32>,
    at_least: Vec<u32>,
    above: Vec<u32>,
}

impl Tally {
    /// For held-out items and their scores.
    pub(super) fn new(user: usize, held_out: &[u32], scores: &[f32], masked: &[&Interactions]) -> Self {
        let mut thresholds = scores.to_vec();
        thresholds.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut hidden: Vec<(u32, Option<f32>)> = held_out.iter().zip(scores).map(|(&item, &score)| (item, Some(score))).collect();
        hidden.extend(masked.iter().flat_map(|masked| masked.row(user)).map(|&item| (item, None)));
        hidden.sort_unstable_by_key(|&(item, _)| item);
        hidden.dedup_by_key(|&mut (item, _)| item);
        let zeros = vec![0; thresholds.len()];
        Self { hidden, passed: 0, thresholds, at_least: zeros.clone(), above: zeros }
    }

    /// Counts the scores of one tile's items; those of hidden items become NaN.
    ///
    /// # Panics
    /// When a held-out item's score is not the foreseen one to the last bit: then its ties would be judged wrongly.
    pub(super) fn count(&mut self, tile: Range<usize>, scores: &mut [f32]) {
        while let Some(&(item, foreseen)) = self.hidden.get(self.passed).filter(|(item, _)| (*item as usize) < tile.end) {
            let score = &mut scores[item as usize - tile.start];
            if let Some(foreseen) = foreseen {
                assert_eq!(score.to_bits(), foreseen.to_bits(), "a score has the same bits wherever its item stands");
            }
            *score = f32::NAN;
            self.passed += 1;
        }
        count(scores, &self.thresholds, &mut self.at_least, &mut self.above);
    }

    /// Turns the counts into ranks.
    pub(super) fn finish(self, user: u32, items: usize, ties: Ties, rankings: &mut Rankings) {
        let held_out = self.thresholds.len();
        let before = match ties {
            Ties::Pessimistic => &self.at_least,
            Ties::Optimistic => &self.above,
        };
        let ranks = before.iter().zip(1..).map(|(&before, place)| before + place);
        let candidates = items - self.hidden.len() + held_out;
        let others = (candidates - held_out) as u64;
        // Twice the number of (held-out, other) pairs in the right order, a tie being half of one.
        let ordered: u64 =
            self.at_least.iter().zip(&self.above).map(|(&least, &above)| 2 * others - u64::from(least) - u64::from(above)).sum();
        let pairs = 2 * others * held_out as u64;
        let auc = if pairs == 0 { 0.5 } else { ordered as f64 / pairs as f64 };
        let tied = self.at_least != self.above;
        rankings.push(user, ranks, candidates as u32, auc, tied);
    }
}
