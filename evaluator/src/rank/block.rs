//! Ranking one block of users.

use super::{
    check,
    rankings::Rankings,
    scores::{Scores, Scratch, TILE},
    tally::Tally,
};
use crate::{Result, settings::Ties};
use dataset::Interactions;

/// What is the same for all blocks.
pub(super) struct Task<'a> {
    pub(super) scores: &'a Scores<'a>,
    pub(super) masked: &'a [&'a Interactions],
    pub(super) held_out: &'a Interactions,
    pub(super) ties: Ties,
}

impl Task<'_> {
    /// Ranks a block of users that have held-out items.
    pub(super) fn rank(&self, users: &[u32], scratch: &mut Scratch) -> Result<Rankings> {
        self.scores.load(users, scratch);
        let mut tallies: Vec<Tally> = users.iter().enumerate().map(|(position, &user)| self.tally(position, user, scratch)).collect();
        for tile in self.scores.tiles() {
            self.scores.score(tile.clone(), scratch);
            for (tally, row) in tallies.iter_mut().zip(scratch.scores.chunks_exact_mut(TILE)) {
                let row = &mut row[..tile.len()];
                if check::not_finite(row).is_some() {
                    return Err(check::first_not_finite(self.scores, users, scratch));
                }
                tally.count(tile.clone(), row);
            }
        }
        let mut rankings = Rankings::default();
        for (tally, &user) in tallies.into_iter().zip(users) {
            tally.finish(user, self.scores.items(), self.ties, &mut rankings);
        }
        Ok(rankings)
    }

    fn tally(&self, position: usize, user: u32, scratch: &mut Scratch) -> Tally {
        let held_out = self.held_out.row(user as usize);
        let mut scores = Vec::with_capacity(held_out.len());
        self.scores.score_some(position, held_out, scratch, &mut scores);
        Tally::new(user as usize, held_out, &scores, self.masked)
    }
}
