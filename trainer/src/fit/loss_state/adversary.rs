//! The second model of a loss with an adversary: it scores the same draws, and moves up the loss's gradient.

use crate::fit::{distributed::all_reduce::all_reduce, step::batch_shard::BatchShard};
use crate::{Learning, Result, collective::Collective};
use embeddings::{Batch, RowGradients, Sampled, ScoreGradients, Tables, Vectors};
use losses::Adversary;
use models::{Init, Normal};
use optimizers::{Moments, Optimizer, Stepper};

/// The tables of a loss's adversary, and what moves them.
pub(crate) struct AdversaryModel {
    adversary: Adversary,
    tables: Tables,
    moments: [Moments; 2],
    stepper: Stepper,
    gradients: [RowGradients; 2],
    sampled: Sampled,
    /// Draws of a row.
    candidates: usize,
}

/// Its parameters are drawn from another seed than the model's.
const OTHER_SEED: u64 = 1 << 63;

impl AdversaryModel {
    /// Makes a fresh adversary, of so many users and items.
    pub(crate) fn new(adversary: Adversary, learning: &Learning, (users, items): (usize, usize)) -> Self {
        let tables = Init::Normal(Normal { std: 1.0 }).tables(users, items, adversary.dim, learning.seed ^ OTHER_SEED);
        Self {
            moments: [&tables.users, &tables.items].map(|table| Moments::new(table, false)),
            gradients: [&tables.users, &tables.items].map(|table| RowGradients::new(table.rows, table.dim)),
            stepper: Stepper::new(&learning.optimizer.at(adversary.learning_rate), 0),
            candidates: learning.candidates().unwrap_or(items),
            sampled: Sampled::default(),
            adversary,
            tables,
        }
    }

    fn vectors(&self) -> Vectors<'_> {
        Vectors { users: &self.tables.users, items: &self.tables.items, similarity: self.adversary.similarity }
    }

    /// The scores of a batch's negatives, `[B, N]`.
    pub(crate) fn score(&mut self, batch: Batch, negatives: usize, draw: impl Fn(usize, u32, &mut [u32]) + Sync) -> Vec<f32> {
        let mut sampled = std::mem::take(&mut self.sampled);
        sampled.score(self.vectors(), batch, negatives, draw);
        self.sampled = sampled;
        self.sampled.scored().negatives
    }

    /// Moves it up, by the derivatives of the mean loss by its scores of this rank's rows of a batch, `[B, N]`.
    pub(crate) fn ascend(&mut self, collective: &Collective, batch: BatchShard, derivatives: &[f32]) -> Result<()> {
        self.find_gradients(batch.local, derivatives);
        let Self { tables, moments: [of_users, of_items], stepper, gradients: [users, items], candidates, .. } = self;
        let rows = batch.whole.users.len();
        all_reduce(collective, "the gradient of the adversary's users", users, rows)?;
        all_reduce(collective, "the gradient of the adversary's items", items, rows * (1 + *candidates))?;
        stepper.move_table(&mut tables.users, of_users, users);
        stepper.move_table(&mut tables.items, of_items, items);
        stepper.finish_step();
        Ok(())
    }

    fn find_gradients(&mut self, batch: Batch, derivatives: &[f32]) {
        if batch.users.is_empty() {
            return self.gradients.iter_mut().for_each(RowGradients::clear);
        }
        let weighed = ScoreGradients {
            losses: vec![0.0; batch.users.len()],
            positives: vec![0.0; batch.positives.len()],
            negatives: derivatives.iter().map(|derivative| -derivative).collect(),
        };
        let mut sampled = std::mem::take(&mut self.sampled);
        sampled.backward(self.vectors(), &weighed);
        let Self { tables, gradients: [users, items], adversary, .. } = self;
        let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: adversary.similarity };
        sampled.collect(vectors, batch, users, items);
        self.sampled = sampled;
    }

    /// Goes on after so many steps.
    pub(crate) fn restart(&mut self, optimizer: &Optimizer, steps: u64) {
        self.stepper = Stepper::new(&optimizer.at(self.adversary.learning_rate), steps);
    }

    /// Steps made.
    pub(crate) fn steps(&self) -> u64 {
        self.stepper.steps
    }

    /// The first place that is not finite.
    pub(crate) fn not_finite(&self) -> Option<String> {
        self.tables.not_finite().map(|place| format!("{place} of the adversary"))
    }

    /// Everything that the next epoch needs, by name.
    pub(crate) fn state(&mut self) -> Vec<(String, &mut Vec<f32>)> {
        let Self { tables, moments: [users, items], .. } = self;
        let state = [
            ("adversary.users", &mut tables.users.values),
            ("adversary.users.first", &mut users.first),
            ("adversary.users.second", &mut users.second),
            ("adversary.items", &mut tables.items.values),
            ("adversary.items.first", &mut items.first),
            ("adversary.items.second", &mut items.second),
        ];
        state.into_iter().map(|(name, values)| (name.to_owned(), values)).collect()
    }
}
