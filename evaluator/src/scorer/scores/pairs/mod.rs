//! Scores that a small network makes of pairs of vectors, some items at a time, number by number.

mod network;
mod tanh_layer;

use super::{Scores, Scratch, TILE, bound};
use pulp::Arch;
use rayon::prelude::*;
use std::ops::Range;
use vectors::Matrix;

/// Items that go through the layers at once: what they leave of a wide layer stays in the first-level cache.
const COLUMNS: usize = 64;

/// What scores a pair of vectors.
pub(in crate::scorer) trait PairScores: Sync {
    /// Vectors of users.
    fn users(&self) -> &Matrix;

    /// Vectors of items.
    fn items(&self) -> &Matrix;

    /// Numbers of a pair that are kept between layers.
    fn working(&self) -> usize;

    /// No sum on the way to a score is further from zero than this; NaN or infinite where a value is.
    fn largest_sum(&self) -> f64;

    /// Scores of a user's vector with as many items as `scores` has room for, number `k` of whose vectors is `column(k)`. Plain loops, which the machine's
    /// instructions are found for; `working` has [`working`](Self::working) numbers for each of [`COLUMNS`] items.
    fn score<'c>(&self, user: &[f32], column: &impl Fn(usize) -> &'c [f32], scores: &mut [f32], working: &mut [f32]);
}

/// Vectors and what scores their pairs, ready for all users.
pub(in crate::scorer) struct NetworkScores<'a, N> {
    network: &'a N,
    /// The items' vectors, number by number: `[dim, items]`.
    columns: Vec<f32>,
    /// Whether a score can be NaN or infinite.
    to_check: bool,
}

impl<'a, N: PairScores> NetworkScores<'a, N> {
    pub(in crate::scorer) fn new(network: &'a N) -> Self {
        let items = network.items();
        let mut columns = vec![0.0; items.values.len()];
        columns.par_chunks_exact_mut(items.rows.max(1)).enumerate().for_each(|(number, column)| {
            column.iter_mut().enumerate().for_each(|(item, value)| *value = items.values[item * items.dim + number]);
        });
        Self { network, columns, to_check: bound::to_check(network.largest_sum()) }
    }

    /// Floats of the gathered columns of some items, and of what their layers leave.
    fn floats(&self, gathered: usize) -> usize {
        COLUMNS * (gathered + 1 + self.network.working())
    }

    /// Scores at the front of `working`.
    fn run<'c>(&self, user: &[f32], column: impl Fn(usize) -> &'c [f32], working: &mut [f32], count: usize) {
        let (scores, layers) = working.split_at_mut(COLUMNS);
        Arch::new().dispatch(|| self.network.score(user, &column, &mut scores[..count], layers));
    }
}

impl<N: PairScores> Scores for NetworkScores<'_, N> {
    fn items(&self) -> usize {
        self.network.items().rows
    }

    fn working_space(&self) -> (usize, usize) {
        (TILE * size_of::<f32>(), self.floats(self.network.items().dim) * size_of::<f32>())
    }

    fn score_tile(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch) {
        let Scratch { users: loaded, scores, packed, .. } = scratch;
        packed.grow(self.floats(0));
        let rows = self.items();
        for (&user, row) in loaded[..users].iter().zip(scores.chunks_exact_mut(TILE)) {
            let vector = self.network.users().row(user as usize);
            for (first, out) in tile.clone().step_by(COLUMNS).zip(row[..tile.len()].chunks_mut(COLUMNS)) {
                self.run(vector, |number| &self.columns[number * rows + first..][..out.len()], packed, out.len());
                out.copy_from_slice(&packed[..out.len()]);
            }
        }
    }

    fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let dim = self.network.items().dim;
        let Scratch { users, packed, .. } = scratch;
        packed.grow(self.floats(dim));
        let (columns, working) = packed.split_at_mut(dim * COLUMNS);
        for items in items.chunks(COLUMNS) {
            for (at, &item) in items.iter().enumerate() {
                let vector = self.network.items().row(item as usize);
                vector.iter().enumerate().for_each(|(number, &value)| columns[number * COLUMNS + at] = value);
            }
            let user = self.network.users().row(users[position] as usize);
            self.run(user, |number| &columns[number * COLUMNS..][..items.len()], working, items.len());
            out.extend_from_slice(&working[..items.len()]);
        }
    }

    fn to_check(&self) -> bool {
        self.to_check
    }
}

#[inline(always)]
fn add_scaled(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}
