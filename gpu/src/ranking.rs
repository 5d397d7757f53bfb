//! Ranks of held-out items among all items, by counting, and the best items of users: `kernels/ranking.cu`.
//!
//! A score is `p . q` of prepared vectors, or for distances `2 p . q - |q|^2`, which differs from the score by what all items of a user have in
//! common.

mod top_k;

pub use top_k::{Best, top_k};

use crate::{
    Buffer, Error, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, LaunchArgument, count, nothing, number},
    vectors::{Similarity, View},
};

/// Users of a block, and items of a tile.
const TILE: usize = 128;
/// Threads of a block.
const THREADS: usize = 256;
/// Blocks to have in all, so that those of the last wave are few among all.
const BLOCKS: usize = 4096;
/// Thresholds of a block that its shared memory has room for, each with two counts.
const ROOM: usize = 2560;

/// Items of each user.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    /// `[users + 1]`, where each user's items begin in `items`.
    pub starts: &'a Buffer<u32>,
    /// The items of all users, each user's ascending.
    pub items: &'a Buffer<u32>,
}

impl<'a> Lists<'a> {
    /// The lists as arguments of a kernel.
    fn arguments(self) -> [LaunchArgument<'a>; 4] {
        [read(self.starts), read(self.items), count(self.starts.len() - 1), count(self.items.len())]
    }
}

/// Items whose ranks are asked for.
#[derive(Debug)]
pub struct HeldOut {
    starts: Buffer<u32>,
    items: Buffer<u32>,
    /// The users that have some, ascending.
    who: Buffer<u32>,
    /// Items of the users of a block at most.
    most: usize,
}

impl HeldOut {
    /// Puts held-out items on the device, those of user u being `items[starts[u]..starts[u + 1]]`, without repeats.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(gpu: &Gpu, starts: &[u32], items: &[u32]) -> Result<Self> {
        assert!(starts.last().is_some_and(|&end| end as usize == items.len() && end <= i32::MAX as u32), "the rows are all items");
        let who: Vec<u32> = (0..starts.len() as u32 - 1).filter(|&user| starts[user as usize] < starts[user as usize + 1]).collect();
        let of_block = |users: &[u32]| starts[users[users.len() - 1] as usize + 1] - starts[users[0] as usize];
        let most = who.chunks(TILE).map(of_block).max().unwrap_or(0) as usize;
        Ok(Self { starts: gpu.upload(starts)?, items: gpu.upload(items)?, who: gpu.upload(&who)?, most })
    }

    fn lists(&self) -> Lists<'_> {
        Lists { starts: &self.starts, items: &self.items }
    }
}

/// The users and the items that scores are made from.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a>([View<'a>; 2]);

impl<'a> Sides<'a> {
    pub(crate) fn new(users: View<'a>, items: View<'a>) -> Self {
        assert_eq!((users.dim, users.similarity), (items.dim, items.similarity), "vectors of one kind");
        Self([users, items])
    }

    fn rows(self) -> [usize; 2] {
        self.0.map(|view| view.vectors.len() / view.dim)
    }

    /// The vectors of both sides as the first arguments of a kernel.
    pub(crate) fn arguments(self) -> [LaunchArgument<'a>; 5] {
        let [users, items] = self.0;
        let is_distance = items.similarity == Similarity::NegativeSquaredDistance;
        let norms = if is_distance { read(items.norms) } else { nothing("const float*") };
        [read(users.vectors), read(items.vectors), norms, number(if is_distance { 2.0 } else { 1.0 }), count(items.dim)]
    }
}

/// For each held-out item, how many of the items that are neither held out nor masked stand before it, in the order of [`HeldOut`]'s items.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// Items that score at least as high.
    pub at_least: Vec<u32>,
    /// Items that score higher.
    pub above: Vec<u32>,
    /// Score of each held-out item.
    pub scores: Vec<f32>,
}

/// Counts the items before each held-out item. Items must be those of the vectors, and none both held out and masked.
///
/// # Errors
/// [`Error::NotFinite`] for the first user with held-out items that has a score, of any item, that is NaN or infinite; those of the device.
pub fn count_before(gpu: &Gpu, users: View, items: View, held_out: &HeldOut, masked: Lists) -> Result<Counts> {
    let sides = Sides::new(users, items);
    let [users, _] = sides.rows();
    assert!([held_out.starts.len(), masked.starts.len()] == [users + 1; 2], "lists of {users} users");
    let entries = held_out.items.len();
    let scores = score(gpu, sides, held_out.lists())?;
    let thresholds = sort(gpu, &scores, held_out)?;
    let mut counts = gpu.zeros(2 * entries)?;
    count_tiles(gpu, sides, held_out, &thresholds, &mut counts)?;
    for lists in [masked, held_out.lists()] {
        let own = [read(&held_out.starts), read(&thresholds), write(&mut counts)];
        let arguments: Vec<_> = sides.arguments().into_iter().chain(lists.arguments()).chain(own).collect();
        gpu.launch("leave_out", Grid::threads(lists.items.len()), &arguments)?;
    }
    let (mut at_least, mut above) = (gpu.zeros(entries)?, gpu.zeros(entries)?);
    let [starts, _, rows, all] = held_out.lists().arguments();
    let arguments = [read(&scores), starts, read(&thresholds), read(&counts), rows, all, write(&mut at_least), write(&mut above)];
    gpu.launch("add_counts", Grid::threads(entries), &arguments)?;
    Ok(Counts { at_least: gpu.read(&at_least)?, above: gpu.read(&above)?, scores: gpu.read(&scores)? })
}

/// The score of each entry of the lists.
fn score(gpu: &Gpu, sides: Sides, lists: Lists) -> Result<Buffer<f32>> {
    let mut scores = gpu.zeros(lists.items.len())?;
    let arguments: Vec<_> = sides.arguments().into_iter().chain(lists.arguments()).chain([write(&mut scores)]).collect();
    gpu.launch("score_entries", Grid::threads(lists.items.len()), &arguments)?;
    Ok(scores)
}

/// Each user's scores, ascending.
fn sort(gpu: &Gpu, scores: &Buffer<f32>, held_out: &HeldOut) -> Result<Buffer<f32>> {
    let mut sorted = gpu.zeros(scores.len())?;
    let [starts, _, rows, entries] = held_out.lists().arguments();
    gpu.launch("sort_lists", Grid::threads(scores.len()), &[read(scores), starts, rows, entries, write(&mut sorted)])?;
    Ok(sorted)
}

/// Counts all items.
fn count_tiles(gpu: &Gpu, sides: Sides, held_out: &HeldOut, thresholds: &Buffer<f32>, counts: &mut Buffer<u32>) -> Result<()> {
    let mut first = NotFinite::new(gpu)?;
    let [_, items] = sides.rows();
    let user_blocks = held_out.who.len().div_ceil(TILE);
    let parts = (BLOCKS / user_blocks.max(1)).clamp(1, items.div_ceil(TILE).max(1));
    let room = held_out.most.min(ROOM);
    let own = [
        read(&held_out.who),
        count(held_out.who.len()),
        count(user_blocks),
        count(items),
        read(&held_out.starts),
        read(thresholds),
        count(parts),
        count(room),
        write(counts),
        write(&mut first.0),
    ];
    let arguments: Vec<_> = sides.arguments().into_iter().chain(own).collect();
    let shared = room * (size_of::<f32>() + 2 * size_of::<u32>());
    gpu.launch("count_tiles", Grid { blocks: user_blocks * parts, threads: THREADS, shared }, &arguments)?;
    first.check(gpu)
}

/// The first user and item whose score is NaN or infinite, as one number; all bits where there is none.
struct NotFinite(Buffer<u64>);

impl NotFinite {
    fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self(gpu.upload(&[u64::MAX])?))
    }

    fn check(&self, gpu: &Gpu) -> Result<()> {
        match gpu.read(&self.0)?[0] {
            u64::MAX => Ok(()),
            first => Err(Error::NotFinite { row: (first >> 32) as u32, column: first as u32 }),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests;
