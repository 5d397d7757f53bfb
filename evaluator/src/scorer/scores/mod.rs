//! Scores of a block of users, one tile of items after the other.

mod aligned;
mod bound;
pub(super) mod dense_rows;
mod order;
pub(super) mod pairs;
mod product;
pub(super) mod sparse_rows;
pub(super) mod vectors;

pub(crate) use product::{PANEL, product};
pub(crate) use sparse_rows::{space_of_block, space_of_user};

use aligned::Aligned;
use sparse_rows::Gathered;
use std::ops::Range;

/// Items of a tile: with a block of users, its scores stay in the second-level cache.
pub(crate) const TILE: usize = 384;

/// Users of a block at most: enough to pay for the way of a tile into the cache.
pub(crate) const USERS: usize = 256;

/// Users of a block at least, whatever the memory.
pub(crate) const FEWEST_USERS: usize = 8;

/// Reused buffers of one thread, filled by [`Scores::load`].
#[derive(Default)]
pub struct Scratch {
    /// The loaded users.
    users: Vec<u32>,
    /// Vectors of the loaded users, `[users, dim]`.
    vectors: Aligned,
    /// The lengths of these vectors.
    lengths: Vec<f64>,
    /// Scores of the last tile, `[users, TILE]`.
    pub(crate) scores: Aligned,
    /// Item vectors as panels.
    packed: Aligned,
    /// Scores of the loaded users, where sparse rows add up to them.
    gathered: Gathered,
}

/// A scorer, made ready for all users.
pub trait Scores: Send + Sync {
    /// The number of items that are scored.
    fn items(&self) -> usize;

    /// The place of an item in the tiles.
    fn place(&self, item: u32) -> u32 {
        item
    }

    /// The item at a place in the tiles.
    fn item(&self, place: usize) -> u32 {
        place as u32
    }

    /// Makes the scratch ready for these users.
    fn load(&self, users: &[u32], scratch: &mut Scratch) {
        scratch.users.clear();
        scratch.users.extend_from_slice(users);
    }

    /// Keeps the user loaded at `from`, at `to`.
    fn keep(&self, from: usize, to: usize, scratch: &mut Scratch) {
        scratch.users[to] = scratch.users[from];
    }

    /// What no score of the user loaded at `position` for an item at this place or behind is above.
    fn highest(&self, _position: usize, _place: usize, _scratch: &Scratch) -> f64 {
        f64::INFINITY
    }

    /// Fills `scratch.scores`, which has room, with the scores of the first `users` loaded users for the items of a tile.
    fn score_tile(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch);

    /// Appends the scores of the loaded user at `position` for some items, in the bits that [`score_tile`](Self::score_tile) gives.
    fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>);

    /// Whether a score can be NaN or infinite.
    fn to_check(&self) -> bool;

    /// What is added to a user's scores where they are reported.
    fn offset(&self, _user: usize) -> f32 {
        0.0
    }

    /// Users of a block at most.
    fn most_users(&self) -> usize {
        USERS
    }

    /// Bytes of working space for each user of a block, and for each block.
    fn working_space(&self) -> (usize, usize);
}

impl dyn Scores + '_ {
    /// The places of each tile, ascending.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let items = self.items();
        (0..items).step_by(TILE).map(move |first| first..(first + TILE).min(items))
    }

    /// Fills `scratch.scores` with the scores of the first `users` loaded users for the items of a tile.
    pub(crate) fn score(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch) {
        scratch.scores.grow(users * TILE);
        self.score_tile(users, tile, scratch);
    }
}

/// How many users share a block, within the memory and with work for every thread.
pub(crate) fn users_per_block(scores: &dyn Scores, users: usize, memory: usize) -> usize {
    let threads = rayon::current_num_threads();
    let (per_user, per_block) = scores.working_space();
    let fitting = (memory / 2 / threads).saturating_sub(per_block) / per_user / 8 * 8;
    let even = users.div_ceil(threads * 4).next_multiple_of(8);
    fitting.min(even).clamp(FEWEST_USERS, scores.most_users())
}
