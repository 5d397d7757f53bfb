//! Similarities of a batch's users with each other, and of its positives.

use super::similarities;
use crate::{Result, fit::step::candle::blocks::Scoring};
use candle_core::Tensor;
use embeddings::Batch;
use evaluator::Similarity;
use models::select_rows;
use std::ops::Range;

/// `[B, B]` of the users and of the positives, from the vectors of users and of items.
pub(crate) struct BatchRelations<'a> {
    pub(crate) batch: Batch<'a>,
    pub(crate) similarity: Similarity,
}

impl Scoring for BatchRelations<'_> {
    fn rows(&self) -> usize {
        self.batch.users.len()
    }

    fn size_of_row(&self) -> usize {
        2 * self.batch.users.len()
    }

    fn score(&self, from: &[Tensor], rows: Range<usize>) -> Result<Vec<Tensor>> {
        let of_side = |(vectors, ids): (&Tensor, &[u32])| -> Result<Tensor> {
            let all = select_rows(vectors, ids)?;
            Ok(similarities(self.similarity, &all.narrow(0, rows.start, rows.len())?, &all)?)
        };
        from.iter().zip([self.batch.queries, self.batch.positives]).map(of_side).collect()
    }
}
