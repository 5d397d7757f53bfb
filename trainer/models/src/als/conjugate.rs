//! Rows solved by some steps of conjugate gradients from where they stand.
//!
//! ```text
//! r = b - A x      p = r      step: a = |r|² / p^T A p,  x += a p,  r -= a A p,  p = r + (|r'|² / |r|²) p
//! ```
//! A p is formed from the positives' vectors, without A. Each step lowers the objective by `a |r|²`. Takács, Pilászy and Tikk, RecSys 2011.

use super::rows::{Row, RowSolver, positions};
use embeddings::{dot, project, weighted_sum};

/// A residual below this share of what it was at most has no digits left.
const RESTING: f32 = 1e-14;

/// What a thread needs to move rows along conjugate directions.
pub(super) struct Conjugate {
    steps: u32,
    residual: Vec<f32>,
    direction: Vec<f32>,
    /// A p
    product: Vec<f32>,
    /// G x, then G p.
    gram: Vec<f32>,
    /// The positives' scores by x.
    scores: Vec<f32>,
    /// 0, 1, 2, and so on.
    positions: Vec<u32>,
}

impl Conjugate {
    /// Bytes for vectors of this length and so many positives of a row.
    pub(super) fn bytes(dim: u64, positives: u64) -> u64 {
        4 * (5 * dim + 2 * positives)
    }

    pub(super) fn new(dim: usize, steps: u32) -> Self {
        let zeros = || vec![0.0; dim];
        let (residual, direction, product, gram) = (zeros(), zeros(), zeros(), zeros());
        Self { steps, residual, direction, product, gram, scores: Vec::new(), positions: positions(dim) }
    }

    /// The residual, and the objective.
    fn start(&mut self, row: &Row, x: &[f32]) -> f64 {
        let Self { residual, gram, scores, positions, .. } = self;
        let [of_gram, ridge, target, offset] = row.terms.floats();
        gram.fill(0.0);
        weighted_sum(row.gram, positions, x, gram);
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
        row.objective(x, scores, gram)
    }

    /// Forms A p.
    fn multiply(&mut self, row: &Row) {
        let Self { direction, product, gram, positions, .. } = self;
        let [of_gram, ridge, ..] = row.terms.floats();
        gram.fill(0.0);
        weighted_sum(row.gram, positions, direction, gram);
        for ((product, gram), direction) in product.iter_mut().zip(gram).zip(&*direction) {
            *product = of_gram * *gram + ridge * *direction;
        }
        project(&row.fixed.values, row.ids, direction, |_, score| score, product);
    }
}

/// Nothing moves along what is held.
fn hold(row: &Row, residual: &mut [f32]) {
    let free = residual.len() - row.held;
    residual[free..].fill(0.0);
}

impl RowSolver for Conjugate {
    fn solve(&mut self, row: &Row, x: &mut [f32]) -> Option<f64> {
        let mut objective = self.start(row, x);
        self.direction.copy_from_slice(&self.residual);
        let mut length = dot(&self.residual, &self.residual);
        let least = RESTING * length;
        for _ in 0..self.steps {
            if length <= least {
                break;
            }
            self.multiply(row);
            let curvature = dot(&self.direction, &self.product);
            let along = length / curvature;
            if !(curvature > 0.0 && along.is_finite()) {
                return None;
            }
            x.iter_mut().zip(&self.direction).for_each(|(x, direction)| *x += along * direction);
            self.residual.iter_mut().zip(&self.product).for_each(|(residual, product)| *residual -= along * product);
            hold(row, &mut self.residual);
            objective -= f64::from(along) * f64::from(length);
            let shorter = dot(&self.residual, &self.residual);
            let kept = shorter / length;
            self.direction.iter_mut().zip(&self.residual).for_each(|(direction, residual)| *direction = residual + kept * *direction);
            length = shorter;
        }
        objective.is_finite().then_some(objective)
    }
}
