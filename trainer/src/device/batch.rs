//! The batch of a step on the device: scores of its rows, and the gradients that they give to both tables.

use super::{
    gradient::DeviceGradient,
    loss::{DeviceLoss, Scored},
};
use crate::Result;
use gpu::{
    Buffer, Gpu, scores,
    segments::{Segments, Terms},
    vectors::{Prepared, Similarity},
};

/// A similarity as kernels have it.
pub(crate) fn similarity_of(similarity: evaluator::Similarity) -> Similarity {
    match similarity {
        evaluator::Similarity::Dot => Similarity::Dot,
        evaluator::Similarity::Cosine => Similarity::Cosine,
        evaluator::Similarity::NegativeSquaredDistance => Similarity::NegativeSquaredDistance,
    }
}

/// The rows of a step: users and items, and which rows and scores are of each.
#[derive(Debug)]
pub(crate) struct BatchIds {
    /// Scores of a row: its positives and its negatives.
    pub(crate) width: usize,
    /// `[B]`
    pub(crate) users: Buffer<u32>,
    /// `[B, width]`, positives first.
    pub(crate) items: Buffer<u32>,
    /// The rows by their users, and the scores by their items.
    by_row: [Segments; 2],
}

impl BatchIds {
    /// Makes room for so many rows of so many scores, of tables with so many users and items.
    pub(crate) fn new(gpu: &Gpu, [rows, width]: [usize; 2], [users, items]: [usize; 2]) -> Result<Self> {
        Ok(Self {
            width,
            users: gpu.zeros(rows)?,
            items: gpu.zeros(rows * width)?,
            by_row: [Segments::new(gpu, rows, users)?, Segments::new(gpu, rows * width, items)?],
        })
    }

    /// Finds the rows of users and of items that the first `rows` rows touch.
    pub(crate) fn sort(&mut self, gpu: &Gpu, rows: usize) -> Result<()> {
        let [by_user, by_item] = &mut self.by_row;
        by_user.sort(gpu, &self.users, rows)?;
        Ok(by_item.sort(gpu, &self.items, rows * self.width)?)
    }

    /// The rows of users, or of items, that were found: which, ascending, and how many.
    pub(crate) fn touched(&self, side: usize) -> (&Buffer<u32>, &Buffer<u32>) {
        self.by_row[side].rows()
    }
}

/// Buffers of a step, for batches of at most so many rows.
#[derive(Debug)]
pub(crate) struct Batch {
    dim: usize,
    /// `[B, width]`; after weighing, the derivatives by them.
    pub(crate) scores: Buffer<f32>,
    /// `[B]`
    pub(crate) losses: Buffer<f32>,
    queries: Prepared,
    items: Prepared,
    /// `[B, dim]`, of the queries.
    gradients: Buffer<f32>,
    /// `[B]`
    totals: Buffer<f32>,
    /// `[B]`
    ones: Buffer<f32>,
}

impl Batch {
    pub(crate) fn new(gpu: &Gpu, [rows, width]: [usize; 2], [items, dim]: [usize; 2], similarity: Similarity) -> Result<Self> {
        Ok(Self {
            dim,
            scores: gpu.zeros(rows * width)?,
            losses: gpu.zeros(rows)?,
            queries: Prepared::chosen(gpu, rows, dim, similarity)?,
            items: Prepared::whole(gpu, items, dim, similarity)?,
            gradients: gpu.zeros(rows * dim)?,
            totals: gpu.zeros(rows)?,
            ones: gpu.upload(&vec![1.0; rows])?,
        })
    }

    /// Scores the first `rows` rows with the vectors of users and items.
    pub(crate) fn score(&mut self, gpu: &Gpu, [users, items]: [&Buffer<f32>; 2], ids: &BatchIds, rows: usize) -> Result<()> {
        self.queries.choose(gpu, users, &ids.users, rows)?;
        self.items.prepare(gpu, items)?;
        let of_rows = scores::Rows { ids: &ids.items, rows, width: ids.width };
        Ok(scores::score(gpu, self.queries.view(users), self.items.view(items), of_rows, &mut self.scores)?)
    }

    /// Puts the derivatives of the losses, times `scale`, in the place of the scores.
    pub(crate) fn score_gradients(
        &mut self,
        gpu: &Gpu,
        loss: &DeviceLoss,
        quantiles: Option<&Buffer<f32>>,
        ids: &BatchIds,
        rows: usize,
        scale: f32,
    ) -> Result<()> {
        let scored = Scored { scores: &mut self.scores, rows, width: ids.width, quantiles, users: &ids.users };
        loss.score_gradients(gpu, scored, scale, &mut self.losses)
    }

    /// The gradients of the users' vectors; the rows must have been [found](BatchIds::sort), and the loss derived.
    pub(crate) fn user_gradients(
        &mut self,
        gpu: &Gpu,
        [users, items]: [&Buffer<f32>; 2],
        ids: &mut BatchIds,
        rows: usize,
        out: &mut DeviceGradient,
    ) -> Result<()> {
        let Self { dim, scores, gradients, totals, ones, .. } = self;
        let BatchIds { width, items: of_rows, by_row: [by_user, _], .. } = ids;
        let (queries, items) = (self.queries.view(users), self.items.view(items));
        scores::gather(gpu, items, scores::Rows { ids: of_rows, rows, width: *width }, scores, gradients, totals)?;
        queries.finish(gpu, gradients, totals, None, rows)?;
        Ok(by_user.sum(gpu, Terms { weights: ones, vectors: gradients, width: 1, dim: *dim }, out.sums())?)
    }

    /// The gradients of the items' vectors; the rows must have been [found](BatchIds::sort), and the loss derived.
    pub(crate) fn item_gradients(
        &mut self,
        gpu: &Gpu,
        [users, items]: [&Buffer<f32>; 2],
        ids: &mut BatchIds,
        out: &mut DeviceGradient,
    ) -> Result<()> {
        let Self { dim, scores, .. } = self;
        let BatchIds { width, by_row: [_, by_item], .. } = ids;
        let (queries, items) = (self.queries.view(users), self.items.view(items));
        by_item.sum(gpu, Terms { weights: scores, vectors: queries.vectors, width: *width, dim: *dim }, out.sums())?;
        let DeviceGradient { values, touched, totals, rows, .. } = out;
        Ok(items.finish(gpu, values.get_mut(), totals.get_mut(), Some(touched), *rows)?)
    }
}
