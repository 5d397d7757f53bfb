//! Scores as sums of the weight rows of a user's train items.

use super::scores::{Scratch, TILE};
use crate::Matrix;
use dataset::Interactions;
use std::ops::Range;

/// Item-to-item weights and the histories that they are summed over.
pub(super) struct ItemWeights<'a> {
    /// `[items, items]`
    pub(super) weights: &'a Matrix,
    /// The users' train items.
    pub(super) history: &'a Interactions,
}

impl ItemWeights<'_> {
    /// Bytes of working space for each user of a block.
    pub(super) fn working_space(&self) -> (usize, usize) {
        (TILE * size_of::<f32>(), 0)
    }

    pub(super) fn load(&self, users: &[u32], scratch: &mut Scratch) {
        scratch.users.clear();
        scratch.users.extend_from_slice(users);
        scratch.scores.resize(users.len() * TILE, 0.0);
    }

    /// Scores of the loaded users for a range of items within one tile.
    pub(super) fn score(&self, range: Range<usize>, scratch: &mut Scratch) {
        for (&user, row) in scratch.users.iter().zip(scratch.scores.chunks_exact_mut(TILE)) {
            let row = &mut row[..range.len()];
            row.fill(0.0);
            for &item in self.history.row(user as usize) {
                add(row, &self.weights.row(item as usize)[range.clone()]);
            }
        }
    }

    /// Scores of the loaded user at `position` for some items, in the bits of [`score`](Self::score).
    pub(super) fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let history = self.history.row(scratch.users[position] as usize);
        out.extend(items.iter().map(|&item| {
            let weights = history.iter().map(|&known| self.weights.row(known as usize)[item as usize]);
            weights.fold(0.0, |sum, weight| sum + weight)
        }));
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add(row: &mut [f32], weights: &[f32]) {
    for (score, weight) in row.iter_mut().zip(weights) {
        *score += weight;
    }
}
