//! Scores of a block of users, one tile of items after the other.

use super::{
    aligned::Aligned,
    factors::Factors,
    item_weights::ItemWeights,
    network::Pairs,
    sparse::{Gathered, Sparse},
};
use crate::{Error, Result, Scorer};
use dataset::Interactions;
use std::ops::Range;

/// Items of a tile: with a block of users, its scores stay in the second-level cache.
pub(super) const TILE: usize = 384;

/// Users of a block at most: enough to pay for the way of a tile into the cache.
pub(super) const USERS: usize = 256;

/// Users of a block at least, whatever the memory.
pub(super) const FEWEST_USERS: usize = 8;

/// A scorer, made ready for all users.
pub(super) enum Scores<'a> {
    Factors(Factors<'a>),
    Pairs(Pairs<'a>),
    ItemWeights(ItemWeights<'a>),
    Sparse(Sparse<'a>),
}

/// Reused buffers of one thread, filled by [`Scores::load`].
#[derive(Default)]
pub(super) struct Scratch {
    /// The loaded users.
    pub(super) users: Vec<u32>,
    /// Vectors of the loaded users, `[users, dim]`.
    pub(super) vectors: Aligned,
    /// The lengths of these vectors.
    pub(super) lengths: Vec<f64>,
    /// Scores of the last tile, `[users, TILE]`.
    pub(super) scores: Aligned,
    /// Item vectors as panels.
    pub(super) packed: Aligned,
    /// Scores of the loaded users, where sparse rows add up to them.
    pub(super) gathered: Gathered,
}

impl<'a> Scores<'a> {
    /// Prepares the scores of a model that scores all items: top-N lists do not.
    pub(super) fn new(scorer: &'a Scorer, history: &'a Interactions, ordered: bool, memory: usize) -> Result<Self> {
        Ok(match scorer {
            Scorer::Factors { users, items, similarity } | Scorer::Histories { test: users, items, similarity, .. } => {
                Self::Factors(Factors::new(users, items, *similarity, ordered.then_some(history), memory))
            }
            Scorer::Network { users, items, network } => Self::Pairs(Pairs::new(users, items, network)),
            Scorer::ItemWeights { weights } => Self::ItemWeights(ItemWeights::new(weights, history)),
            Scorer::SparseItemWeights { weights } => Self::Sparse(Sparse::of_items(weights, history)),
            Scorer::UserNeighbours { weights, items } => Self::Sparse(Sparse::of_neighbours(weights, history, *items)),
            Scorer::Lists(_) => {
                return Err(Error::Ranking { reason: "top-N lists have no scores of items that they do not name".to_owned() });
            }
        })
    }

    pub(super) fn items(&self) -> usize {
        match self {
            Self::Factors(factors) => factors.items(),
            Self::Pairs(pairs) => pairs.items(),
            Self::ItemWeights(weights) => weights.items(),
            Self::Sparse(sparse) => sparse.items(),
        }
    }

    /// The place of an item in the tiles.
    pub(super) fn place(&self, item: u32) -> u32 {
        match self {
            Self::Factors(factors) => factors.place(item),
            Self::Pairs(_) | Self::ItemWeights(_) | Self::Sparse(_) => item,
        }
    }

    /// The item at a place in the tiles.
    pub(super) fn item(&self, place: usize) -> u32 {
        match self {
            Self::Factors(factors) => factors.item(place) as u32,
            Self::Pairs(_) | Self::ItemWeights(_) | Self::Sparse(_) => place as u32,
        }
    }

    /// The places of each tile, ascending.
    pub(super) fn tiles(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let items = self.items();
        (0..items).step_by(TILE).map(move |first| first..(first + TILE).min(items))
    }

    /// Makes the scratch ready for these users.
    pub(super) fn load(&self, users: &[u32], scratch: &mut Scratch) {
        match self {
            Self::Factors(factors) => factors.load(users, scratch),
            Self::Pairs(pairs) => pairs.load(users, scratch),
            Self::ItemWeights(weights) => weights.load(users, scratch),
            Self::Sparse(sparse) => sparse.load(users, scratch),
        }
    }

    /// Keeps the user loaded at `from`, at `to`.
    pub(super) fn keep(&self, from: usize, to: usize, scratch: &mut Scratch) {
        match self {
            Self::Factors(factors) => factors.keep(from, to, scratch),
            Self::Pairs(_) | Self::ItemWeights(_) => scratch.users[to] = scratch.users[from],
            Self::Sparse(sparse) => sparse.keep(from, to, scratch),
        }
    }

    /// What no score of the user loaded at `position` for an item at this place or behind is above.
    pub(super) fn highest(&self, position: usize, place: usize, scratch: &Scratch) -> f64 {
        match self {
            Self::Factors(factors) => factors.highest(position, place, scratch),
            Self::Pairs(_) | Self::ItemWeights(_) | Self::Sparse(_) => f64::INFINITY,
        }
    }

    /// Fills `scratch.scores` with the scores of the first `users` loaded users for the items of a tile.
    pub(super) fn score(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch) {
        scratch.scores.grow(users * TILE);
        match self {
            Self::Factors(factors) => factors.score(users, tile, scratch),
            Self::Pairs(pairs) => pairs.score(users, tile, scratch),
            Self::ItemWeights(weights) => weights.score(users, tile, scratch),
            Self::Sparse(sparse) => sparse.score(users, tile, scratch),
        }
    }

    /// Appends the scores of the loaded user at `position` for some items, in the bits that [`score`](Self::score) gives.
    pub(super) fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        match self {
            Self::Factors(factors) => factors.score_some(position, items, scratch, out),
            Self::Pairs(pairs) => pairs.score_some(position, items, scratch, out),
            Self::ItemWeights(weights) => weights.score_some(position, items, scratch, out),
            Self::Sparse(sparse) => sparse.score_some(position, items, scratch, out),
        }
    }

    /// Whether a score can be NaN or infinite.
    pub(super) fn to_check(&self) -> bool {
        match self {
            Self::Factors(factors) => factors.to_check,
            Self::Pairs(pairs) => pairs.to_check,
            Self::ItemWeights(weights) => weights.to_check,
            Self::Sparse(sparse) => sparse.to_check,
        }
    }

    /// What is added to a user's scores where they are reported.
    pub(super) fn offset(&self, user: usize) -> f32 {
        match self {
            Self::Factors(factors) => factors.offset(user),
            Self::Pairs(_) | Self::ItemWeights(_) | Self::Sparse(_) => 0.0,
        }
    }

    /// Users of a block at most: no tile is brought into the cache for sparse rows, and the sums of few users stay there.
    fn most_users(&self) -> usize {
        match self {
            Self::Factors(_) | Self::Pairs(_) | Self::ItemWeights(_) => USERS,
            Self::Sparse(_) => FEWEST_USERS,
        }
    }

    fn working_space(&self) -> (usize, usize) {
        match self {
            Self::Factors(factors) => factors.working_space(),
            Self::Pairs(pairs) => pairs.working_space(),
            Self::ItemWeights(weights) => weights.working_space(),
            Self::Sparse(sparse) => sparse.working_space(),
        }
    }
}

/// How many users share a block, within the memory and with work for every thread.
pub(super) fn users_per_block(scores: &Scores<'_>, users: usize, memory: usize) -> usize {
    let threads = rayon::current_num_threads();
    let (per_user, per_block) = scores.working_space();
    let fitting = (memory / 2 / threads).saturating_sub(per_block) / per_user / 8 * 8;
    let even = users.div_ceil(threads * 4).next_multiple_of(8);
    fitting.min(even).clamp(FEWEST_USERS, scores.most_users())
}
