//! Scores of drawn items by kernels, for steps whose vectors are candle's, and the gradients of these.
//!
//! candle's own way back from a gather adds row by row in one thread of each column. Here the scores are sorted by their items, and each row's are added up
//! together, as where the whole step is kernels.

use super::{
    batch::{Batch, BatchIds, similarity_of},
    gradient::DeviceGradient,
    scoring::DrawnScoring,
};
use crate::Result;
use candle_core::Tensor;
use evaluator::Similarity;
use gpu::{Buffer, Gpu, marks};

/// Scores of drawn items on a device.
#[derive(Debug)]
pub(crate) struct DrawnScores {
    gpu: Gpu,
    /// Made for the first batch, which is the largest.
    room: Option<Room>,
}

#[derive(Debug)]
struct Room {
    rows: usize,
    dim: usize,
    similarity: Similarity,
    ids: BatchIds,
    batch: Batch,
    vectors: [Buffer<f32>; 2],
    gradients: [DeviceGradient; 2],
    /// Rows of the batch that was scored last, and of its vectors of users and of items.
    scored: [usize; 3],
}

impl DrawnScores {
    pub(crate) fn new(gpu: Gpu) -> Self {
        Self { gpu, room: None }
    }
}

impl Room {
    fn new(gpu: &Gpu, [rows, width]: [usize; 2], [users, items, dim]: [usize; 3], similarity: Similarity) -> Result<Self> {
        let gradient = |rows: usize| DeviceGradient::new(gpu, rows, dim);
        Ok(Self {
            rows,
            dim,
            similarity,
            ids: BatchIds::new(gpu, [rows, width], [users, items])?,
            batch: Batch::new(gpu, [rows, width], [items, dim], similarity_of(similarity))?,
            vectors: [gpu.zeros(users * dim)?, gpu.zeros(items * dim)?],
            gradients: [gradient(users)?, gradient(items)?],
            scored: [0; 3],
        })
    }

    fn suffices(&self, [rows, width]: [usize; 2], [users, items, dim]: [usize; 3], similarity: Similarity) -> bool {
        let [of_users, of_items] = self.gradients.each_ref().map(|gradient| gradient.rows);
        rows <= self.rows && users <= of_users && (width, items, dim, similarity) == (self.ids.width, of_items, self.dim, self.similarity)
    }
}

impl DrawnScoring for DrawnScores {
    fn scores(&mut self, vectors: &[Tensor], queries: &[u32], ids: &[u32], similarity: Similarity) -> Result<Vec<f32>> {
        let ((users, dim), (items, _)) = (vectors[0].dims2()?, vectors[1].dims2()?);
        let (of_batch, of_vectors) = ([queries.len(), ids.len() / queries.len()], [users, items, dim]);
        let gpu = &self.gpu;
        let room = match self.room.take().filter(|room| room.suffices(of_batch, of_vectors, similarity)) {
            Some(room) => room,
            None => Room::new(gpu, of_batch, of_vectors, similarity)?,
        };
        let room = self.room.insert(room);
        for (to, from) in room.vectors.iter_mut().zip(vectors) {
            gpu.fill(to, from)?;
        }
        gpu.write(&mut room.ids.users, queries)?;
        gpu.write(&mut room.ids.items, ids)?;
        room.batch.score(gpu, room.vectors.each_ref(), &room.ids, queries.len())?;
        room.scored = [queries.len(), users, items];
        let mut scores = gpu.read(&room.batch.scores)?;
        scores.truncate(ids.len());
        Ok(scores)
    }

    fn gradients(&mut self, derivatives: &[f32]) -> Result<Vec<Tensor>> {
        let Self { gpu, room } = self;
        let Room { dim, ids, batch, vectors, gradients, scored: [rows, users, items], .. } = room.as_mut().expect("they were scored");
        gpu.write(&mut batch.scores, derivatives)?;
        ids.sort(gpu, *rows)?;
        let [of_users, of_items] = gradients;
        batch.user_gradients(gpu, vectors.each_ref(), ids, *rows, of_users)?;
        batch.item_gradients(gpu, vectors.each_ref(), ids, of_items)?;
        let tensor = |(gradient, rows): (&mut DeviceGradient, usize)| -> Result<Tensor> {
            let DeviceGradient { rows: all, values, touched, totals, .. } = gradient;
            marks::write_zeros(gpu, touched, values.get_mut(), totals.get_mut(), [*all, *dim])?;
            Ok(gpu.tensor(values.get(), (rows, *dim))?)
        };
        [(of_users, *users), (of_items, *items)].into_iter().map(tensor).collect()
    }
}
