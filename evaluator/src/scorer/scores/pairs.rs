//! Scores that a small network makes of pairs of vectors, some items at a time, number by number.

use super::{Scores, Scratch, TILE, bound};
use crate::scorer::{Layer, Network};
use pulp::Arch;
use rayon::prelude::*;
use std::ops::Range;

/// Items that go through the layers at once: what they leave of a wide layer stays in the first-level cache.
const COLUMNS: usize = 64;

/// Vectors and the network, ready for all users.
pub(in crate::scorer) struct Pairs<'a> {
    network: &'a Network,
    /// The items' vectors, number by number: `[dim, items]`.
    columns: Vec<f32>,
    /// Whether a score can be NaN or infinite.
    to_check: bool,
}

impl<'a> Pairs<'a> {
    pub(in crate::scorer) fn new(network: &'a Network) -> Self {
        let items = &network.items;
        let mut columns = vec![0.0; items.values.len()];
        columns.par_chunks_exact_mut(items.rows.max(1)).enumerate().for_each(|(number, column)| {
            column.iter_mut().enumerate().for_each(|(item, value)| *value = items.values[item * items.dim + number]);
        });
        Self { network, columns, to_check: bound::to_check(largest_sum(network)) }
    }
}

impl Scores for Pairs<'_> {
    fn items(&self) -> usize {
        self.network.items.rows
    }

    fn working_space(&self) -> (usize, usize) {
        (TILE * size_of::<f32>(), working_floats(self.network.items.dim, self.network.widest()) * size_of::<f32>())
    }

    fn score_tile(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch) {
        let Scratch { users: loaded, scores, packed, .. } = scratch;
        packed.grow(working_floats(0, self.network.widest()));
        for (&user, row) in loaded[..users].iter().zip(scores.chunks_exact_mut(TILE)) {
            let vector = self.network.users.row(user as usize);
            for (first, out) in tile.clone().step_by(COLUMNS).zip(row[..tile.len()].chunks_mut(COLUMNS)) {
                let column = |number: usize| &self.columns[number * self.network.items.rows + first..][..out.len()];
                run(self.network, vector, column, packed, out.len());
                out.copy_from_slice(&packed[..out.len()]);
            }
        }
    }

    fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let dim = self.network.items.dim;
        let Scratch { users, packed, .. } = scratch;
        packed.grow(working_floats(dim, self.network.widest()));
        let (columns, working) = packed.split_at_mut(dim * COLUMNS);
        for items in items.chunks(COLUMNS) {
            for (at, &item) in items.iter().enumerate() {
                let vector = self.network.items.row(item as usize);
                vector.iter().enumerate().for_each(|(number, &value)| columns[number * COLUMNS + at] = value);
            }
            let column = |number: usize| &columns[number * COLUMNS..][..items.len()];
            run(self.network, self.network.users.row(users[position] as usize), column, working, items.len());
            out.extend_from_slice(&working[..items.len()]);
        }
    }

    fn to_check(&self) -> bool {
        self.to_check
    }
}

/// Floats of the gathered columns of some items, and of two layers of them.
pub(super) fn working_floats(dim: usize, widest: usize) -> usize {
    COLUMNS * (dim + 1 + 2 * widest)
}

/// Scores of a user's vector with `count` items, number `k` of whose vectors is `column(k)`, at the front of `working`.
fn run<'c>(network: &Network, vector: &[f32], column: impl Fn(usize) -> &'c [f32], working: &mut [f32], count: usize) {
    Arch::new().dispatch(|| forward(network, vector, &column, working, count));
}

/// Scores of a user's vector with `count` items, as plain loops, which the machine's instructions are found for.
#[inline(always)]
fn forward<'c>(network: &Network, vector: &[f32], column: &impl Fn(usize) -> &'c [f32], working: &mut [f32], count: usize) {
    let (scores, layers) = working.split_at_mut(COLUMNS);
    let (mut hidden, mut next) = layers.split_at_mut(layers.len() / 2);
    let scores = &mut scores[..count];
    scores.fill(0.0);
    for (number, &factor) in vector[..network.product].iter().enumerate() {
        add_scaled(scores, factor, column(number));
    }
    for (at, &own) in vector[network.product..].iter().enumerate() {
        let out = &mut hidden[at * COLUMNS..][..count];
        out.iter_mut().zip(column(network.product + at)).for_each(|(out, value)| *out = (own + value).max(0.0));
    }
    for (at, Layer { weights, bias }) in network.layers.iter().enumerate() {
        let is_last = at + 1 == network.layers.len();
        for (row, &bias) in bias.values.iter().enumerate() {
            let out = if is_last { &mut *scores } else { &mut next[row * COLUMNS..][..count] };
            out.iter_mut().for_each(|out| *out = if is_last { *out + bias } else { bias });
            for (number, &weight) in weights.row(row).iter().enumerate() {
                add_scaled(out, weight, &hidden[number * COLUMNS..][..count]);
            }
            if !is_last {
                out.iter_mut().for_each(|out| *out = out.max(0.0));
            }
        }
        std::mem::swap(&mut hidden, &mut next);
    }
}

#[inline(always)]
fn add_scaled(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// No sum on the way to a score is further from zero; NaN or infinite where a value is.
fn largest_sum(network: &Network) -> f64 {
    let [user, item] = [&network.users, &network.items].map(|side| bound::largest(&side.values));
    let through = |hidden: f64, Layer { weights, bias }: &Layer| {
        weights.dim as f64 * hidden * bound::largest(&weights.values) + bound::largest(&bias.values)
    };
    network.product as f64 * user * item + network.layers.iter().fold(user + item, through)
}
