//! Scores as sums of the weight rows of a user's train items.

use super::{Scores, Scratch, TILE, bound};
use crate::Matrix;
use dataset::Interactions;
use std::ops::Range;

/// Item-to-item weights and the histories that they are summed over.
pub(in crate::scorer) struct DenseRows<'a> {
    /// `[items, items]`
    weights: &'a Matrix,
    /// The users' train items.
    history: &'a Interactions,
    /// Whether a score can be NaN or infinite.
    to_check: bool,
}

impl<'a> DenseRows<'a> {
    pub(in crate::scorer) fn new(weights: &'a Matrix, history: &'a Interactions) -> Self {
        let longest = (0..history.users()).map(|user| history.row(user).len()).max().unwrap_or(0);
        Self { weights, history, to_check: bound::to_check(longest as f64 * bound::largest(&weights.values)) }
    }
}

impl Scores for DenseRows<'_> {
    fn items(&self) -> usize {
        self.weights.rows
    }

    fn working_space(&self) -> (usize, usize) {
        (TILE * size_of::<f32>(), 0)
    }

    fn score_tile(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch) {
        for (&user, row) in scratch.users[..users].iter().zip(scratch.scores.chunks_exact_mut(TILE)) {
            let row = &mut row[..tile.len()];
            row.fill(0.0);
            for &item in self.history.row(user as usize) {
                add(row, &self.weights.row(item as usize)[tile.clone()]);
            }
        }
    }

    fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let history = self.history.row(scratch.users[position] as usize);
        out.extend(items.iter().map(|&item| {
            let weights = history.iter().map(|&known| self.weights.row(known as usize)[item as usize]);
            weights.fold(0.0, |sum, weight| sum + weight)
        }));
    }

    fn to_check(&self) -> bool {
        self.to_check
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add(row: &mut [f32], weights: &[f32]) {
    for (score, weight) in row.iter_mut().zip(weights) {
        *score += weight;
    }
}
