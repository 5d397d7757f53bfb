//! One pass over the train pairs.

use super::{
    batches::Batches,
    draws::Draws,
    formula::{self, Rows},
    learner::Learner,
    path::{Path, Whole},
};
use crate::{
    Error, Loss, Result,
    backbone::Wanted,
    loss::Fused,
    scoring::{Batch, Vectors},
};
use rayon::prelude::*;

impl Learner<'_> {
    /// Trains every pair once, in an order of the epoch's own; returns the mean loss.
    pub(super) fn train_epoch(&mut self, epoch: u32) -> Result<f64> {
        let (mut batches, mut path) = self.work.take().expect("an epoch puts it back");
        batches.shuffle(epoch);
        let total = match &mut path {
            Path::Few(few) => self.few_epoch(epoch, &batches, few),
            Path::Many(many) => self.many_epoch(epoch, &batches, many),
            Path::Whole(whole) => self.whole_epoch(epoch, &batches, whole),
        };
        self.stepper.catch_up([(&mut self.parameters.users, &mut self.user_moments), (&mut self.parameters.items, &mut self.item_moments)]);
        let mean = total? / batches.len() as f64;
        self.work = Some((batches, path));
        Ok(mean)
    }

    fn whole_epoch(&mut self, epoch: u32, batches: &Batches, whole: &mut Whole) -> Result<f64> {
        let ahead = self.draws_ahead();
        let (mut users, mut items, mut total) = (Vec::new(), Vec::new(), 0.0); // items: positives [B], then negatives [B * N] drawn ahead
        for step in 1..=batches.steps() {
            users.clear();
            users.extend(batches.pairs(step).map(|(user, _)| user));
            items.clear();
            items.extend(batches.pairs(step).map(|(_, positive)| positive));
            let size = users.len();
            let draw = |row: usize, user: u32, ids: &mut [u32]| batches.draw((epoch, step, row), user, ids);
            let draws = batches.draws((epoch, step));
            total += match ahead {
                Some(count) => {
                    items.resize(size * (1 + count), 0);
                    let rows = items[size..].par_chunks_exact_mut(count).zip(&users).enumerate();
                    rows.for_each(|(row, (ids, &user))| draw(row, user, ids));
                    let drawn = |row: usize, _: u32, ids: &mut [u32]| ids.copy_from_slice(&items[size + row * count..][..count]);
                    let batch = Batch { users: &users, positives: &items[..size] };
                    self.whole_step((epoch, step), batch, Some(&items), (drawn, draws), whole)?
                }
                None => self.whole_step((epoch, step), Batch { users: &users, positives: &items }, None, (draw, draws), whole)?,
            };
        }
        Ok(total)
    }

    /// The negatives of a row, when a step draws so few that not every item's vector is wanted.
    fn draws_ahead(&self) -> Option<usize> {
        let count = self.learning.sampler.negatives()?;
        let batch = self.learning.training.batch_size as usize;
        (batch * (1 + count) < self.dataset.items()).then_some(count)
    }

    /// One step of the optimizer, which scores the wanted items; returns the sum of the rows' losses.
    fn whole_step(
        &mut self,
        at: (u32, u32),
        batch: Batch,
        items: Option<&[u32]>,
        draws: (impl Fn(usize, u32, &mut [u32]) + Sync, Option<Draws>),
        whole: &mut Whole,
    ) -> Result<f64> {
        self.encoder.encode(&self.parameters, Wanted { users: Some(batch.users), items });
        let total = self.gradients(batch, draws, whole)?;
        self.check_loss(at, total)?;
        self.encoder.backward(&mut whole.users, &mut whole.items);
        self.stepper.move_table(&mut self.parameters.users, &mut self.user_moments, &whole.users);
        self.stepper.move_table(&mut self.parameters.items, &mut self.item_moments, &whole.items);
        self.stepper.finish_step();
        Ok(total)
    }

    /// Stops a training whose loss is not a number.
    pub(super) fn check_loss(&self, (epoch, step): (u32, u32), total: f64) -> Result<()> {
        if total.is_finite() {
            return Ok(());
        }
        let tensor = self.parameters.not_finite().unwrap_or_else(|| "the loss".to_owned());
        Err(Error::NotFinite { epoch, step, tensor })
    }

    /// Gradients of the mean loss of a batch by the vectors; returns the sum of the rows' losses.
    fn gradients(
        &mut self,
        batch: Batch,
        (draw, draws): (impl Fn(usize, u32, &mut [u32]) + Sync, Option<Draws>),
        whole: &mut Whole,
    ) -> Result<f64> {
        let Self { learning, dataset, parameters, encoder, quantiles, .. } = self;
        let Whole { users, items, sampled, catalogue } = whole;
        let tables = encoder.vectors(parameters);
        let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: learning.loss.similarity() };
        let scale = 1.0 / batch.users.len() as f32;
        let quantiles: Option<Vec<f32>> =
            quantiles.as_ref().map(|quantiles| batch.users.iter().map(|&user| quantiles.values[user as usize]).collect());
        let quantiles = quantiles.as_deref();
        match (learning.sampler.negatives(), learning.loss.fused()) {
            (None, fused) => {
                let weigh = |first: usize, positives: &mut [f32], scores: &mut [f32]| {
                    let quantiles = quantiles.map(|quantiles| &quantiles[first..first + positives.len()]);
                    weigh_block(&learning.loss, fused, positives, scores, quantiles, scale)
                };
                catalogue.step((vectors, batch, &dataset.train), weigh, (users, items))
            }
            (Some(count), Some(fused)) => {
                let weigh = |row: usize, positive: &mut f32, negatives: &mut [f32]| {
                    weigh_row(fused, positive, negatives, quantiles.map_or(0.0, |quantiles| quantiles[row]), scale)
                };
                let total = sampled.step((vectors, batch, count), draw, weigh);
                sampled.collect(vectors, batch, users, items);
                Ok(total)
            }
            (Some(count), None) => {
                sampled.score(vectors, batch, count, draw);
                let (positives, negatives) = sampled.scores();
                let rows = Rows { positives: &positives, negatives: &negatives, quantiles, draws: draws.as_ref(), items: dataset.items() };
                let total = sampled.backward(vectors, &formula::weigh(&learning.loss, rows, scale)?);
                sampled.collect(vectors, batch, users, items);
                Ok(total)
            }
        }
    }
}

/// One row by its fused loss: scores to scaled derivatives, in place.
pub(super) fn weigh_row(fused: Fused, positive: &mut f32, negatives: &mut [f32], quantile: f32, scale: f32) -> f32 {
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
            let rows = Rows { positives, negatives: scores, quantiles, draws: None, items: scores.len() / positives.len() };
            let weighed = formula::weigh(loss, rows, scale)?;
            positives.copy_from_slice(&weighed.positives);
            scores.copy_from_slice(&weighed.negatives);
            weighed.losses
        }
    };
    Ok(losses.iter().map(|&loss: &f32| f64::from(loss)).sum())
}
