//! Each query with its own drawn items: scores, then gradients.
//!
//! A batch is cut into tasks of whole rows. A task draws, scores, weighs and forms the gradients of its queries while the drawn item
//! rows are in cache; it leaves its (item, query, weight) entries sorted by bucket of items. Then each bucket of items, small enough
//! for the first-level cache, adds up its entries from all tasks in order. No result depends on the number of threads.

use super::{
    kernels::{dots, scatter_add, weighted_sum},
    similarity::{Prepared, finish_gradient, finish_scores},
};
use crate::RowGradients;
use rayon::prelude::*;
use vectors::{Matrix, Similarity};

/// Items of a bucket, a power of two: 128 rows of 64 floats fill 32 KiB.
pub const BUCKET: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 7;

/// Scores of a task, about: their rows and entries stay in the second-level cache.
const TASK: usize = 1 << 15;

/// Rows of a task at most, so that there are tasks enough for all threads.
const ROWS: usize = 128;

/// The weight of one query in the gradient of one item.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    key: u32,
    pub(super) weight: f32,
}

impl Entry {
    fn new(query: usize, item: u32, weight: f32) -> Self {
        Self { key: (query as u32) << BUCKET_BITS | item & (BUCKET as u32 - 1), weight }
    }

    /// The item's place in its bucket.
    #[inline(always)]
    pub(super) fn local(self) -> usize {
        self.key as usize & (BUCKET - 1)
    }

    /// The query's row in the batch.
    #[inline(always)]
    pub(super) fn query(self) -> usize {
        (self.key >> BUCKET_BITS) as usize
    }
}

/// The largest batch whose rows fit into an `Entry`.
pub const LARGEST_BATCH: u32 = 1 << (32 - BUCKET_BITS);

/// The vectors of a step and how they are compared.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    /// `[users, dim]`
    pub users: &'a Matrix,
    /// `[items, dim]`
    pub items: &'a Matrix,
    /// How a row of each makes a score.
    pub similarity: Similarity,
}

/// The rows of a step: row b is user `users[b]` with P positive items, which stand at `b P` and after, and is scored by the vector `queries[b]`.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// `[B]`
    pub users: &'a [u32],
    /// `[B]`, rows of the users' vectors: those of the users where each has one.
    pub queries: &'a [u32],
    /// `[B, P]`
    pub positives: &'a [u32],
}

impl<'a> Batch<'a> {
    /// Makes a batch of users with a vector each.
    pub fn new(users: &'a [u32], positives: &'a [u32]) -> Self {
        Self { users, queries: users, positives }
    }

    /// The positives of each row.
    pub fn list(self) -> usize {
        self.positives.len() / self.users.len()
    }
}

/// One row of a batch with its scores, in whose places the derivatives of the row's loss are put.
pub struct Row<'a> {
    /// The row's place in the batch.
    pub at: usize,
    /// `[P + N]`, the items that were scored: positives first.
    pub ids: &'a [u32],
    /// `[P]`
    pub positives: &'a mut [f32],
    /// `[N]`
    pub negatives: &'a mut [f32],
}

/// The items and scores of a batch.
pub struct Scored {
    /// `[B, P + N]`
    pub ids: Vec<u32>,
    /// `[B, P]`
    pub positives: Vec<f32>,
    /// `[B, N]`
    pub negatives: Vec<f32>,
}

/// The loss of each row and its derivatives by the row's scores.
pub struct ScoreGradients {
    /// `[B]`
    pub losses: Vec<f32>,
    /// `[B, P]`
    pub positives: Vec<f32>,
    /// `[B, N]`
    pub negatives: Vec<f32>,
}

/// Buffers of sampled scoring, reused from step to step.
#[derive(Default)]
pub struct Sampled {
    queries: Prepared,
    items: Prepared,
    rows_of_task: usize,
    tasks: Vec<Task>,
    /// Whether negatives of weight 0 were left aside by the sampler and are not part of the loss: they cost nothing then.
    drops_zeros: bool,
}

/// Some rows of the batch. A row holds its positives first, then its negatives.
#[derive(Default)]
struct Task {
    first_row: usize,
    /// Positives of a row, and all that it scores.
    list: usize,
    width: usize,
    ids: Vec<u32>,
    /// Scores; after weighing, the derivatives of the loss by them.
    scores: Vec<f32>,
    losses: Vec<f32>,
    /// What a row has of its width after weighing: what was dropped is gone, and the rest stands at its front.
    kept: Vec<usize>,
    query_gradients: Vec<f32>,
    entries: Vec<Entry>,
    bucket_ends: Vec<u32>,
}

impl Sampled {
    /// Buffers of a sampler that leaves some of what it draws aside, or of one that does not.
    pub fn new(drops_zeros: bool) -> Self {
        Self { drops_zeros, ..Self::default() }
    }

    /// Draws the negatives of every row and scores them: `draw(row, user, negatives)`.
    pub fn score(&mut self, vectors: Vectors, batch: Batch, negatives: usize, draw: impl Fn(usize, u32, &mut [u32]) + Sync) {
        self.prepare(vectors, batch, negatives);
        let (queries, items) = (&self.queries, &self.items);
        self.tasks.par_iter_mut().for_each(|task| {
            for at in 0..task.losses.len() {
                task.draw_row(at, batch, &draw);
                task.score_row(at, vectors, queries, items);
            }
        });
    }

    /// What was scored, of all rows.
    pub fn scored(&self) -> Scored {
        let width = self.tasks.iter().map(|task| task.ids.len()).sum();
        let mut scored = Scored { ids: Vec::with_capacity(width), positives: Vec::new(), negatives: Vec::with_capacity(width) };
        for task in &self.tasks {
            scored.ids.extend_from_slice(&task.ids);
            for (positives, negatives) in task.scores.chunks_exact(task.width).map(|row| row.split_at(task.list)) {
                scored.positives.extend_from_slice(positives);
                scored.negatives.extend_from_slice(negatives);
            }
        }
        scored
    }

    /// Takes the loss of each row and its derivatives by the scores; returns the sum of the losses.
    pub fn backward(&mut self, vectors: Vectors, weighed: &ScoreGradients) -> f64 {
        let (queries, prepared, drops) = (&self.queries, &self.items, self.drops_zeros);
        self.tasks.par_iter_mut().for_each(|task| {
            for at in 0..task.losses.len() {
                task.set_weights(at, weighed);
                task.keep(at, drops);
                task.query_gradient(at, vectors, queries, prepared);
            }
            task.sort_entries(vectors.items.rows);
        });
        self.loss()
    }

    /// Scores a batch and goes back at once, for losses with a value of each row by itself: `derive(row)` turns scores into the derivatives of the row's loss
    /// and returns that loss. Returns the sum of the losses.
    pub fn step(
        &mut self,
        vectors: Vectors,
        batch: Batch,
        negatives: usize,
        draw: impl Fn(usize, u32, &mut [u32]) + Sync,
        derive: impl Fn(Row) -> f32 + Sync,
    ) -> f64 {
        self.prepare(vectors, batch, negatives);
        let (queries, prepared, drops) = (&self.queries, &self.items, self.drops_zeros);
        self.tasks.par_iter_mut().for_each(|task| {
            for at in 0..task.losses.len() {
                task.draw_row(at, batch, &draw);
                task.score_row(at, vectors, queries, prepared);
                let (positives, negatives) = task.scores[at * task.width..][..task.width].split_at_mut(task.list);
                let ids = &task.ids[at * task.width..][..task.width];
                task.losses[at] = derive(Row { at: task.first_row + at, ids, positives, negatives });
                task.keep(at, drops);
                task.query_gradient(at, vectors, queries, prepared);
            }
            task.sort_entries(vectors.items.rows);
        });
        self.loss()
    }

    /// Prepares the vectors and cuts the batch into tasks; the cut depends on the shape alone.
    fn prepare(&mut self, vectors: Vectors, batch: Batch, negatives: usize) {
        self.queries.chosen_rows(vectors.users, batch.queries, vectors.similarity);
        self.items.all_rows(vectors.items, vectors.similarity);
        let (list, dim) = (batch.list(), vectors.items.dim);
        let width = list + negatives;
        let rows_of_task = (TASK / width).clamp(8, ROWS);
        self.rows_of_task = rows_of_task;
        self.tasks.resize_with(batch.users.len().div_ceil(rows_of_task), Task::default);
        for (index, task) in self.tasks.iter_mut().enumerate() {
            task.first_row = index * rows_of_task;
            task.list = list;
            task.width = width;
            let rows = rows_of_task.min(batch.users.len() - task.first_row);
            task.ids.resize(rows * width, 0);
            task.scores.resize(rows * width, 0.0);
            task.losses.resize(rows, 0.0);
            task.kept.resize(rows, 0);
            task.query_gradients.resize(rows * dim, 0.0);
        }
    }

    fn loss(&self) -> f64 {
        self.tasks.iter().map(|task| task.losses.iter().map(|&loss| f64::from(loss)).sum::<f64>()).sum()
    }

    /// Adds how often each item is a positive or a negative of a row, `[items]`: one that is the row's first positive once more is none.
    pub fn count(&self, counts: &mut [f32]) {
        let rows = self.tasks.iter().flat_map(|task| task.ids.chunks_exact(task.width));
        for (first, others) in rows.filter_map(<[u32]>::split_first) {
            counts[*first as usize] += 1.0;
            others.iter().filter(|id| *id != first).for_each(|&id| counts[id as usize] += 1.0);
        }
    }

    /// The gradient of the user's vector from one row of the batch.
    pub fn user_gradient(&self, row: usize) -> &[f32] {
        let task = &self.tasks[row / self.rows_of_task];
        let dim = task.query_gradients.len() / task.losses.len();
        &task.query_gradients[(row - task.first_row) * dim..][..dim]
    }

    /// The gradients of the items of a bucket, `items` of whose vectors as they were scored: the entries of all tasks in order.
    pub fn item_gradients(&self, similarity: Similarity, bucket: usize, items: &[f32], values: &mut [f32], touched: &mut [bool]) {
        let dim = items.len() / touched.len();
        touched.fill(false);
        if self.tasks.iter().all(|task| task.bucket(bucket).is_empty()) {
            return;
        }
        let mut weights = [0.0; BUCKET];
        if similarity == Similarity::NegativeSquaredDistance {
            add_weights(&self.tasks, bucket, &mut weights);
        }
        values.fill(0.0);
        for task in &self.tasks {
            scatter_add(values, touched, self.queries.vectors(&[]), task.bucket(bucket));
        }
        let gradients = values.chunks_exact_mut(dim).zip(items.chunks_exact(dim)).enumerate();
        for (local, (gradient, item)) in gradients.filter(|(local, _)| touched[*local]) {
            let row = bucket * BUCKET + local;
            finish_gradient(similarity, self.items.row(row, item), &self.items, row, weights[local], gradient);
        }
    }

    /// The gradients of whole tables.
    pub fn collect(&self, vectors: Vectors, batch: Batch, users: &mut RowGradients, items: &mut RowGradients) {
        let (values, touched) = items.parts();
        let buckets = values.par_chunks_mut(BUCKET * vectors.items.dim).zip(touched.par_chunks_mut(BUCKET));
        buckets.zip(vectors.items.values.par_chunks(BUCKET * vectors.items.dim)).enumerate().for_each(
            |(bucket, ((values, touched), items))| {
                self.item_gradients(vectors.similarity, bucket, items, values, touched);
            },
        );
        users.clear();
        for (row, &query) in batch.queries.iter().enumerate() {
            users.add(query as usize, self.user_gradient(row));
        }
    }
}

/// The sum of the weights of each item of a bucket.
fn add_weights(tasks: &[Task], bucket: usize, weights: &mut [f32]) {
    for entry in tasks.iter().flat_map(|task| task.bucket(bucket)) {
        weights[entry.local()] += entry.weight;
    }
}

impl Task {
    fn draw_row(&mut self, at: usize, batch: Batch, draw: &impl Fn(usize, u32, &mut [u32])) {
        let row = self.first_row + at;
        let (positives, negatives) = self.ids[at * self.width..][..self.width].split_at_mut(self.list);
        positives.copy_from_slice(&batch.positives[row * self.list..][..self.list]);
        draw(row, batch.users[row], negatives);
    }

    fn score_row(&mut self, at: usize, vectors: Vectors, queries: &Prepared, items: &Prepared) {
        let (row, dim) = (self.first_row + at, vectors.items.dim);
        let query = &queries.vectors(&[])[row * dim..][..dim];
        let ids = &self.ids[at * self.width..][..self.width];
        let scores = &mut self.scores[at * self.width..][..self.width];
        dots(query, items.vectors(&vectors.items.values), ids, scores);
        finish_scores(vectors.similarity, queries, row, items, ids.iter().map(|&id| id as usize), scores);
    }

    fn set_weights(&mut self, at: usize, weighed: &ScoreGradients) {
        let (row, count) = (self.first_row + at, self.width - self.list);
        let (positives, negatives) = self.scores[at * self.width..][..self.width].split_at_mut(self.list);
        positives.copy_from_slice(&weighed.positives[row * self.list..][..self.list]);
        negatives.copy_from_slice(&weighed.negatives[row * count..][..count]);
        self.losses[at] = weighed.losses[row];
    }

    /// Says how much of a row counts: all of it, or its positives and the negatives that have a weight, which move to the front.
    fn keep(&mut self, at: usize, drops: bool) {
        self.kept[at] = self.width;
        if drops {
            let row = at * self.width..(at + 1) * self.width;
            let (ids, weights, mut kept) = (&mut self.ids[row.clone()], &mut self.scores[row], self.list);
            for from in self.list..weights.len() {
                if weights[from] != 0.0 {
                    (ids[kept], weights[kept]) = (ids[from], weights[from]);
                    kept += 1;
                }
            }
            self.kept[at] = kept;
        }
    }

    fn query_gradient(&mut self, at: usize, vectors: Vectors, queries: &Prepared, items: &Prepared) {
        let (row, dim) = (self.first_row + at, vectors.items.dim);
        let ids = &self.ids[at * self.width..][..self.kept[at]];
        let weights = &self.scores[at * self.width..][..self.kept[at]];
        let gradient = &mut self.query_gradients[at * dim..][..dim];
        gradient.fill(0.0);
        weighted_sum(items.vectors(&vectors.items.values), ids, weights, gradient);
        let total = if vectors.similarity == Similarity::NegativeSquaredDistance { weights.iter().sum() } else { 0.0 };
        finish_gradient(vectors.similarity, &queries.vectors(&[])[row * dim..][..dim], queries, row, total, gradient);
    }

    /// A counting sort by bucket; within a bucket, entries keep the order of rows and draws.
    fn sort_entries(&mut self, items: usize) {
        self.bucket_ends.clear();
        self.bucket_ends.resize(items.div_ceil(BUCKET), 0);
        let rows = || self.ids.chunks_exact(self.width).zip(self.scores.chunks_exact(self.width)).zip(&self.kept);
        for ((ids, _), &kept) in rows() {
            ids[..kept].iter().for_each(|id| self.bucket_ends[(id >> BUCKET_BITS) as usize] += 1);
        }
        let mut start = 0;
        for end in &mut self.bucket_ends {
            start += std::mem::replace(end, start);
        }
        // In order first: entries are then written into lines that are in the cache.
        self.entries.clear();
        self.entries.resize(start as usize, Entry::default());
        for (at, ((ids, weights), &kept)) in rows().enumerate() {
            for (&id, &weight) in ids[..kept].iter().zip(weights) {
                let end = &mut self.bucket_ends[(id >> BUCKET_BITS) as usize];
                self.entries[*end as usize] = Entry::new(self.first_row + at, id, weight);
                *end += 1;
            }
        }
    }

    fn bucket(&self, bucket: usize) -> &[Entry] {
        let start = if bucket == 0 { 0 } else { self.bucket_ends[bucket - 1] };
        &self.entries[start as usize..self.bucket_ends[bucket] as usize]
    }
}
