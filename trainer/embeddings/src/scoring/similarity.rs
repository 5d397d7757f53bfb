//! Every similarity as a dot product of prepared vectors, and its gradient from the gradient of that product.
//!
//! ```text
//! dot      s = p . q                        ds/dp = q
//! cosine   s = p^ . q^,  p^ = p / |p|       ds/dp = (q^ - s p^) / |p|
//! distance s = 2 p . q - |p|^2 - |q|^2      ds/dp = 2 (q - p)
//! ```

use super::kernels::dot;
use rayon::prelude::*;
use vectors::{Matrix, Similarity};

/// Norms below this count as this, so that a zero vector has scores of zero.
const LEAST_NORM: f32 = 1e-12;

/// Rows of one parallel task.
const BLOCK: usize = 256;

/// Vectors prepared for dot products.
#[derive(Default)]
pub struct Prepared {
    /// `[rows, dim]`: unit rows for cosine, else as they are; empty when the original serves.
    values: Vec<f32>,
    /// `[rows]`: the norm for cosine, the squared norm for the distance, else empty.
    norms: Vec<f32>,
}

impl Prepared {
    /// Prepares all rows of a table.
    pub fn all_rows(&mut self, table: &Matrix, similarity: Similarity) {
        let dim = table.dim;
        self.norms.resize(if similarity == Similarity::Dot { 0 } else { table.rows }, 0.0);
        self.values.resize(if similarity == Similarity::Cosine { table.values.len() } else { 0 }, 0.0);
        match similarity {
            Similarity::Dot => {}
            Similarity::Cosine => {
                let rows =
                    self.values.par_chunks_mut(BLOCK * dim).zip(self.norms.par_chunks_mut(BLOCK)).zip(table.values.par_chunks(BLOCK * dim));
                rows.for_each(|((unit, norms), values)| {
                    for ((unit, norm), row) in unit.chunks_exact_mut(dim).zip(norms).zip(values.chunks_exact(dim)) {
                        *norm = unit_row(row, unit);
                    }
                });
            }
            Similarity::NegativeSquaredDistance => {
                let rows = self.norms.par_chunks_mut(BLOCK).zip(table.values.par_chunks(BLOCK * dim));
                rows.for_each(|(norms, values)| {
                    for (norm, row) in norms.iter_mut().zip(values.chunks_exact(dim)) {
                        *norm = dot(row, row);
                    }
                });
            }
        }
    }

    /// Prepares chosen rows, in their order: `[ids.len(), dim]`.
    pub fn chosen_rows(&mut self, table: &Matrix, ids: &[u32], similarity: Similarity) {
        let dim = table.dim;
        self.values.resize(ids.len() * dim, 0.0);
        self.norms.resize(if similarity == Similarity::Dot { 0 } else { ids.len() }, 0.0);
        for (at, (target, &id)) in self.values.chunks_exact_mut(dim).zip(ids).enumerate() {
            let row = table.row(id as usize);
            match similarity {
                Similarity::Dot => target.copy_from_slice(row),
                Similarity::Cosine => self.norms[at] = unit_row(row, target),
                Similarity::NegativeSquaredDistance => {
                    target.copy_from_slice(row);
                    self.norms[at] = dot(row, row);
                }
            }
        }
    }

    /// The vectors to multiply; `table` is the one that was prepared.
    pub fn vectors<'a>(&'a self, table: &'a [f32]) -> &'a [f32] {
        if self.values.is_empty() { table } else { &self.values }
    }

    /// A prepared row; `original` is the row that was prepared.
    pub fn row<'a>(&'a self, row: usize, original: &'a [f32]) -> &'a [f32] {
        if self.values.is_empty() { original } else { &self.values[row * original.len()..][..original.len()] }
    }

    /// The norm of a row, or its square for the distance.
    fn norm(&self, row: usize) -> f32 {
        self.norms.get(row).copied().unwrap_or(1.0)
    }
}

/// The row over its norm, which is given back.
pub(super) fn unit_row(row: &[f32], unit: &mut [f32]) -> f32 {
    let norm = dot(row, row).sqrt().max(LEAST_NORM);
    let scale = 1.0 / norm;
    for (unit, value) in unit.iter_mut().zip(row) {
        *unit = value * scale;
    }
    norm
}

/// Products of one query with some items, to scores, in place.
pub(super) fn finish_scores(
    similarity: Similarity,
    queries: &Prepared,
    query: usize,
    items: &Prepared,
    ids: impl Iterator<Item = usize>,
    scores: &mut [f32],
) {
    if similarity == Similarity::NegativeSquaredDistance {
        let own = queries.norm(query);
        for (score, id) in scores.iter_mut().zip(ids) {
            *score = 2.0 * *score - own - items.norm(id);
        }
    }
}

/// The gradient of an original row, in place, from `sum_j w_j v_j` over the prepared partners `v_j` and the weights' sum.
/// `prepared` is the row's own prepared vector.
pub(super) fn finish_gradient(similarity: Similarity, prepared: &[f32], norms: &Prepared, row: usize, weights: f32, gradient: &mut [f32]) {
    match similarity {
        Similarity::Dot => {}
        Similarity::Cosine => {
            let (along, scale) = (dot(gradient, prepared), 1.0 / norms.norm(row));
            for (gradient, unit) in gradient.iter_mut().zip(prepared) {
                *gradient = (*gradient - along * unit) * scale;
            }
        }
        Similarity::NegativeSquaredDistance => {
            for (gradient, value) in gradient.iter_mut().zip(prepared) {
                *gradient = 2.0 * (*gradient - weights * value);
            }
        }
    }
}
