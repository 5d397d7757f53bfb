//! Scores of users' vectors with items'.

use super::{Columns, similarities};
use crate::{Result, fit::step::candle::blocks::Scoring};
use candle_core::Tensor;
use embeddings::Batch;
use evaluator::Similarity;
use models::select_rows;
use std::ops::Range;

/// Which items are a row's negatives.
#[derive(Clone, Copy)]
pub(crate) enum Items<'a> {
    /// Those that were drawn: `[B, P + N]`, the row's positives first.
    Drawn(&'a [u32]),
    /// All of so many.
    Every(usize),
}

/// Scores from the vectors of users and of items: positives, negatives and, where the loss looks at them, the similarities of a row's positive with its negatives.
pub(crate) struct Scores<'a> {
    similarity: Similarity,
    queries: &'a [u32],
    list: usize,
    width: usize,
    columns: Columns,
    has_every_item: bool,
    is_related: bool,
}

impl<'a> Scores<'a> {
    /// Scores rows of a batch, whose items are among so many.
    pub(crate) fn new(batch: Batch<'a>, negatives: Items, items: usize, similarity: Similarity, is_related: bool) -> Self {
        let (columns, has_every_item) = match negatives {
            Items::Drawn(ids) => (Columns::new(ids, items), false),
            Items::Every(items) => (Columns { chosen: None, count: items, places: batch.positives.to_vec() }, true),
        };
        let width = columns.places.len() / batch.users.len();
        Self { similarity, queries: batch.queries, list: batch.list(), width, columns, has_every_item, is_related }
    }
}

impl Scoring for Scores<'_> {
    fn rows(&self) -> usize {
        self.queries.len()
    }

    fn size_of_row(&self) -> usize {
        self.columns.count * (1 + usize::from(self.is_related))
    }

    fn score(&self, from: &[Tensor], rows: Range<usize>) -> Result<Vec<Tensor>> {
        let [users, items] = from else { unreachable!("vectors are those of users and of items") };
        let device = users.device();
        let (columns, places) = (self.columns.of(items)?, self.columns.places(&rows, self.width, device)?);
        let products = similarities(self.similarity, &select_rows(users, &self.queries[rows.clone()])?, &columns)?;
        let scores = products.gather(&places, 1)?;
        let positives = scores.narrow(1, 0, self.list)?;
        if self.has_every_item {
            return Ok(vec![positives, products]);
        }
        let mut found = vec![positives, scores.narrow(1, self.list, self.width - self.list)?];
        if self.is_related {
            let anchors = columns.index_select(&places.narrow(1, 0, 1)?.contiguous()?.squeeze(1)?, 0)?;
            let others = places.narrow(1, self.list, self.width - self.list)?.contiguous()?;
            found.push(similarities(self.similarity, &anchors, &columns)?.gather(&others, 1)?);
        }
        Ok(found)
    }
}
