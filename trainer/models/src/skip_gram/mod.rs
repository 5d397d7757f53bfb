//! Skip-gram with negative sampling, for models that give each node of the train graph a vector.
//!
//! ```text
//! l(v, c) = softplus(-x_v . y_c) + sum over K negatives n of softplus(x_v . y_n)
//! x_v <- x_v - rate dl/dx_v        y_c <- y_c - rate dl/dy_c        y_n <- y_n - rate dl/dy_n
//! rate = max(1 - t, 0.0001) learning_rate        t: the share of the `walks_per_node` or `samples_per_edge` that is done
//! ```
//! Users are the first nodes, items follow. Pairs of one positive c are a group: they share its negatives, as in Ji et al., arXiv:1604.04661, and move their
//! rows together. A piece (a walk, some edges) moves rows of its own group after group; the pieces of a block all start from the rows as they stood at its
//! beginning, and a row then moves by the sum of their moves, in their order. Threads share a block without a race, and the bits do not depend on their
//! number; blocks are small against the graph, and walks in them have few pairs of any one node, so that its vectors are as good as those learned pair by pair.
//! A negative that is c counts nothing, as in word2vec (Mikolov et al., NeurIPS 2013), from which also the first values are: inputs uniform within 1 / (2 dim), contexts 0.

mod block;
mod learner;
mod noise;
#[cfg(test)]
mod tests;

pub(super) use block::Piece;
pub(super) use noise::NoiseLaw;

use super::{Epochs, Sizes, stored::Stored};
use crate::{Error, Result};
use block::Block;
use dataset::Dataset;
use evaluator::{Factors, Scorer};
use learner::Learner;
use rayon::prelude::*;
use samplers::check_exponent;
use streams::{Purpose, Stream};
use vectors::{Matrix, Similarity};

/// Rows of a block for each node: what is stale stays little beside what is learned.
const ROWS_OF_NODE: usize = 2;
/// Rows of a block at most, whose moves stay in the caches.
const MOST_ROWS: usize = 1 << 14;
/// Pairs of the most frequent node in a block, in the mean, at most: each moves the node's row from where it stood, and with twice as many the sum of the moves
/// goes so far beyond that the loss no longer falls (measured on items that a twelfth and a thirtieth of all pairs have).
const PAIRS_OF_NODE: f64 = 55.0;
/// Blocks that are drawn at once.
const AHEAD: usize = 32;
/// The share of the learning rate below which it does not fall.
const FLOOR: f64 = 1e-4;
/// More negatives are taken for a slip.
const MOST_NEGATIVES: u32 = 1_024;

/// Where pairs come from.
pub(super) trait Source: Send + Sync {
    /// Makes ready for an epoch, counted from 1.
    fn begin(&mut self, epoch: u32);

    /// Pieces of an epoch.
    fn pieces(&self) -> usize;

    /// One piece of an epoch; the same one whenever it is drawn.
    fn piece(&self, epoch: u32, at: usize) -> Piece;

    /// The size of the largest piece.
    fn size(&self) -> PieceSize;
}

/// How large a piece is.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceSize {
    /// Inputs and outputs.
    pub(super) rows: usize,
    /// Pairs of an input and a positive.
    pub(super) pairs: usize,
    /// Of these the ones of the node that is met most, in the mean, where each meeting makes many pairs; 0 where it makes one, as of LINE, which learns an item that everybody has.
    pub(super) of_one_node: f64,
}

impl PieceSize {
    /// Pieces of a block of a graph with so many nodes.
    fn of_block(self, nodes: usize) -> usize {
        let by_rows = (ROWS_OF_NODE * nodes).min(MOST_ROWS) / self.rows;
        by_rows.min((PAIRS_OF_NODE / self.of_one_node) as usize).max(1)
    }
}

/// The rate's way down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decay {
    pub(super) learning_rate: f64,
    /// Epochs after which the floor is reached.
    pub(super) epochs: u32,
}

impl Decay {
    /// The rate when a share of an epoch, counted from 1, is done.
    fn rate(self, epoch: u32, share: f64) -> f32 {
        let done = (f64::from(epoch - 1) + share) / f64::from(self.epochs);
        (self.learning_rate * (1.0 - done).max(FLOOR)) as f32
    }
}

/// What becomes of contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contexts {
    /// No contexts.
    None,
    /// Contexts are learned and left behind.
    Aside,
    /// Items are ranked by theirs.
    OfItems,
}

/// A training under way.
pub(super) struct Embedding<S> {
    source: S,
    decay: Decay,
    contexts: Contexts,
    users: usize,
    nodes: usize,
    /// Inputs of all nodes, then contexts: `[nodes or 2 nodes, dim]`.
    table: Matrix,
    learner: Learner,
}

impl<S: Source> Embedding<S> {
    /// Makes the training as it is before the first epoch.
    pub(super) fn new(dataset: &Dataset, seed: u64, dim: u32, source: S, decay: Decay, contexts: Contexts) -> Self {
        let (users, nodes, dim) = (dataset.users(), dataset.users() + dataset.items(), dim as usize);
        let rows = if contexts == Contexts::None { nodes } else { 2 * nodes };
        let mut table = Matrix { rows, dim, values: vec![0.0; rows * dim] };
        table.values[..nodes * dim].par_chunks_exact_mut(dim).enumerate().for_each(|(node, row)| {
            let mut stream = Stream::new(seed, Purpose::Parameters, 0, 0, node as u32);
            row.fill_with(|| ((stream.fraction() - 0.5) / dim as f64) as f32);
        });
        Self { source, decay, contexts, users, nodes, table, learner: Learner::default() }
    }

    /// So many rows of the table from one on.
    fn rows(&self, first: usize, rows: usize) -> Matrix {
        let dim = self.table.dim;
        Matrix { rows, dim, values: self.table.values[first * dim..][..rows * dim].to_vec() }
    }
}

impl<S: Source> Epochs for Embedding<S> {
    fn epoch(&mut self, epoch: u32) -> Result<f64> {
        let Self { source, decay, table, learner, nodes, .. } = self;
        source.begin(epoch);
        let (pieces, of_block) = (source.pieces(), source.size().of_block(*nodes));
        let blocks = pieces.div_ceil(of_block);
        let draw = |block: usize| {
            let first = block * of_block;
            Block::new((first..pieces.min(first + of_block)).map(|at| source.piece(epoch, at)))
        };
        let (mut loss, mut pairs) = (0.0, 0);
        for first in (0..blocks).step_by(AHEAD) {
            let drawn: Vec<Block> = (first..blocks.min(first + AHEAD)).into_par_iter().map(draw).collect();
            for (at, block) in (first..).zip(&drawn) {
                let of_block = learner.step(table, block, decay.rate(epoch, at as f64 / blocks as f64));
                if !of_block.is_finite() {
                    return Err(Error::NotFinite { epoch, step: at as u32 + 1, tensor: "the loss of the pairs".to_owned() });
                }
                (loss, pairs) = (loss + of_block, pairs + block.pairs());
            }
        }
        match table.values.par_iter().all(|value| value.is_finite()) {
            true => Ok(loss / pairs as f64),
            false => Err(Error::NotFinite { epoch, step: blocks as u32, tensor: "the table of vectors".to_owned() }),
        }
    }

    fn state(&mut self) -> Vec<(String, &mut [f32])> {
        let (inputs, contexts) = self.table.values.split_at_mut(self.nodes * self.table.dim);
        let both = [("inputs".to_owned(), inputs), ("contexts".to_owned(), contexts)];
        both.into_iter().filter(|(_, values)| !values.is_empty()).collect()
    }

    fn scorer(&self) -> Result<Scorer> {
        let first = if self.contexts == Contexts::OfItems { self.nodes } else { 0 };
        let (users, items) = (self.rows(0, self.users), self.rows(first + self.users, self.nodes - self.users));
        Ok(Factors { users, items, similarity: Similarity::Dot }.into())
    }
}

/// Bytes of a training at its peak: the table, the interactions by items, what draws, the moves of a block; and drawn blocks, the
/// model as it is ranked and stored, or the file that a training goes on from, as it is read.
pub(super) fn memory(sizes: Sizes, ranking: u64, dim: u32, contexts: Contexts, piece: PieceSize) -> u64 {
    let nodes = sizes.users + sizes.items;
    let tables = if contexts == Contexts::None { 1 } else { 2 };
    let pieces = piece.of_block(nodes as usize);
    let (row, stored) = (4 * u64::from(dim), Stored::Vectors { dim: dim as usize });
    let kept =
        tables * nodes * row + 4 * sizes.train + 8 * sizes.items + NoiseLaw::bytes(nodes) + 4 * nodes + (pieces * piece.rows) as u64 * row;
    kept + (AHEAD as u64 * Block::bytes(pieces, piece)).max(stored.fitted(sizes, ranking)).max(tables * nodes * row)
}

/// Whether pairs can be learned from in this way.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check(negatives: u32, exponent: f64, learning_rate: f64) -> Result<(), String> {
    if !(1..=MOST_NEGATIVES).contains(&negatives) {
        return Err(format!("negatives is {negatives}, expected 1 to {MOST_NEGATIVES}"));
    }
    check_exponent(exponent)?;
    match learning_rate > 0.0 && learning_rate.is_finite() {
        true => Ok(()),
        false => Err(format!("learning_rate is {learning_rate}, expected a number above 0")),
    }
}
