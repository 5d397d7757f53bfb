//! One user's counts while the tiles go by.

use super::{
    count::Counts,
    rankings::{Candidates, Rankings},
};
use crate::scorer::scores::PANEL;
use std::ops::Range;
use vectors::Ties;

/// A user's held-out items, the scores that others must reach to stand before them, and how many did.
pub(super) struct Tally {
    /// Places of items that are no other candidates, ascending: held out or masked; of held-out ones the score that was foreseen.
    hidden: Vec<(u32, Option<f32>)>,
    /// How many of them were passed.
    passed: usize,
    held_out: usize,
    counts: Counts,
}

impl Tally {
    /// Makes the tally for the places of the held-out items, then of the masked ones, and the scores of the former; ranks beyond the limit need not
    /// be known.
    pub(super) fn new(places: impl Iterator<Item = u32>, scores: Vec<f32>, limit: Option<u32>) -> Self {
        let foreseen = scores.iter().copied().map(Some).chain(std::iter::repeat(None));
        let mut hidden: Vec<(u32, Option<f32>)> = places.zip(foreseen).collect();
        hidden.sort_unstable_by_key(|&(place, _)| place);
        hidden.dedup_by_key(|&mut (place, _)| place);
        Self { hidden, passed: 0, held_out: scores.len(), counts: Counts::new(scores, limit) }
    }

    /// Turns the scores of masked items within the next tile into NaN.
    pub(super) fn hide_masked(&self, tile: Range<usize>, scores: &mut [f32]) {
        let within = self.hidden[self.passed..].iter().take_while(|(place, _)| (*place as usize) < tile.end);
        within.filter(|(_, foreseen)| foreseen.is_none()).for_each(|(place, _)| scores[*place as usize - tile.start] = f32::NAN);
    }

    /// Counts the scores of one tile's items; those of hidden items, and what stands behind the last item, become NaN.
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
        let whole = tile.len().next_multiple_of(PANEL);
        scores[tile.len()..whole].fill(f32::NAN);
        self.counts.count(&scores[..whole]);
    }

    /// Whether no further score matters, of scores up to the highest possible one.
    pub(super) fn done(&self, highest: f64) -> bool {
        self.counts.lowest().is_none_or(|lowest| highest < f64::from(lowest))
    }

    /// Turns the counts into ranks, which the user's list joins.
    pub(super) fn finish(self, user: u32, items: usize, ties: Ties, list: &[u32], rankings: &mut Rankings) {
        let candidates = items - self.hidden.len() + self.held_out;
        let asked: Vec<(u32, u32)> = self.counts.asked().collect();
        rankings.add(Candidates { user, count: candidates, list }, self.held_out, &asked, ties);
    }
}
