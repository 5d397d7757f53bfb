//! Rows solved exactly, all numbers at once or some after the others.
//!
//! ```text
//! x_B <- x_B + (A_BB)^-1 (b - A x)_B        for each block B of a row's numbers
//! ```
//! One block of all numbers is Cholesky's solution; smaller ones are iALS++ (Rendle et al., arXiv:2110.14044), which needs fewer multiplications for long
//! vectors. A's outer products are summed from gathered vectors, [`GATHERED`] at a time.

use super::{
    cholesky::{add_outer, padded, solve},
    rows::{Row, RowSolver, Solved, positions},
};
use embeddings::{dots, weighted_sum};
use std::ops::Range;

/// Vectors of positives that are gathered together.
const GATHERED: usize = 64;

/// What a thread needs to solve rows block by block.
pub(super) struct Blocks {
    block: usize,
    /// Width of a block's matrix and of a gathered vector.
    width: usize,
    /// `[GATHERED, width]`
    gathered: Vec<f32>,
    /// `[width, width]`
    matrix: Vec<f32>,
    reciprocals: Vec<f32>,
    /// (b - A x)_B
    right: Vec<f32>,
    /// By how much the block moves.
    step: Vec<f32>,
    /// By how much scores of gathered vectors move.
    moves: Vec<f32>,
    /// The positives' scores.
    scores: Vec<f32>,
    /// G x
    gram_x: Vec<f32>,
    /// 0, 1, 2, and so on.
    positions: Vec<u32>,
}

impl Blocks {
    /// Bytes for vectors of this length and so many positives of a row.
    pub(super) fn bytes(dim: u64, block: u64, positives: u64) -> u64 {
        let width = padded(block.min(dim) as usize) as u64;
        4 * ((GATHERED as u64 + width + 3) * width + 2 * dim.max(GATHERED as u64) + 2 * positives)
    }

    pub(super) fn new(dim: usize, block: usize) -> Self {
        let block = block.min(dim);
        let width = padded(block);
        let zeros = |count: usize| vec![0.0; count];
        Self {
            block,
            width,
            gathered: zeros(GATHERED * width),
            matrix: zeros(width * width),
            reciprocals: zeros(width),
            right: zeros(width),
            step: zeros(width),
            moves: zeros(GATHERED),
            scores: Vec::new(),
            gram_x: zeros(dim),
            positions: positions(dim.max(GATHERED)),
        }
    }

    /// Gathers the block's numbers of some positives' vectors; how many.
    fn gather(&mut self, row: &Row, block: &Range<usize>, ids: &[u32]) -> usize {
        for (target, &id) in self.gathered.chunks_exact_mut(self.width).zip(ids) {
            target[..block.len()].copy_from_slice(&row.fixed.row(id as usize)[block.clone()]);
            target[block.len()..].fill(0.0);
        }
        ids.len()
    }

    /// The block's matrix and right side, but for the positives.
    fn start(&mut self, row: &Row, block: &Range<usize>, x: &[f32]) {
        let (dim, [gram, ridge, _, offset]) = (x.len(), row.terms.floats());
        self.matrix.fill(0.0);
        for (at, target) in self.matrix.chunks_exact_mut(self.width).enumerate() {
            if at < block.len() {
                let shared = &row.gram[(block.start + at) * dim..][block.clone()];
                target.iter_mut().zip(shared).for_each(|(target, shared)| *target = gram * shared);
                target[at] += ridge;
            } else {
                target[at] = 1.0;
            }
        }
        self.right.fill(0.0);
        for (at, right) in block.clone().zip(&mut self.right) {
            *right = offset * row.offset[at] - gram * self.gram_x[at] - ridge * x[at];
        }
    }

    /// Adds the positives to the block's matrix and right side.
    fn add_positives(&mut self, row: &Row, block: &Range<usize>) {
        let [_, _, target, _] = row.terms.floats();
        for first in (0..row.ids.len()).step_by(GATHERED) {
            let ids = &row.ids[first..row.ids.len().min(first + GATHERED)];
            let count = self.gather(row, block, ids);
            add_outer(&mut self.matrix, &self.gathered[..count * self.width], self.width);
            for (weight, score) in self.moves.iter_mut().zip(&self.scores[first..first + count]) {
                *weight = target - score;
            }
            weighted_sum(&self.gathered, &self.positions[..count], &self.moves[..count], &mut self.right);
        }
    }

    /// Moves the block, and with it scores and G x.
    fn move_by_step(&mut self, row: &Row, block: &Range<usize>, x: &mut [f32]) {
        x[block.clone()].iter_mut().zip(&self.step).for_each(|(x, step)| *x += step);
        weighted_sum(row.gram, &self.positions[block.clone()], &self.step[..block.len()], &mut self.gram_x);
        for first in (0..row.ids.len()).step_by(GATHERED) {
            let ids = &row.ids[first..row.ids.len().min(first + GATHERED)];
            if row.ids.len() > GATHERED {
                self.gather(row, block, ids);
            }
            let moves = &mut self.moves[..ids.len()];
            dots(&self.step, &self.gathered, &self.positions[..ids.len()], moves);
            self.scores[first..].iter_mut().zip(moves).for_each(|(score, moved)| *score += *moved);
        }
    }
}

impl Blocks {
    /// Solves a row; its objective. `None` where there is no solution.
    fn solve_row(&mut self, row: &Row, x: &mut [f32]) -> Option<f64> {
        self.scores.resize(row.ids.len(), 0.0);
        dots(x, &row.fixed.values, row.ids, &mut self.scores);
        self.gram_x.fill(0.0);
        weighted_sum(row.gram, &self.positions[..x.len()], x, &mut self.gram_x);
        let free = x.len() - row.held;
        for start in (0..free).step_by(self.block) {
            let block = start..free.min(start + self.block);
            self.start(row, &block, x);
            self.add_positives(row, &block);
            if !solve(&mut self.matrix, &mut self.reciprocals, &mut self.right, &mut self.step) {
                return None;
            }
            self.move_by_step(row, &block, x);
        }
        Some(row.objective(x, &self.scores, &self.gram_x))
    }
}

impl RowSolver for Blocks {
    fn solve(&mut self, rows: &mut [Solved]) -> bool {
        rows.iter_mut().all(|Solved { row, x, objective }| self.solve_row(row, x).map(|found| *objective = found).is_some())
    }
}
