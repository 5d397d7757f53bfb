//! Batches that touch few rows: scores and gradients of these rows alone.
//!
//! The rows that a batch touches are listed first, copied next to each other, and scored there. Each listed row then has its gradient
//! from the scores that it took part in, in their order. Nothing here has a cost that grows with the tables.

use super::{
    kernels::{combine, dots, weighted_sum},
    sampled::{Row, ScoreGradients, Scored},
    similarity::{Prepared, finish_gradient, finish_scores},
    touched::Touched,
};
use rayon::prelude::*;
use vectors::{Matrix, Similarity};

/// Batch rows of one parallel task.
const ROWS: usize = 64;

/// What a batch touches: row b of it scores its positive and its N negatives, which stand at `b (1 + N)` and after.
#[derive(Default)]
pub struct Plan {
    width: usize,
    user_ids: Vec<u32>,
    item_ids: Vec<u32>,
    /// The users of the batch, each once.
    pub users: Touched,
    /// The items of the batch, each once.
    pub items: Touched,
}

impl Plan {
    /// Plans a batch of (user, positive) pairs; draws the negatives of every row by `draw(row, user, negatives)`.
    pub fn make(&mut self, pairs: impl Iterator<Item = (u32, u32)>, negatives: usize, draw: impl Fn(usize, u32, &mut [u32])) {
        self.width = 1 + negatives;
        self.user_ids.clear();
        self.item_ids.clear();
        for (user, positive) in pairs {
            self.user_ids.push(user);
            self.item_ids.push(positive);
            self.item_ids.resize(self.user_ids.len() * self.width, 0);
        }
        // Not in the same loop: reading a pair brings the user's train items into the cache, and draws look at them.
        for (row, (&user, ids)) in self.user_ids.iter().zip(self.item_ids.chunks_exact_mut(self.width)).enumerate() {
            draw(row, user, &mut ids[1..]);
        }
        self.users.find(&self.user_ids);
        self.items.find(&self.item_ids);
    }

    /// Rows of the batch.
    pub fn rows(&self) -> usize {
        self.user_ids.len()
    }

    /// How often the k-th touched item is a positive or a negative: one that is its row's own positive is none.
    pub fn count(&self, k: usize) -> usize {
        let own = |place: usize| self.item_ids[place - place % self.width];
        let counts = |place: usize| place.is_multiple_of(self.width) || self.item_ids[place] != own(place);
        self.items.places(k).iter().filter(|&&place| counts(place as usize)).count()
    }

    /// `[B]`
    pub fn users(&self) -> &[u32] {
        &self.user_ids
    }
}

/// The touched rows of a step and what comes of them; buffers are reused from step to step.
pub struct SparseSampled {
    /// The touched users' vectors.
    pub users: Matrix,
    /// The touched items' vectors.
    pub items: Matrix,
    similarity: Similarity,
    unit_users: Prepared,
    unit_items: Prepared,
    /// `[B, 1 + N]`: scores; after weighing, the derivatives of the loss by them.
    scores: Vec<f32>,
    losses: Vec<f32>,
}

impl SparseSampled {
    /// Prepares to score vectors of this length by this similarity.
    pub fn new(dim: usize, similarity: Similarity) -> Self {
        let empty = || Matrix { rows: 0, dim, values: Vec::new() };
        let (unit_users, unit_items) = (Prepared::default(), Prepared::default());
        Self { users: empty(), items: empty(), similarity, unit_users, unit_items, scores: Vec::new(), losses: Vec::new() }
    }

    /// Makes room for the rows of a plan; their vectors are to be put into `users` and `items`.
    pub fn resize(&mut self, plan: &Plan) {
        for (matrix, touched) in [(&mut self.users, &plan.users), (&mut self.items, &plan.items)] {
            matrix.rows = touched.rows.len();
            matrix.values.resize(matrix.rows * matrix.dim, 0.0);
        }
        self.scores.resize(plan.item_ids.len(), 0.0);
        self.losses.resize(plan.rows(), 0.0);
    }

    /// Scores all rows and weighs each: `weigh(row)` turns scores into the derivatives of the row's loss and returns that loss. Returns
    /// the sum of the losses.
    pub fn step(&mut self, plan: &Plan, weigh: impl Fn(Row) -> f32 + Sync) -> f64 {
        self.unit_users.all_rows(&self.users, self.similarity);
        self.unit_items.all_rows(&self.items, self.similarity);
        let Self { users, items, similarity, unit_users, unit_items, scores, losses } = self;
        let tasks = scores.par_chunks_mut(ROWS * plan.width).zip(losses.par_chunks_mut(ROWS)).enumerate();
        tasks.for_each(|(task, (scores, losses))| {
            for (at, (scores, loss)) in scores.chunks_exact_mut(plan.width).zip(losses).enumerate() {
                let row = task * ROWS + at;
                let (user, ids) = (plan.users.locals[row] as usize, &plan.items.locals[row * plan.width..][..plan.width]);
                let query = &unit_users.vectors(&users.values)[user * users.dim..][..users.dim];
                dots(query, unit_items.vectors(&items.values), ids, scores);
                finish_scores(*similarity, unit_users, user, unit_items, ids.iter().map(|&id| id as usize), scores);
                let (positives, negatives) = scores.split_at_mut(1);
                *loss = weigh(Row { at: row, ids: &plan.item_ids[row * plan.width..][..plan.width], positives, negatives });
            }
        });
        losses.iter().map(|&loss| f64::from(loss)).sum()
    }

    /// What was scored, of all rows.
    pub fn scored(&self, plan: &Plan) -> Scored {
        let rows = || self.scores.chunks_exact(plan.width);
        let negatives = rows().flat_map(|row| &row[1..]).copied().collect();
        Scored { ids: plan.item_ids.clone(), positives: rows().map(|row| row[0]).collect(), negatives }
    }

    /// Takes the derivatives of the losses by the scores; returns the sum of the losses.
    pub fn set_weights(&mut self, plan: &Plan, weighed: &ScoreGradients) -> f64 {
        let rows = self.scores.chunks_exact_mut(plan.width).zip(&weighed.positives);
        for ((row, &positive), negatives) in rows.zip(weighed.negatives.chunks_exact(plan.width - 1)) {
            row[0] = positive;
            row[1..].copy_from_slice(negatives);
        }
        weighed.losses.iter().map(|&loss| f64::from(loss)).sum()
    }

    /// The gradient of the k-th touched user.
    pub fn user_gradient(&self, plan: &Plan, k: usize, gradient: &mut [f32]) {
        let (table, mut total) = (self.unit_items.vectors(&self.items.values), 0.0);
        gradient.fill(0.0);
        for &row in plan.users.places(k) {
            let scores = row as usize * plan.width..(row as usize + 1) * plan.width;
            let weights = &self.scores[scores.clone()];
            weighted_sum(table, &plan.items.locals[scores], weights, gradient);
            total += weights.iter().sum::<f32>();
        }
        let own = &self.unit_users.vectors(&self.users.values)[k * self.users.dim..][..self.users.dim];
        finish_gradient(self.similarity, own, &self.unit_users, k, total, gradient);
    }

    /// Whether the k-th touched item is in the loss: as a positive, or as a negative that a sampler's rule left a weight.
    pub fn is_in_loss(&self, plan: &Plan, k: usize) -> bool {
        plan.items.places(k).iter().any(|&place| (place as usize).is_multiple_of(plan.width) || self.scores[place as usize] != 0.0)
    }

    /// The gradient of the k-th touched item.
    pub fn item_gradient(&self, plan: &Plan, k: usize, gradient: &mut [f32]) {
        let places = plan.items.places(k);
        let term = |place: u32| (plan.users.locals[place as usize / plan.width], self.scores[place as usize]);
        gradient.fill(0.0);
        combine(self.unit_users.vectors(&self.users.values), places, term, gradient);
        let total = places.iter().map(|&place| self.scores[place as usize]).sum();
        let own = &self.unit_items.vectors(&self.items.values)[k * self.items.dim..][..self.items.dim];
        finish_gradient(self.similarity, own, &self.unit_items, k, total, gradient);
    }
}
