//! Steps of models whose pairs are scored by a network.

use crate::Result;
use crate::fit::{
    distributed::{all_reduce::all_reduce, batch_shard::BatchShard},
    step::{
        batches::Batches,
        callback::StepCallback,
        loss_step::{Extra, LossStep},
    },
    step_id::StepId,
    train_state::TrainState,
};
use embeddings::{Batch, RowGradients, Scored};
use models::{
    encoder::{TrainStep, Wanted},
    pairs::{PairGradients, ScoredPairs},
};
use rayon::prelude::*;
use std::collections::HashSet;

/// Users and positives of a batch, and the gradients of both tables.
pub(crate) struct PairRows {
    users: Vec<u32>,
    positives: Vec<u32>,
    gradients: [RowGradients; 2],
}

impl PairRows {
    /// Makes room for tables of so many users and items, with rows of `dim` numbers.
    pub(crate) fn new([users, items, dim]: [usize; 3]) -> Self {
        Self { users: Vec::new(), positives: Vec::new(), gradients: [users, items].map(|rows| RowGradients::new(rows, dim)) }
    }
}

/// What the rows of a rank give.
struct FoundGradients {
    /// The sum of their losses.
    total: f64,
    /// Those of the mean loss of the batch.
    gradients: PairGradients,
    /// The items that are in the loss, where a rule leaves drawn ones aside and rows without gradient stay.
    in_loss: Option<HashSet<u32>>,
}

impl TrainState<'_> {
    /// Trains every row once.
    pub(crate) fn pairs_epoch(
        &mut self,
        epoch: u32,
        batches: &mut Batches,
        pairs: &mut PairRows,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        self.steps(epoch, batches, callback, |state, at, batches| state.pairs_step(at, batches, pairs))
    }

    /// One step of the optimizer; returns the sum of the rows' losses.
    fn pairs_step(&mut self, at: StepId, batches: &Batches, pairs: &mut PairRows) -> Result<f64> {
        let PairRows { users, positives, gradients: [of_users, of_items] } = pairs;
        batches.fill(at, users, positives);
        let batch = BatchShard::new(&self.collective, Batch::new(users, positives));
        of_users.clear();
        of_items.clear();
        let found = if batch.is_empty() { None } else { Some(self.pair_gradients(at, batches, batch)?) };
        let total = found.as_ref().map_or(0.0, |found| found.total);
        if let Some(FoundGradients { gradients, in_loss, .. }) = &found {
            gradients.rows(0).for_each(|(row, gradient)| of_users.add(row, gradient));
            let is_in_loss = |item: usize| in_loss.as_ref().is_none_or(|items| items.contains(&(item as u32)));
            gradients.rows(1).filter(|(row, _)| is_in_loss(*row)).for_each(|(row, gradient)| of_items.add(row, gradient));
        }
        let count = self.learning.candidates().expect("items are drawn");
        let rows = batch.whole.users.len();
        all_reduce(&self.collective, "the gradient of the users", of_users, rows)?;
        all_reduce(&self.collective, "the gradient of the items", of_items, batch.whole.positives.len() + rows * count)?;
        let total = self.collective.total("the losses", total)?;
        self.check_loss(at, total)?;
        let Self { parameters, stepper, collective, .. } = self;
        stepper.move_all(&mut parameters.users, of_users);
        stepper.move_all(&mut parameters.items, of_items);
        let mut of_weights = found.map(|found| found.gradients.weights());
        for weights in &mut parameters.weights {
            let mut gradient = of_weights.as_mut().and_then(Iterator::next).unwrap_or_else(|| vec![0.0; weights.values.values.len()]);
            collective.sum(&weights.name, &mut gradient)?;
            stepper.move_by(weights, gradient);
        }
        stepper.finish_step();
        Ok(total)
    }

    /// Of this rank's rows.
    fn pair_gradients(&self, at: StepId, batches: &Batches, batch: BatchShard) -> Result<FoundGradients> {
        let network = self.network.as_deref().expect("the model has a network");
        let count = self.learning.candidates().expect("items are drawn");
        let Batch { users, positives, .. } = batch.local;
        let list = batch.local.list();
        let width = list + count;
        let mut ids = vec![0; users.len() * width];
        ids.par_chunks_exact_mut(width).zip(positives.par_chunks_exact(list)).zip(users).enumerate().for_each(
            |(row, ((ids, own), &user))| {
                ids[..list].copy_from_slice(own);
                batches.draw(at.row(batch.first + row), user, &mut ids[list..]);
            },
        );
        let of_pairs: Vec<u32> = users.iter().flat_map(|&user| std::iter::repeat_n(user, width)).collect();
        let step = TrainStep {
            epoch: at.epoch,
            step: at.step,
            users: batch.whole.users,
            positives: batch.whole.positives,
            wanted: Wanted::default(),
        };
        let scored_pairs = ScoredPairs::new(network, &self.parameters, [&of_pairs, &ids], batch.first * width, &step)?;
        let scores = scored_pairs.scores()?;
        let rows = || scores.chunks_exact(width).map(|row| row.split_at(list));
        let leaves_some_aside = self.learning.narrows() && !self.stepper.moves_all_rows();
        let items = leaves_some_aside.then(|| ids.clone());
        let scored = Scored {
            ids,
            positives: rows().flat_map(|(positives, _)| positives).copied().collect(),
            negatives: rows().flat_map(|(_, negatives)| negatives).copied().collect(),
        };
        let loss_step = LossStep::new(&self.learning.loss, batches, at, users, None).some(batch.first, batch.whole.users.len());
        let score_gradients = loss_step.rows(scored, Extra::default())?.scores;
        let of_rows = score_gradients.positives.chunks_exact(list).zip(score_gradients.negatives.chunks_exact(count));
        let derivatives: Vec<f32> = of_rows.flat_map(|(positives, negatives)| positives.iter().chain(negatives)).copied().collect();
        let total = score_gradients.losses.iter().map(|&loss| f64::from(loss)).sum();
        let in_loss = items.map(|items| {
            let places = items.into_iter().zip(&derivatives).enumerate();
            places.filter(|(place, (_, derivative))| place % width < list || **derivative != 0.0).map(|(_, (item, _))| item).collect()
        });
        Ok(FoundGradients { total, gradients: scored_pairs.backward(&derivatives)?, in_loss })
    }
}
