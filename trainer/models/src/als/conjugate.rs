//! Rows solved by some steps of conjugate gradients from where they stand.
//!
//! ```text
//! r = b - A x      p = r      step: a = |r|² / p^T A p,  x += a p,  r -= a A p,  p = r + (|r'|² / |r|²) p
//! ```
//! A p is formed from the positives' vectors, without A. Each step lowers the objective by `a |r|²`. Some rows step together, as G is then read once for
//! them all. Takács, Pilászy and Tikk, RecSys 2011.

use super::{
    gram::multiply,
    rows::{Row, RowSolver, Solved},
};
use embeddings::{dot, project};

/// A residual below this share of what it was at most has no digits left.
const RESTING: f32 = 1e-14;
/// Rows that step together: their positives' vectors stay in the cache from step to step.
const TOGETHER: usize = 8;

/// What a thread needs to move rows along conjugate directions.
pub(super) struct Conjugate {
    dim: usize,
    steps: u32,
    /// Of the rows that step together, `[TOGETHER, dim]`.
    residuals: Vec<f32>,
    directions: Vec<f32>,
    /// G x; then G p, then A p.
    products: Vec<f32>,
    /// Squared norms of the residuals, and below which there is no step.
    lengths: Vec<Length>,
    /// The positives' scores by x.
    scores: Vec<f32>,
}

/// The squared norm of a residual.
struct Length {
    now: f32,
    least: f32,
}

impl Conjugate {
    /// Bytes for vectors of this length and so many positives of a row.
    pub(super) fn bytes(dim: u64, positives: u64) -> u64 {
        let together = TOGETHER as u64;
        4 * (3 * together * dim + 2 * positives) + together * size_of::<Length>() as u64
    }

    pub(super) fn new(dim: usize, steps: u32) -> Self {
        let zeros = || vec![0.0; TOGETHER * dim];
        let lengths = Vec::with_capacity(TOGETHER);
        Self { dim, steps, residuals: zeros(), directions: zeros(), products: zeros(), lengths, scores: Vec::new() }
    }

    /// The residuals, the objectives and the first directions.
    fn start(&mut self, rows: &mut [Solved]) {
        let Self { dim, residuals, directions, products, lengths, scores, .. } = self;
        let (dim, count) = (*dim, rows.len() * *dim);
        for (solved, x) in rows.iter().zip(directions.chunks_exact_mut(dim)) {
            x.copy_from_slice(solved.x);
        }
        multiply(rows[0].row.gram, dim, &directions[..count], &mut products[..count]);
        lengths.clear();
        let of_rows = residuals.chunks_exact_mut(dim).zip(products.chunks_exact(dim));
        for (Solved { row, x, objective }, (residual, gram)) in rows.iter_mut().zip(of_rows) {
            let [of_gram, ridge, target, offset] = row.terms.floats();
            for (at, residual) in residual.iter_mut().enumerate() {
                *residual = offset * row.offset[at] - of_gram * gram[at] - ridge * x[at];
            }
            scores.resize(row.ids.len(), 0.0);
            let short_of_target = |at: usize, score: f32| {
                scores[at] = score;
                target - score
            };
            project(&row.fixed.values, row.ids, x, short_of_target, residual);
            hold(row, residual);
            *objective = row.objective(x, scores, gram);
            let length = dot(residual, residual);
            lengths.push(Length { now: length, least: RESTING * length });
        }
        directions.copy_from_slice(residuals);
    }

    /// Moves each row that does not rest yet along its direction; `false` where that is not possible.
    fn step(&mut self, rows: &mut [Solved]) -> bool {
        let Self { dim, residuals, directions, products, lengths, .. } = self;
        let (dim, count) = (*dim, rows.len() * *dim);
        multiply(rows[0].row.gram, dim, &directions[..count], &mut products[..count]);
        let of_rows = residuals.chunks_exact_mut(dim).zip(directions.chunks_exact_mut(dim)).zip(products.chunks_exact_mut(dim));
        for ((Solved { row, x, objective }, length), ((residual, direction), product)) in rows.iter_mut().zip(lengths).zip(of_rows) {
            if length.now <= length.least {
                continue;
            }
            let [of_gram, ridge, ..] = row.terms.floats();
            product.iter_mut().zip(&*direction).for_each(|(product, direction)| *product = of_gram * *product + ridge * *direction);
            project(&row.fixed.values, row.ids, direction, |_, score| score, product);
            let curvature = dot(direction, product);
            let along = length.now / curvature;
            if !(curvature > 0.0 && along.is_finite()) {
                return false;
            }
            x.iter_mut().zip(&*direction).for_each(|(x, direction)| *x += along * direction);
            residual.iter_mut().zip(&*product).for_each(|(residual, product)| *residual -= along * product);
            hold(row, residual);
            *objective -= f64::from(along) * f64::from(length.now);
            let shorter = dot(residual, residual);
            let kept = shorter / length.now;
            direction.iter_mut().zip(&*residual).for_each(|(direction, residual)| *direction = residual + kept * *direction);
            length.now = shorter;
        }
        true
    }
}

/// Nothing moves along what is held.
fn hold(row: &Row, residual: &mut [f32]) {
    let free = residual.len() - row.held;
    residual[free..].fill(0.0);
}

impl RowSolver for Conjugate {
    fn solve(&mut self, rows: &mut [Solved]) -> bool {
        rows.chunks_mut(TOGETHER).all(|rows| {
            self.start(rows);
            (0..self.steps).all(|_| self.step(rows)) && rows.iter().all(|solved| solved.objective.is_finite())
        })
    }
}
