//! Each query with all items: the full form of a loss.
//!
//! Scores of some queries with the whole catalogue are one matrix product; the user's train items are masked, or the row's positives alone.
//! Rows of a block are as many as fit the block's budget, so that `[B, items]` never exists at once.

use super::{
    sampled::{Batch, Vectors},
    similarity::{Prepared, finish_gradient, finish_scores},
};
use crate::{
    RowGradients,
    product::{View, multiply},
};
use dataset::Interactions;
use rayon::prelude::*;
use std::ops::Range;
use vectors::Similarity;

/// Scores of a block, about.
const BLOCK: usize = 1 << 22;

/// Rows, and items, of one parallel product.
const ROWS: usize = 32;
const ITEMS: usize = 512;

/// What a masked item has for a score: it weighs nothing, and arithmetic on it stays finite.
pub const MASKED: f32 = -1e30;

/// Which items of a row are no negatives.
#[derive(Clone, Copy)]
pub enum Masks<'a> {
    /// The user's train items.
    Train(&'a Interactions),
    /// The row's own positives.
    Positives,
}

impl<'a> Masks<'a> {
    /// The masked items of a row.
    pub fn of(self, batch: Batch<'a>, row: usize) -> &'a [u32] {
        match self {
            Self::Train(train) => train.row(batch.users[row] as usize),
            Self::Positives => &batch.positives[row * batch.list()..][..batch.list()],
        }
    }
}

/// Buffers of full scoring, reused from step to step.
#[derive(Default)]
pub struct Catalogue {
    queries: Prepared,
    items: Prepared,
    /// `[R, items]`: scores of a block of rows; after weighing, the derivatives of the loss by them.
    scores: Vec<f32>,
    positives: Vec<f32>,
    query_gradients: Vec<f32>,
    item_weights: Vec<f32>,
}

impl Catalogue {
    /// How many scores it holds at once of so many rows by all items.
    pub fn held(rows: u64, items: u64) -> u64 {
        (rows * items).min((BLOCK as u64).max(items))
    }

    /// One step: `derive(first row, positives [R, P], negatives [R, items])` turns scores into the derivatives of the rows' losses and
    /// returns the sum of those losses. Masked items come as [`MASKED`]; what is put in their places is dropped.
    ///
    /// # Errors
    /// Those of `derive`.
    pub fn step<E>(
        &mut self,
        vectors: Vectors,
        batch: Batch,
        masks: Masks,
        mut derive: impl FnMut(usize, &mut [f32], &mut [f32]) -> Result<f64, E>,
        users: &mut RowGradients,
        items: &mut RowGradients,
    ) -> Result<f64, E> {
        self.queries.chosen_rows(vectors.users, batch.queries, vectors.similarity);
        self.items.all_rows(vectors.items, vectors.similarity);
        self.item_weights.clear();
        self.item_weights.resize(vectors.items.rows, 0.0);
        users.clear();
        items.clear();
        items.fill();
        let mut total = 0.0;
        let rows_of_block = (BLOCK / vectors.items.rows).max(1);
        for first in (0..batch.users.len()).step_by(rows_of_block) {
            let rows = first..(first + rows_of_block).min(batch.users.len());
            self.score(vectors, batch, masks, rows.clone());
            total += derive(first, &mut self.positives, &mut self.scores)?;
            self.place_positives(batch, masks, rows.clone());
            self.add_query_gradients(vectors, batch, rows.clone(), users);
            self.add_item_gradients(vectors, rows, items);
        }
        self.finish_item_gradients(vectors, items);
        Ok(total)
    }

    /// Fills scores and positives of some rows, and masks what is no negative.
    fn score(&mut self, vectors: Vectors, batch: Batch, masks: Masks, rows: Range<usize>) {
        let (dim, count) = (vectors.items.dim, vectors.items.rows);
        self.scores.resize(rows.len() * count, 0.0);
        self.positives.resize(rows.len() * batch.list(), 0.0);
        let queries = &self.queries.vectors(&[])[rows.start * dim..rows.end * dim];
        let items = View { values: self.items.vectors(&vectors.items.values), row: 1, column: dim };
        self.scores.par_chunks_mut(ROWS * count).zip(queries.par_chunks(ROWS * dim)).for_each(|(scores, queries)| {
            let queries = View { values: queries, row: dim, column: 1 };
            multiply([scores.len() / count, dim, count], scores, false, queries, items);
        });
        let positives = self.positives.par_chunks_exact_mut(batch.list());
        let (prepared, products) = ((&self.queries, &self.items), self.scores.par_chunks_mut(count).zip(positives).enumerate());
        products.for_each(|(at, (scores, positives))| {
            let row = rows.start + at;
            finish_scores(vectors.similarity, prepared.0, row, prepared.1, 0..count, scores);
            for (positive, &item) in positives.iter_mut().zip(&batch.positives[row * batch.list()..]) {
                *positive = scores[item as usize];
            }
            for &item in masks.of(batch, row) {
                scores[item as usize] = MASKED;
            }
        });
    }

    /// Puts each positive's derivative in its place, and zeros in those of the other masked items.
    fn place_positives(&mut self, batch: Batch, masks: Masks, rows: Range<usize>) {
        let count = self.scores.len() / rows.len();
        for ((row, scores), positives) in rows.zip(self.scores.chunks_exact_mut(count)).zip(self.positives.chunks_exact(batch.list())) {
            for &item in masks.of(batch, row) {
                scores[item as usize] = 0.0;
            }
            for (&positive, &item) in positives.iter().zip(&batch.positives[row * batch.list()..]) {
                scores[item as usize] += positive; // a row may hold a positive twice
            }
        }
    }

    fn add_query_gradients(&mut self, vectors: Vectors, batch: Batch, rows: Range<usize>, users: &mut RowGradients) {
        let (dim, count) = (vectors.items.dim, vectors.items.rows);
        self.query_gradients.resize(rows.len() * dim, 0.0);
        let items = View { values: self.items.vectors(&vectors.items.values), row: dim, column: 1 };
        self.query_gradients.par_chunks_mut(ROWS * dim).zip(self.scores.par_chunks(ROWS * count)).for_each(|(gradients, weights)| {
            let weights = View { values: weights, row: count, column: 1 };
            multiply([gradients.len() / dim, count, dim], gradients, false, weights, items);
        });
        for ((row, gradient), weights) in rows.zip(self.query_gradients.chunks_exact_mut(dim)).zip(self.scores.chunks_exact(count)) {
            let query = &self.queries.vectors(&[])[row * dim..][..dim];
            let total = if vectors.similarity == Similarity::NegativeSquaredDistance { weights.iter().sum() } else { 0.0 };
            finish_gradient(vectors.similarity, query, &self.queries, row, total, gradient);
            users.add(batch.queries[row] as usize, gradient);
        }
    }

    fn add_item_gradients(&mut self, vectors: Vectors, rows: Range<usize>, items: &mut RowGradients) {
        let (dim, count) = (vectors.items.dim, vectors.items.rows);
        let queries = View { values: &self.queries.vectors(&[])[rows.start * dim..rows.end * dim], row: dim, column: 1 };
        let scores = &self.scores;
        let blocks = items.parts().0.par_chunks_mut(ITEMS * dim).zip(self.item_weights.par_chunks_mut(ITEMS)).enumerate();
        blocks.for_each(|(block, (gradients, totals))| {
            let weights = View { values: &scores[block * ITEMS..], row: 1, column: count };
            multiply([totals.len(), rows.len(), dim], gradients, true, weights, queries);
            for row in 0..rows.len() {
                for (total, weight) in totals.iter_mut().zip(&scores[row * count + block * ITEMS..]) {
                    *total += weight;
                }
            }
        });
    }

    fn finish_item_gradients(&self, vectors: Vectors, items: &mut RowGradients) {
        let dim = vectors.items.dim;
        let units = self.items.vectors(&vectors.items.values);
        items.parts().0.par_chunks_exact_mut(dim).enumerate().for_each(|(row, gradient)| {
            finish_gradient(vectors.similarity, &units[row * dim..][..dim], &self.items, row, self.item_weights[row], gradient);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tables;
    use losses::Loss;
    use std::convert::Infallible;

    #[test]
    fn scores_are_held_of_some_rows_at_a_time() {
        let million = 1_000_000;
        let held = [(10, 100), (4096, million), (4096, 10 * million)].map(|(rows, items)| Catalogue::held(rows, items));
        assert_eq!(held, [1000, 4_194_304, 10 * million]);
    }

    /// The reference's list of eight scores, whose items 0, 2 and 5 are the user's (LOSSES.md, EX-B): the value of SL@3 and its derivatives by the
    /// scores, of equation 3.5, in which the sum goes over all items.
    #[test]
    fn the_worked_example_of_a_sum_over_all_items() {
        let scores = [0.9, 0.2, 0.5, -0.3, 0.7, 0.1, -0.6, 0.4];
        let mut tables = Tables::zeros(1, 8, 1);
        (tables.users.values, tables.items.values) = (vec![1.0], scores.to_vec());
        let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: Similarity::Dot };
        let loss: Loss = serde_json::from_str(
            r#"{"softmax-at-k": {"cutoff": 3, "temperature": 0.2, "weight_temperature": 1, "quantile_every": 1, "include_positive": true}}"#,
        )
        .unwrap();
        let loss = loss.fused().unwrap();
        let derive = |_: usize, positives: &mut [f32], negatives: &mut [f32]| {
            let rows = positives.chunks_mut(1).zip(negatives.chunks_mut(8));
            Ok::<f64, Infallible>(rows.map(|(positive, negatives)| f64::from(loss.row(positive, negatives, 0.5))).sum())
        };
        let (mut users, mut items) = (RowGradients::new(1, 1), RowGradients::new(8, 1));
        let batch = Batch::new(&[0, 0, 0], &[0, 2, 5]);
        let total = Catalogue::default().step(vectors, batch, Masks::Positives, derive, &mut users, &mut items).unwrap();
        assert!((total - 3.34440489).abs() < 2e-6, "{total}");
        let expected = [1.70694171, 0.13836401, -1.25670295, 0.01135761, 1.68561868, -0.84320333, 0.00253423, 0.37611237];
        for (found, expected) in items.fill().iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 5e-6, "{found} {expected}");
        }
    }
}
