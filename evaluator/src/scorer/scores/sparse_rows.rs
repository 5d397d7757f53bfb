//! Scores as sums of sparse rows: those of a user are added up for all items at once, and kept for the items that a row names.

use super::{FEWEST_USERS, Scores, Scratch, TILE, bound};
use crate::SparseMatrix;
use dataset::Interactions;
use std::ops::Range;

/// SparseRows weights and the histories that they meet.
pub(in crate::scorer) struct SparseRows<'a> {
    weights: &'a SparseMatrix,
    /// The users' train items.
    history: &'a Interactions,
    items: usize,
    sums: Sums,
    /// Items that rows name for a user at most.
    most: usize,
    /// Whether a score can be NaN or infinite.
    to_check: bool,
}

/// What a user's scores are sums of.
#[derive(Clone, Copy)]
enum Sums {
    /// The weight rows of the user's train items.
    OfItems,
    /// The train rows of the users in the user's weight row, times the weight.
    OfNeighbours,
}

/// The scores of the loaded users that can be other than zero.
#[derive(Default)]
pub(super) struct Gathered {
    /// Sums of the user that is being loaded: zeros between two users. `[items]`
    sums: Vec<f32>,
    /// A bit for each item that a row named.
    named: Vec<u64>,
    /// Named items of all loaded users, ascending for each.
    items: Vec<u32>,
    /// Their scores.
    scores: Vec<f32>,
    /// Where those of each loaded user stand.
    ranges: Vec<Range<usize>>,
}

impl<'a> SparseRows<'a> {
    /// Item-to-item weights.
    pub(in crate::scorer) fn of_items(weights: &'a SparseMatrix, history: &'a Interactions) -> Self {
        Self::new(weights, history, weights.rows(), Sums::OfItems)
    }

    /// User-to-user weights.
    pub(in crate::scorer) fn of_neighbours(weights: &'a SparseMatrix, history: &'a Interactions, items: usize) -> Self {
        Self::new(weights, history, items, Sums::OfNeighbours)
    }

    fn new(weights: &'a SparseMatrix, history: &'a Interactions, items: usize, sums: Sums) -> Self {
        let mut sparse = Self { weights, history, items, sums, most: 0, to_check: false };
        let (mut rows, mut named) = (0, 0);
        for user in 0..history.users() {
            let (mut of_user, mut sum) = (0, 0);
            sparse.rows_of(user as u32, |length| (of_user, sum) = (of_user + 1, sum + length));
            (rows, named) = (rows.max(of_user), named.max(sum));
        }
        sparse.most = named.min(items);
        sparse.to_check = bound::to_check(rows as f64 * bound::largest(weights.values()));
        sparse
    }

    /// The lengths of the rows that a user's scores are sums of.
    fn rows_of(&self, user: u32, mut of_length: impl FnMut(usize)) {
        match self.sums {
            Sums::OfItems => self.history.row(user as usize).iter().for_each(|&item| of_length(self.weights.row(item as usize).len())),
            Sums::OfNeighbours => {
                self.weights.row(user as usize).for_each(|(other, _)| of_length(self.history.row(other as usize).len()));
            }
        }
    }
}

impl Scores for SparseRows<'_> {
    fn items(&self) -> usize {
        self.items
    }

    fn working_space(&self) -> (usize, usize) {
        (space_of_user(self.most), space_of_block(self.items))
    }

    fn load(&self, users: &[u32], scratch: &mut Scratch) {
        let gathered = &mut scratch.gathered;
        gathered.clear(self.items);
        for &user in users {
            match self.sums {
                Sums::OfItems => {
                    for &item in self.history.row(user as usize) {
                        self.weights.row(item as usize).for_each(|(other, weight)| gathered.add(other, weight));
                    }
                }
                Sums::OfNeighbours => {
                    for (other, weight) in self.weights.row(user as usize) {
                        self.history.row(other as usize).iter().for_each(|&item| gathered.add(item, weight));
                    }
                }
            }
            gathered.take();
        }
    }

    fn keep(&self, from: usize, to: usize, scratch: &mut Scratch) {
        scratch.gathered.ranges[to] = scratch.gathered.ranges[from].clone();
    }

    fn score_tile(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch) {
        let Scratch { gathered, scores, .. } = scratch;
        for (position, row) in scores.chunks_exact_mut(TILE).take(users).enumerate() {
            let (items, values) = gathered.of_user(position);
            row[..tile.len()].fill(0.0);
            let first = items.partition_point(|&item| (item as usize) < tile.start);
            let within = items[first..].iter().zip(&values[first..]).take_while(|(item, _)| (**item as usize) < tile.end);
            within.for_each(|(&item, &value)| row[item as usize - tile.start] = value);
        }
    }

    fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let (named, values) = scratch.gathered.of_user(position);
        out.extend(items.iter().map(|item| named.binary_search(item).map_or(0.0, |at| values[at])));
    }

    fn to_check(&self) -> bool {
        self.to_check
    }

    /// No tile is brought into the cache for sparse rows, and the sums of few users stay there.
    fn most_users(&self) -> usize {
        FEWEST_USERS
    }
}

impl Gathered {
    /// Forgets all users.
    fn clear(&mut self, items: usize) {
        self.sums.resize(items, 0.0);
        self.named.resize(items.div_ceil(64), 0);
        self.items.clear();
        self.scores.clear();
        self.ranges.clear();
    }

    #[inline]
    fn add(&mut self, item: u32, weight: f32) {
        self.sums[item as usize] += weight;
        self.named[item as usize / 64] |= 1 << (item % 64);
    }

    /// Makes the sums those of the next user.
    fn take(&mut self) {
        let start = self.items.len();
        for (word, bits) in self.named.iter_mut().enumerate().filter(|(_, bits)| **bits != 0) {
            while *bits != 0 {
                let item = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                self.items.push(item as u32);
                self.scores.push(std::mem::take(&mut self.sums[item]));
            }
        }
        self.ranges.push(start..self.items.len());
    }

    /// The named items of a loaded user and their scores.
    fn of_user(&self, position: usize) -> (&[u32], &[f32]) {
        let range = self.ranges[position].clone();
        (&self.items[range.clone()], &self.scores[range])
    }
}

/// Bytes for a user of a block, of whom rows name so many items: its scores of a tile, and of the named items, in lists that grow by doubling.
pub(crate) fn space_of_user(named: usize) -> usize {
    TILE * size_of::<f32>() + 2 * named * (size_of::<u32>() + size_of::<f32>())
}

/// Bytes for a block, of a catalogue of so many items: the sums and the bits of the user that is being loaded.
pub(crate) fn space_of_block(items: usize) -> usize {
    items * size_of::<f32>() + items.div_ceil(64) * size_of::<u64>()
}
