//! The rows of one side, each by equations of its own while the other side stays.
//!
//! ```text
//! A x = b      A = sum over positives of q q^T + gram G + ridge I      b = target (sum over positives of q) + offset o
//! ```
//! G is a Gram matrix of the other side's rows and o a vector, both of which all rows share. x is the least of `x^T A x - 2 b^T x`.

use super::{Moments, Pass, solver::Solver};
use embeddings::dot;
use rayon::prelude::*;
use vectors::Matrix;

/// Rows that one parallel task takes.
const ROWS: usize = 32;

/// The numbers of a row's equations.
#[derive(Clone, Copy)]
pub(in super::super) struct Terms {
    pub(in super::super) gram: f64,
    pub(in super::super) ridge: f64,
    pub(in super::super) target: f64,
    pub(in super::super) offset: f64,
}

impl Terms {
    /// Gram, ridge, target and offset as floats, in this order.
    pub(super) fn floats(self) -> [f32; 4] {
        [self.gram, self.ridge, self.target, self.offset].map(|term| term as f32)
    }
}

/// A row's equations.
pub(super) struct Row<'a> {
    pub(super) fixed: &'a Matrix,
    /// The positives, rows of `fixed`.
    pub(super) ids: &'a [u32],
    pub(super) terms: Terms,
    /// G, `[dim, dim]`
    pub(super) gram: &'a [f32],
    /// o, `[dim]`
    pub(super) offset: &'a [f32],
    /// Numbers at the end of x that stay as they are.
    pub(super) held: usize,
}

impl Row<'_> {
    /// `x^T A x - 2 b^T x`, by the positives' scores and G x.
    pub(super) fn objective(&self, x: &[f32], scores: &[f32], gram_x: &[f32]) -> f64 {
        let Terms { gram, ridge, target, offset } = self.terms;
        let of_scores: f64 = scores.iter().map(|&score| f64::from(score) * (f64::from(score) - 2.0 * target)).sum();
        let dot = |other: &[f32]| f64::from(dot(x, other));
        of_scores + gram * dot(gram_x) + ridge * dot(x) - 2.0 * offset * dot(self.offset)
    }
}

/// A row that is solved.
pub(super) struct Solved<'a> {
    pub(super) row: Row<'a>,
    pub(super) x: &'a mut [f32],
    /// The row's objective at `x`, once it was solved.
    pub(super) objective: f64,
}

/// What solves rows, all of which share G and o.
pub(super) trait RowSolver {
    /// Moves each `x` towards the solution, or to it. `false` where a row's equations have no solution that floats can hold.
    fn solve(&mut self, rows: &mut [Solved]) -> bool;
}

/// Solves all rows, whose terms follow from how many positives they have; the sum of their objectives. G and o are the gram and the sum of `shared`. A row
/// whose b is 0 becomes 0. `None` where a row's equations have no solution.
pub(in super::super) fn solve(pass: Pass, solver: Solver, shared: &Moments, terms: impl Fn(usize) -> Terms + Sync) -> Option<f64> {
    solve_all(pass, solver, shared, terms, 0)
}

/// Solves all rows as [`solve`] does, with a last number of each that is 1 and stays so. Rows with a b of 0 are solved too.
pub(in super::super) fn solve_beside_one(
    pass: Pass,
    solver: Solver,
    shared: &Moments,
    terms: impl Fn(usize) -> Terms + Sync,
) -> Option<f64> {
    let dim = pass.moved.dim;
    pass.moved.values.chunks_exact_mut(dim).for_each(|row| row[dim - 1] = 1.0);
    solve_all(pass, solver, shared, terms, 1)
}

fn solve_all(pass: Pass, solver: Solver, shared: &Moments, terms: impl Fn(usize) -> Terms + Sync, held: usize) -> Option<f64> {
    let Pass { moved, fixed, positives, .. } = pass;
    let dim = moved.dim;
    let floats = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
    let (gram, offset) = (floats(&shared.gram), floats(&shared.sum));
    let solve_rows = |solver: &mut Box<dyn RowSolver>, (task, rows): (usize, &mut [f32])| {
        let mut solved = Vec::with_capacity(ROWS);
        for (at, x) in rows.chunks_exact_mut(dim).enumerate() {
            let ids = positives.row(task * ROWS + at);
            let terms = terms(ids.len());
            if ids.is_empty() && terms.offset == 0.0 && held == 0 {
                x.fill(0.0);
            } else {
                solved.push(Solved { row: Row { fixed, ids, terms, gram: &gram, offset: &offset, held }, x, objective: 0.0 });
            }
        }
        solver.solve(&mut solved).then(|| solved.iter().map(|solved| solved.objective).sum::<f64>())
    };
    let tasks = moved.values.par_chunks_mut(ROWS * dim).enumerate();
    let sums: Option<Vec<f64>> = tasks.map_init(|| solver.for_thread(dim), solve_rows).collect();
    Some(sums?.iter().sum())
}

/// 0, 1, 2, and so on.
pub(super) fn positions(count: usize) -> Vec<u32> {
    (0..count as u32).collect()
}
