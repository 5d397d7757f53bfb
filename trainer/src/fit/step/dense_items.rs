//! An epoch whose steps touch few users and most items: matrix factorisation with many negatives.
//!
//! The batch's users are brought up to date and scored with their draws from the whole item table; then they move alone, and each block of
//! items moves as soon as its gradients are known.

use crate::Result;
use crate::fit::{
    step::{
        batch_l2,
        batches::Batches,
        callback::StepCallback,
        loss_step::{Extra, LossStep},
    },
    step_id::StepId,
    train_state::TrainState,
};
use embeddings::{BUCKET, Batch, Sampled, Touched, Vectors};
use evaluator::Matrix;

/// The batch, the vectors of its users, and the buffers of scoring.
pub(crate) struct DenseItemStep {
    user_ids: Vec<u32>,
    positives: Vec<u32>,
    touched: Touched,
    users: Matrix,
    sampled: Sampled,
    /// How often each item stands in the batch, where that is asked for; else empty.
    counts: Vec<f32>,
}

impl DenseItemStep {
    pub(crate) fn new(dim: usize, drops_zeros: bool) -> Self {
        Self {
            user_ids: Vec::new(),
            positives: Vec::new(),
            touched: Touched::default(),
            users: Matrix { rows: 0, dim, values: Vec::new() },
            sampled: Sampled::new(drops_zeros),
            counts: Vec::new(),
        }
    }

    fn take(&mut self, batches: &Batches, at: StepId) {
        batches.fill(at, &mut self.user_ids, &mut self.positives);
        self.touched.find(&self.user_ids);
        self.users.rows = self.touched.rows.len();
        self.users.values.resize(self.users.rows * self.users.dim, 0.0);
    }

    /// Counts the batch's items, of so many.
    fn count(&mut self, items: usize) {
        self.counts.clear();
        self.counts.resize(items, 0.0);
        self.sampled.count(&mut self.counts);
    }
}

impl TrainState<'_> {
    /// Trains every pair once.
    pub(crate) fn dense_items_epoch(
        &mut self,
        epoch: u32,
        batches: &mut Batches,
        dense: &mut DenseItemStep,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        self.steps(epoch, batches, callback, |state, at, batches| {
            dense.take(batches, at);
            state.dense_items_step(at, batches, dense)
        })
    }

    /// One step of the optimizer; returns the sum of the rows' losses.
    fn dense_items_step(&mut self, at: StepId, batches: &Batches, dense: &mut DenseItemStep) -> Result<f64> {
        self.stepper.current(&dense.touched.rows, &self.parameters.users, &mut dense.users.values);
        let total = self.dense_items_gradients(at, batches, dense)?;
        self.check_loss(at, total)?;
        let l2 = self.batch_l2(dense.user_ids.len());
        if l2.is_some() {
            dense.count(self.parameters.items.values.rows);
        }
        let Self { stepper, parameters, learning, .. } = self;
        let DenseItemStep { touched, users, sampled, counts, .. } = &*dense;
        stepper.move_rows(&touched.rows, &users.values, &mut parameters.users, |k, gradient| {
            gradient.fill(0.0);
            for &row in touched.places(k) {
                gradient.iter_mut().zip(sampled.user_gradient(row as usize)).for_each(|(sum, part)| *sum += part);
            }
            batch_l2::add(l2, touched.places(k).len() as f32, users.row(k), gradient);
        });
        let similarity = learning.loss.similarity();
        stepper.move_blocks(&mut parameters.items, BUCKET, |bucket, rows, gradients, touched| {
            sampled.item_gradients(similarity, bucket, rows, gradients, touched);
            if let Some(weight) = l2 {
                batch_l2::add_bucket(weight, counts, bucket, rows, gradients, touched);
            }
        });
        stepper.finish_step();
        Ok(total)
    }

    /// Scores, derives the loss, and leaves the gradients of the mean loss with `sampled`; returns the sum of the losses.
    fn dense_items_gradients(&self, at: StepId, batches: &Batches, dense: &mut DenseItemStep) -> Result<f64> {
        let DenseItemStep { user_ids, positives, touched, users, sampled, .. } = dense;
        let vectors = Vectors { users, items: &self.parameters.items.values, similarity: self.learning.loss.similarity() };
        let batch = Batch::new(&touched.locals, positives);
        let count = self.learning.candidates().expect("items are drawn");
        let draw = |row: usize, _, ids: &mut [u32]| batches.draw(at.row(row), user_ids[row], ids);
        let loss_step = LossStep::new(&self.learning.loss, batches, at, user_ids, self.quantiles());
        match loss_step.fused() {
            Some(fused) => Ok(sampled.step(vectors, batch, count, draw, |row| loss_step.row(fused, row))),
            None => {
                sampled.score(vectors, batch, count, draw);
                Ok(sampled.backward(vectors, &loss_step.rows(sampled.scored(), Extra::default())?.scores))
            }
        }
    }
}
