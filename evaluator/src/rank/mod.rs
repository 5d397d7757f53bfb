//! Full-catalogue ranking: where each held-out item stands among all items of the catalogue.
//!
//! Blocks of users meet tiles of items in one matrix product, and the scores are consumed while they are in the cache: the scores of
//! a user's held-out items are known first, so that ranks are counts of the items above them. Nothing is sorted, and no
//! `[users, items]` matrix ever exists. Every score is the same sum in the same order wherever its item stands in a tile, so the
//! results have the same bits for any number of threads and any memory budget.
//!
//! Where only the first ranks are asked for, a user leaves its block once that many items stand before each of its held-out items. The users' lists,
//! where they are asked for, are kept from the same tiles.

mod block;
mod check;
mod constant;
mod count;
mod depth;
mod listed;
mod lists;
mod memory;
mod rankings;
mod sampled;
mod tally;
mod top_k;

#[cfg(test)]
mod tests;

pub use check::held_out as check_held_out;
pub use constant::is_constant;
pub use depth::Depth;
pub use listed::{ListCounts, list_counts};
pub use lists::reduce_lists;
pub(crate) use memory::list_memory;
pub use memory::{WorkingSpace, rank_memory};
pub use rankings::{Ranked, Rankings};
pub use sampled::{SampledCandidates, rank_sampled};
pub use top_k::top_k;

use crate::{
    Result, Scorer,
    scorer::scores::{Scratch, users_per_block},
};
use block::Task;
use dataset::Interactions;
use rayon::prelude::*;
use vectors::Ties;

/// Ranks all items for every user with held-out items.
///
/// `history` is the dataset's train part, from which item weights and user neighbours score. Items of `masked` are left out of the user's candidates.
/// The rank of a held-out item is the number of other candidates that score above it, plus those of the same score where `ties` is
/// pessimistic, plus its place among the user's own held-out items; so the ranks of a user are distinct: the hit positions of one
/// list. `memory` in bytes bounds the working space, down to a floor of a few hundred kilobytes a thread; it does not change results.
///
/// # Errors
/// [`Error::Ranking`](crate::Error::Ranking) when sizes do not fit or a held-out item is also masked;
/// [`Error::NotFinite`](crate::Error::NotFinite) for the first user and item whose score is NaN or infinite.
pub fn rank(
    scorer: &Scorer,
    history: &Interactions,
    masked: &[&Interactions],
    held_out: &Interactions,
    ties: Ties,
    memory: usize,
) -> Result<Rankings> {
    rank_within(scorer, history, masked, held_out, ties, memory, None)
}

/// Ranks as [`rank()`] does, no deeper than asked for: the ranks within the limit of `depth` are the same. Users leave the work as soon as so many
/// items stand before each of their held-out items, so this is faster by far; where lists are kept, as soon as no other item can come into theirs, which
/// are made in the same pass. [`metric::depth`](crate::metric::depth) says which depth metrics need.
///
/// # Errors
/// Those of [`rank()`].
pub fn rank_within(
    scorer: &Scorer,
    history: &Interactions,
    masked: &[&Interactions],
    held_out: &Interactions,
    ties: Ties,
    memory: usize,
    depth: impl Into<Depth>,
) -> Result<Rankings> {
    let depth = depth.into();
    check::sizes(scorer, history, masked, held_out.users())?;
    check::held_out(scorer.items(), masked, held_out)?;
    if let Some(lists) = scorer.lists() {
        return Ok(listed::rank(lists, masked, held_out, ties, depth));
    }
    let users: Vec<u32> = (0..held_out.users() as u32).filter(|&user| !held_out.row(user as usize).is_empty()).collect();
    let scores = scorer.scores(history, depth.ranks.is_some(), memory)?;
    let task = Task { scores: &*scores, masked, held_out, ties, depth };
    let blocks: Vec<Result<Rankings>> = users
        .par_chunks(users_per_block(&*scores, users.len(), memory))
        .map_init(Scratch::default, |scratch, users| task.rank(users, scratch))
        .collect();
    Rankings::concat(blocks, depth)
}
