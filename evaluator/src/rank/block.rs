//! Ranking one block of users.

use super::{check, depth::Depth, rankings::Rankings, tally::Tally, top_k::Best};
use crate::{
    Result,
    scorer::scores::{Scores, Scratch, TILE},
};
use dataset::Interactions;
use vectors::Ties;

/// What is the same for all blocks.
pub(super) struct Task<'a> {
    pub(super) scores: &'a dyn Scores,
    pub(super) masked: &'a [&'a Interactions],
    pub(super) held_out: &'a Interactions,
    pub(super) ties: Ties,
    pub(super) depth: Depth,
}

impl Task<'_> {
    /// Ranks a block of users that have held-out items.
    pub(super) fn rank(&self, users: &[u32], scratch: &mut Scratch) -> Result<Rankings> {
        self.scores.load(users, scratch);
        let mut tallies: Vec<Tally> = users.iter().enumerate().map(|(position, &user)| self.tally(position, user, scratch)).collect();
        let mut lists = vec![Best::new(self.depth.list as usize); if self.depth.list > 0 { users.len() } else { 0 }];
        // The tallies of the users that are still loaded.
        let mut loaded: Vec<usize> = (0..users.len()).collect();
        for tile in self.scores.tiles() {
            if loaded.is_empty() {
                break;
            }
            self.scores.score(loaded.len(), tile.clone(), scratch);
            for (&at, row) in loaded.iter().zip(scratch.scores.chunks_exact_mut(TILE)) {
                if self.scores.to_check() && check::not_finite(&row[..tile.len()]).is_some() {
                    return Err(check::first_not_finite(self.scores, users, scratch));
                }
                if let Some(list) = lists.get_mut(at) {
                    tallies[at].hide_masked(tile.clone(), row);
                    list.offer(&row[..tile.len()], |place| self.scores.item(tile.start + place));
                }
                tallies[at].count(tile.clone(), row);
            }
            if !self.scores.to_check() {
                self.leave(tile.end, &tallies, &lists, &mut loaded, scratch);
            }
        }
        let mut rankings = Rankings::new(self.depth);
        let mut lists = lists.into_iter();
        for (tally, &user) in tallies.into_iter().zip(users) {
            let list: Vec<u32> = lists.next().map(Best::finish).unwrap_or_default().into_iter().map(|(item, _)| item).collect();
            tally.finish(user, self.scores.items(), self.ties, &list, &mut rankings);
        }
        Ok(rankings)
    }

    fn tally(&self, position: usize, user: u32, scratch: &mut Scratch) -> Tally {
        let held_out = self.held_out.row(user as usize);
        let mut scores = Vec::with_capacity(held_out.len());
        self.scores.score_some(position, held_out, scratch, &mut scores);
        let known = self.masked.iter().flat_map(|masked| masked.row(user as usize));
        let places = held_out.iter().chain(known).map(|&item| self.scores.place(item));
        Tally::new(places, scores, self.depth.ranks)
    }

    /// Scores no more for the users that are done before this place: those behind them move up.
    fn leave(&self, place: usize, tallies: &[Tally], lists: &[Best], loaded: &mut Vec<usize>, scratch: &mut Scratch) {
        let mut position = 0..;
        let mut kept = 0;
        loaded.retain(|&at| {
            let from = position.next().expect("positions do not end");
            let highest = self.scores.highest(from, place, scratch);
            let stays = !(tallies[at].done(highest) && lists.get(at).is_none_or(|list| list.done(highest)));
            if stays {
                if from > kept {
                    self.scores.keep(from, kept, scratch);
                }
                kept += 1;
            }
            stays
        });
    }
}
