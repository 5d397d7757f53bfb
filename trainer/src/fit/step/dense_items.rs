//! An epoch whose steps touch few users and most items: matrix factorisation with many negatives.
//!
//! The batch's users are brought up to date and scored with their draws from the whole item table; then they move alone, and each block of
//! items moves as soon as its gradients are known.

use crate::Result;
use crate::fit::{
    learner::Learner,
    step::{
        batch_l2,
        batches::Batches,
        loss_step::{Extra, LossStep},
    },
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

    fn take(&mut self, batches: &Batches, at: (u32, u32)) {
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

impl Learner<'_> {
    /// Trains every pair once.
    pub(crate) fn many_epoch(&mut self, epoch: u32, batches: &mut Batches, many: &mut DenseItemStep) -> Result<()> {
        self.steps(epoch, batches, |learner, at, batches| {
            many.take(batches, at);
            learner.many_step(at, batches, many)
        })
    }

    /// One step of the optimizer; returns the sum of the rows' losses.
    fn many_step(&mut self, at: (u32, u32), batches: &Batches, many: &mut DenseItemStep) -> Result<f64> {
        self.stepper.current(&many.touched.rows, &self.parameters.users, &mut many.users.values);
        let total = self.many_gradients(at, batches, many)?;
        self.check_loss(at, total)?;
        let l2 = self.batch_l2(many.user_ids.len());
        if l2.is_some() {
            many.count(self.parameters.items.values.rows);
        }
        let Self { stepper, parameters, learning, .. } = self;
        let DenseItemStep { touched, users, sampled, counts, .. } = &*many;
        stepper.move_rows(&touched.rows, &users.values, &mut parameters.users, |k, gradient| {
            gradient.fill(0.0);
            for &row in touched.places(k) {
                gradient.iter_mut().zip(sampled.user_gradient(row as usize)).for_each(|(sum, part)| *sum += part);
            }
            batch_l2::add(l2, touched.places(k).len() as f32, users.row(k), gradient);
        });
        let similarity = learning.loss.similarity();
        stepper.move_blocks(&mut parameters.items, BUCKET, |bucket, rows, gradients, touched| {
            sampled.item_gradients(similarity, bucket, rows, (&mut *gradients, &mut *touched));
            if let Some(weight) = l2 {
                batch_l2::add_bucket(weight, counts, bucket, rows, (gradients, touched));
            }
        });
        stepper.finish_step();
        Ok(total)
    }

    /// Scores, weighs, and leaves the gradients of the mean loss with `sampled`; returns the sum of the losses.
    fn many_gradients(&self, (epoch, step): (u32, u32), batches: &Batches, many: &mut DenseItemStep) -> Result<f64> {
        let DenseItemStep { user_ids, positives, touched, users, sampled, .. } = many;
        let vectors = Vectors { users, items: &self.parameters.items.values, similarity: self.learning.loss.similarity() };
        let batch = Batch::new(&touched.locals, positives);
        let count = self.learning.candidates().expect("items are drawn");
        let draw = |row: usize, _, ids: &mut [u32]| batches.draw((epoch, step, row), user_ids[row], ids);
        let weigher = LossStep::new(&self.learning.loss, batches, (epoch, step), user_ids, self.quantiles());
        match weigher.fused() {
            Some(fused) => Ok(sampled.step((vectors, batch, count), draw, |row| weigher.row(fused, row))),
            None => {
                sampled.score(vectors, batch, count, draw);
                Ok(sampled.backward(vectors, &weigher.rows(sampled.scored(), Extra::default())?.scores))
            }
        }
    }
}
