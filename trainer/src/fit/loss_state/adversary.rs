//! The second model of a loss with an adversary: it scores the same draws, and moves up the loss's gradient.

use crate::fit::distributed::{all_reduce::all_reduce, batch_shard::BatchShard};
use crate::{Learning, Result, collective::Collective};
use embeddings::{Batch, RowGradients, Sampled, ScoreGradients, Vectors};
use losses::Adversary;
use models::{Init, Normal};
use optimizers::{Optimizer, Parameter, Stepper};

/// The tables of a loss's adversary, and what moves them.
pub(crate) struct AdversaryModel {
    adversary: Adversary,
    users: Parameter,
    items: Parameter,
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
    pub(crate) fn new(adversary: Adversary, learning: &Learning, [users, items]: [usize; 2]) -> Self {
        let tables = Init::Normal(Normal { std: 1.0 }).tables(users, items, adversary.dim, learning.seed ^ OTHER_SEED);
        Self {
            gradients: tables.both().map(|table| RowGradients::new(table.rows, table.dim)),
            stepper: Stepper::of_moving_rows(&learning.optimizer.with_learning_rate(adversary.learning_rate), 0),
            candidates: learning.candidates().unwrap_or(items),
            sampled: Sampled::default(),
            adversary,
            users: Parameter::new("adversary.users", tables.users),
            items: Parameter::new("adversary.items", tables.items),
        }
    }

    fn vectors(&self) -> Vectors<'_> {
        Vectors { users: &self.users.values, items: &self.items.values, similarity: self.adversary.similarity }
    }

    /// The scores of a batch's negatives, `[B, N]`. Its users have a vector each, also where the model has one for each row.
    pub(crate) fn score(&mut self, batch: Batch, negatives: usize, draw: impl Fn(usize, u32, &mut [u32]) + Sync) -> Vec<f32> {
        let batch = Batch::new(batch.users, batch.positives);
        let mut sampled = std::mem::take(&mut self.sampled);
        sampled.score(self.vectors(), batch, negatives, draw);
        self.sampled = sampled;
        self.sampled.scored().negatives
    }

    /// Moves it up, by the derivatives of the mean loss by its scores of this rank's rows of a batch, `[B, N]`.
    pub(crate) fn ascend(&mut self, collective: &Collective, batch: BatchShard, derivatives: &[f32]) -> Result<()> {
        self.find_gradients(batch.local, derivatives);
        let Self { users: of_users, items: of_items, stepper, gradients: [users, items], candidates, .. } = self;
        let rows = batch.whole.users.len();
        all_reduce(collective, "the gradient of the adversary's users", users, rows)?;
        all_reduce(collective, "the gradient of the adversary's items", items, rows * (1 + *candidates))?;
        stepper.move_all(of_users, users);
        stepper.move_all(of_items, items);
        stepper.finish_step();
        Ok(())
    }

    fn find_gradients(&mut self, batch: Batch, derivatives: &[f32]) {
        if batch.users.is_empty() {
            return self.gradients.iter_mut().for_each(RowGradients::clear);
        }
        let score_gradients = ScoreGradients {
            losses: vec![0.0; batch.users.len()],
            positives: vec![0.0; batch.positives.len()],
            negatives: derivatives.iter().map(|derivative| -derivative).collect(),
        };
        let batch = Batch::new(batch.users, batch.positives);
        let mut sampled = std::mem::take(&mut self.sampled);
        sampled.backward(self.vectors(), &score_gradients);
        let Self { users: of_users, items: of_items, gradients: [users, items], adversary, .. } = self;
        let vectors = Vectors { users: &of_users.values, items: &of_items.values, similarity: adversary.similarity };
        sampled.collect(vectors, batch, users, items);
        self.sampled = sampled;
        self.gradients.iter_mut().for_each(unmark_zeros);
    }

    /// Goes on after so many steps.
    pub(crate) fn restart(&mut self, optimizer: &Optimizer, steps: u64) {
        self.stepper = Stepper::of_moving_rows(&optimizer.with_learning_rate(self.adversary.learning_rate), steps);
    }

    /// Steps made.
    pub(crate) fn steps(&self) -> u64 {
        self.stepper.steps
    }

    /// The first place that is not finite.
    pub(crate) fn not_finite(&self) -> Option<String> {
        self.users.not_finite().or_else(|| self.items.not_finite())
    }

    /// Everything that the next epoch needs, by name.
    pub(crate) fn state(&mut self) -> impl Iterator<Item = (String, &mut [f32])> {
        self.users.state(false).chain(self.items.state(false))
    }
}

/// Takes the mark from rows that have no gradient: those of positives, which the adversary's loss has no term of, and of draws that were left aside.
fn unmark_zeros(gradients: &mut RowGradients) {
    let dim = gradients.dim();
    let (values, touched) = gradients.parts();
    for (row, touched) in values.chunks_exact(dim).zip(touched) {
        *touched = *touched && row.iter().any(|value| *value != 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learning(optimizer: &str) -> Learning {
        serde_json::from_value(serde_json::json!({
            "loss": {"adv-info-nce": {"temperature": 0.2, "adversary_dim": 4}},
            "sampler": {"uniform": {"negatives": 3}},
            "optimizer": {optimizer: {"learning_rate": 0.1}},
            "training": {"epochs": 1, "batch_size": 2, "evaluate_every": 1},
            "seed": 1,
        }))
        .unwrap()
    }

    /// As of a model of sequences, whose vectors are those of a batch's rows.
    #[test]
    fn users_have_their_own_vectors_where_the_model_has_those_of_rows() {
        let learning = learning("adam");
        let mut model = AdversaryModel::new(learning.loss.adversary().unwrap(), &learning, [3, 5]);
        let draw = |row: usize, _: u32, ids: &mut [u32]| ids.copy_from_slice(&[[0, 1, 2], [2, 3, 4]][row]);
        let (users, positives, before) = ([2, 0], [4, 1], model.users.values.clone());
        let of_users = model.score(Batch::new(&users, &positives), 3, draw);
        let of_rows = Batch { users: &users, queries: &[0, 1], positives: &positives };
        assert_eq!(model.score(of_rows, 3, draw), of_users);
        let alone = Collective::Single;
        model.ascend(&alone, BatchShard::new(&alone, of_rows), &[1.0; 6]).unwrap();
        let moved: Vec<bool> = (0..3).map(|user| model.users.values.row(user) != before.row(user)).collect();
        assert_eq!(moved, [true, false, true]);
    }

    /// Under an optimizer that moves rows with a gradient alone.
    #[test]
    fn rows_without_a_derivative_stay() {
        let learning = learning("lazy-adam");
        let mut model = AdversaryModel::new(learning.loss.adversary().unwrap(), &learning, [3, 5]);
        let draw = |row: usize, _: u32, ids: &mut [u32]| ids.copy_from_slice(&[[0, 1, 2], [2, 3, 4]][row]);
        let (alone, batch) = (Collective::Single, Batch::new(&[2, 0], &[4, 1]));
        let mut step = |derivatives: [f32; 6]| {
            model.score(batch, 3, draw);
            let before = [&model.users, &model.items].map(|table| table.values.clone());
            model.ascend(&alone, BatchShard::new(&alone, batch), &derivatives).unwrap();
            let moved = |table: &Parameter, before: &vectors::Matrix| {
                (0..before.rows).filter(|&row| table.values.row(row) != before.row(row)).collect::<Vec<usize>>()
            };
            [moved(&model.users, &before[0]), moved(&model.items, &before[1])]
        };
        assert_eq!(step([1.0; 6]), [vec![0, 2], vec![0, 1, 2, 3, 4]]);
        assert_eq!(step([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), [vec![2], vec![0, 1, 2]]);
    }
}
