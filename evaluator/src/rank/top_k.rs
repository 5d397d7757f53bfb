//! The best items of some users: what `recommend` writes.

use super::{check, count::highest, listed};
use crate::{
    Result, Scorer,
    scorer::scores::{Scores, Scratch, TILE, users_per_block},
};
use dataset::Interactions;
use rayon::prelude::*;
use std::ops::Range;

/// Scores that are looked at together: where none of them is good enough, none is compared.
const CHUNK: usize = 96;

/// A user's best items and their scores.
type List = Vec<(u32, f32)>;

/// The `k` best items of each of some users with their scores, best first, equal scores by item. Items of `masked` are left out;
/// where fewer than `k` items are left, the list is shorter. `history` and `memory` are as for [`rank`](super::rank()).
///
/// # Errors
/// [`Error::Ranking`](crate::Error::Ranking) when sizes do not fit or a user is unknown; [`Error::NotFinite`](crate::Error::NotFinite) for the first user and item whose score is NaN or infinite.
pub fn top_k(
    scorer: &Scorer,
    history: &Interactions,
    masked: &[&Interactions],
    users: &[u32],
    k: usize,
    memory: usize,
) -> Result<Vec<List>> {
    check::users(scorer, history, masked, users)?;
    if let Some(lists) = scorer.lists() {
        return Ok(listed::top_k(lists, masked, users, k));
    }
    let scores = scorer.scores(history, false, memory)?;
    let blocks: Vec<Result<Vec<List>>> = users
        .par_chunks(users_per_block(&*scores, users.len(), memory))
        .map_init(Scratch::default, |scratch, users| block(&*scores, masked, users, k, scratch))
        .collect();
    let blocks: Vec<Vec<List>> = blocks.into_iter().collect::<Result<_>>()?;
    Ok(blocks.into_iter().flatten().collect())
}

fn block(scores: &dyn Scores, masked: &[&Interactions], users: &[u32], k: usize, scratch: &mut Scratch) -> Result<Vec<List>> {
    scores.load(users, scratch);
    let mut lists = vec![Best::new(k); users.len()];
    for tile in scores.tiles() {
        scores.score(users.len(), tile.clone(), scratch);
        for ((list, row), &user) in lists.iter_mut().zip(scratch.scores.chunks_exact_mut(TILE)).zip(users) {
            let row = &mut row[..tile.len()];
            if scores.to_check() && check::not_finite(row).is_some() {
                return Err(check::first_not_finite(scores, users, scratch));
            }
            for masked in masked {
                hide(masked.row(user as usize), tile.clone(), row);
            }
            list.offer(row, |at| (tile.start + at) as u32);
        }
    }
    Ok(lists.into_iter().zip(users).map(|(list, &user)| reported(list.finish(), scores.offset(user as usize))).collect())
}

/// A list with its scores as they are reported.
fn reported(mut list: List, offset: f32) -> List {
    list.iter_mut().for_each(|(_, score)| *score += offset);
    list
}

/// Turns the scores of the items within the tile into NaN.
fn hide(items: &[u32], tile: Range<usize>, row: &mut [f32]) {
    let first = items.partition_point(|&item| (item as usize) < tile.start);
    for &item in items[first..].iter().take_while(|&&item| (item as usize) < tile.end) {
        row[item as usize - tile.start] = f32::NAN;
    }
}

/// The best `k` of what was offered so far, and fewer than `k` more that were no worse than the worst of them once.
#[derive(Clone)]
pub(super) struct Best {
    k: usize,
    kept: List,
    /// The score that a newcomer must reach; minus infinity, which no score is, until there are `k`.
    worst: f32,
}

impl Best {
    pub(super) fn new(k: usize) -> Self {
        Self { k, kept: Vec::new(), worst: if k == 0 { f32::INFINITY } else { f32::NEG_INFINITY } }
    }

    /// Offers scores, each of the item at its place; NaN is none.
    pub(super) fn offer(&mut self, scores: &[f32], item: impl Fn(usize) -> u32) {
        for (first, scores) in (0..).step_by(CHUNK).zip(scores.chunks(CHUNK)) {
            if highest(scores) >= self.worst {
                self.offer_chunk(scores, |at| item(first + at));
            }
        }
    }

    fn offer_chunk(&mut self, scores: &[f32], item: impl Fn(usize) -> u32) {
        let mut worst = self.worst;
        for (at, &score) in scores.iter().enumerate() {
            // Of the worst score the smaller items stay, in whichever order they come.
            if score >= worst {
                self.kept.push((item(at), score));
                worst = self.shrink();
            }
        }
    }

    /// Whether no further score matters, of scores up to the highest possible one.
    pub(super) fn done(&self, highest: f64) -> bool {
        highest < f64::from(self.worst)
    }

    /// Drops what is not among the best `k` when there are `2 k`, and gives the score that a newcomer must reach.
    fn shrink(&mut self) -> f32 {
        let full = self.kept.len() == 2 * self.k || (self.kept.len() == self.k && self.worst == f32::NEG_INFINITY);
        if full {
            let (_, worst, _) = self.kept.select_nth_unstable_by(self.k - 1, better);
            self.worst = worst.1;
            self.kept.truncate(self.k);
        }
        self.worst
    }

    /// What is left, best first, equal scores by item.
    pub(super) fn finish(mut self) -> List {
        self.kept.sort_unstable_by(better);
        self.kept.truncate(self.k);
        self.kept
    }
}

/// Higher scores first, then smaller ids. No score is NaN; the two zeros are equal.
fn better(a: &(u32, f32), b: &(u32, f32)) -> std::cmp::Ordering {
    b.1.partial_cmp(&a.1).expect("NaN is never kept").then(a.0.cmp(&b.0))
}
