//! One pass over the train pairs.

use super::{formula, learner::Learner};
use crate::{
    Error, Loss, Result,
    loss::Fused,
    sampler::{Purpose, Stream},
    scoring::{Batch, Vectors},
};
use rayon::prelude::*;

impl Learner<'_> {
    /// Trains every pair once, in an order of the epoch's own; returns the mean loss.
    pub(super) fn train_epoch(&mut self, epoch: u32) -> Result<f64> {
        let order = shuffled(self.pairs.len() as u32, &mut Stream::new(self.learning.seed, Purpose::Order, epoch, 0, 0));
        let batch_size = self.learning.training.batch_size as usize;
        let (mut users, mut positives, mut total) = (Vec::new(), Vec::new(), 0.0);
        for (step, rows) in (1..).zip(order.chunks(batch_size)) {
            users.clear();
            users.extend(rows.iter().map(|&pair| self.pairs[pair as usize].0));
            positives.clear();
            positives.extend(rows.iter().map(|&pair| self.pairs[pair as usize].1));
            total += self.train_step(epoch, step, Batch { users: &users, positives: &positives })?;
        }
        Ok(total / self.pairs.len() as f64)
    }

    /// One step of the optimizer; returns the sum of the rows' losses.
    fn train_step(&mut self, epoch: u32, step: u32, batch: Batch) -> Result<f64> {
        self.encoder.encode(&self.parameters);
        let total = self.gradients(epoch, step, batch)?;
        if !total.is_finite() {
            let tensor = self.parameters.not_finite().unwrap_or_else(|| "the loss".to_owned());
            return Err(Error::NotFinite { epoch, step, tensor });
        }
        self.encoder.backward(&mut self.user_gradients, &mut self.item_gradients);
        self.steps += 1;
        let (optimizer, dim, tables) = (&self.learning.optimizer, self.parameters.users.dim, &mut self.parameters);
        optimizer.step(self.steps, dim, &mut tables.users.values, &mut self.user_moments, &self.user_gradients);
        optimizer.step(self.steps, dim, &mut tables.items.values, &mut self.item_moments, &self.item_gradients);
        Ok(total)
    }

    /// Gradients of the mean loss of a batch by the vectors; returns the sum of the rows' losses.
    fn gradients(&mut self, epoch: u32, step: u32, batch: Batch) -> Result<f64> {
        let Self { learning, dataset, parameters, encoder, negatives, quantiles, sampled, catalogue, .. } = self;
        let tables = encoder.vectors(parameters);
        let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: learning.loss.similarity() };
        let gradients = (&mut self.user_gradients, &mut self.item_gradients);
        let scale = 1.0 / batch.users.len() as f32;
        let quantiles: Option<Vec<f32>> =
            quantiles.as_ref().map(|quantiles| batch.users.iter().map(|&user| quantiles.values[user as usize]).collect());
        let quantiles = quantiles.as_deref();
        let draw = |row: usize, user: u32, ids: &mut [u32]| {
            let mut stream = Stream::new(learning.seed, Purpose::Negatives, epoch, step, row as u32);
            negatives.draw(&mut stream, user, ids, None);
        };
        match (learning.sampler.negatives(), learning.loss.fused()) {
            (None, fused) => {
                let weigh = |first: usize, positives: &mut [f32], scores: &mut [f32]| {
                    let quantiles = quantiles.map(|quantiles| &quantiles[first..first + positives.len()]);
                    weigh_block(&learning.loss, fused, positives, scores, quantiles, scale)
                };
                catalogue.step((vectors, batch, &dataset.train), weigh, gradients)
            }
            (Some(count), Some(fused)) => {
                let weigh = |row: usize, positive: &mut f32, negatives: &mut [f32]| {
                    weigh_row(fused, positive, negatives, quantiles.map_or(0.0, |quantiles| quantiles[row]), scale)
                };
                Ok(sampled.step((vectors, batch, count), draw, weigh, gradients))
            }
            (Some(count), None) => {
                sampled.score(vectors, batch, count, draw);
                let (positives, negatives) = sampled.scores();
                let weighed = formula::weigh(&learning.loss, &positives, &negatives, quantiles, scale)?;
                Ok(sampled.backward(vectors, &weighed, gradients, batch))
            }
        }
    }
}

/// One row by its fused loss: scores to scaled derivatives, in place.
fn weigh_row(fused: Fused, positive: &mut f32, negatives: &mut [f32], quantile: f32, scale: f32) -> f32 {
    let (loss, derivative) = fused.row(*positive, negatives, quantile);
    *positive = derivative * scale;
    for weight in negatives {
        *weight *= scale;
    }
    loss
}

/// Rows with all items, by the fused loss or the formula: scores to scaled derivatives, in place; returns the sum of the losses.
fn weigh_block(
    loss: &Loss,
    fused: Option<Fused>,
    positives: &mut [f32],
    scores: &mut [f32],
    quantiles: Option<&[f32]>,
    scale: f32,
) -> Result<f64> {
    let losses = match fused {
        Some(fused) => {
            let rows = scores.par_chunks_exact_mut(scores.len() / positives.len()).zip(positives).enumerate();
            rows.map(|(row, (scores, positive))| {
                weigh_row(fused, positive, scores, quantiles.map_or(0.0, |quantiles| quantiles[row]), scale)
            })
            .collect()
        }
        None => {
            let weighed = formula::weigh(loss, positives, scores, quantiles, scale)?;
            positives.copy_from_slice(&weighed.positives);
            scores.copy_from_slice(&weighed.negatives);
            weighed.losses
        }
    };
    Ok(losses.iter().map(|&loss: &f32| f64::from(loss)).sum())
}

/// 0, 1, ... below `count` in a random order (Fisher and Yates).
fn shuffled(count: u32, stream: &mut Stream) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at as usize, stream.below(at + 1) as usize);
    }
    order
}
