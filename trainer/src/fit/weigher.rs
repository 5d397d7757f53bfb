//! From the scores of a step's rows to the derivatives of its mean loss by them.

use super::{
    batches::Batches,
    formula::{self, Derivatives, Rows},
};
use crate::{
    Loss, Result,
    loss::Fused,
    scoring::{Row, Scored},
};
use rayon::prelude::*;

/// What the rows of a step are weighed by.
#[derive(Clone, Copy)]
pub(super) struct Weigher<'a> {
    pub(super) loss: &'a Loss,
    pub(super) batches: &'a Batches<'a>,
    /// `[B]`
    pub(super) users: &'a [u32],
    /// Of all users, for losses that have them.
    pub(super) quantiles: Option<&'a [f32]>,
}

/// What a loss is given beside scores, quantiles and draws.
#[derive(Clone, Copy, Default)]
pub(super) struct Extra<'a> {
    pub(super) phase: usize,
    pub(super) columns: &'a [Vec<f32>],
    pub(super) ranks: Option<[&'a [f32]; 2]>,
    pub(super) adversary: Option<&'a [f32]>,
    /// Of the negatives, of the users and of the positives.
    pub(super) relations: [Option<&'a [f32]>; 3],
}

impl Weigher<'_> {
    /// One row by the fused loss: scores to derivatives, in place; returns the row's loss.
    pub(super) fn row(&self, fused: Fused, row: Row) -> f32 {
        let user = self.users[row.at];
        self.batches.mask(user, row.ids, row.positives, row.negatives);
        let quantile = self.quantiles.map_or(0.0, |quantiles| quantiles[user as usize]);
        let (loss, derivative) = fused.row(row.positives[0], row.negatives, quantile);
        row.positives[0] = derivative * self.scale();
        row.negatives.iter_mut().for_each(|weight| *weight *= self.scale());
        loss
    }

    /// All rows of a step by the formula.
    pub(super) fn rows(&self, mut scored: Scored, extra: Extra) -> Result<Derivatives> {
        let (list, count) = (self.batches.list(), scored.negatives.len() / self.users.len());
        let rows = self.users.iter().zip(scored.ids.chunks_exact(list + count));
        for ((&user, ids), (positives, negatives)) in
            rows.zip(scored.positives.chunks_exact_mut(list).zip(scored.negatives.chunks_exact_mut(count)))
        {
            self.batches.mask(user, ids, positives, negatives);
        }
        let log_probabilities = self.loss.needs_log_probabilities().then(|| self.batches.log_probabilities(self.users, &scored.ids));
        let quantiles = self.quantiles_of(self.users);
        let rows = Rows {
            positives: &scored.positives,
            negatives: &scored.negatives,
            items: self.batches.items(),
            phase: extra.phase,
            quantiles: quantiles.as_deref(),
            log_probabilities: log_probabilities.as_ref().map(|[own, drawn]| [&own[..], &drawn[..]]),
            ranks: extra.ranks,
            columns: extra.columns,
            adversary: extra.adversary,
            relations: extra.relations,
            ..Rows::default()
        };
        formula::weigh(self.loss, rows, self.scale())
    }

    /// Some rows with all items: scores to derivatives, in place; returns the sum of the losses.
    pub(super) fn block(&self, first: usize, positives: &mut [f32], scores: &mut [f32]) -> Result<f64> {
        let list = self.batches.list();
        let users = &self.users[first..][..positives.len() / list];
        let count = scores.len() / users.len();
        let losses: Vec<f32> = match self.loss.fused() {
            Some(fused) => {
                let rows = scores.par_chunks_exact_mut(count).zip(positives.par_chunks_exact_mut(list)).enumerate();
                rows.map(|(at, (negatives, positives))| self.row(fused, Row { at: first + at, ids: &[], positives, negatives })).collect()
            }
            None => {
                for (&user, positives) in users.iter().zip(positives.chunks_exact_mut(list)) {
                    self.batches.mask(user, &[], positives, &mut []);
                }
                let quantiles = self.quantiles_of(users);
                let rows = Rows { positives, negatives: scores, items: count, quantiles: quantiles.as_deref(), ..Rows::default() };
                let weighed = formula::weigh(self.loss, rows, self.scale())?.scores;
                positives.copy_from_slice(&weighed.positives);
                scores.copy_from_slice(&weighed.negatives);
                weighed.losses
            }
        };
        Ok(losses.iter().map(|&loss| f64::from(loss)).sum())
    }

    /// What every derivative is multiplied by: a step's loss is the mean of its rows'.
    pub(super) fn scale(&self) -> f32 {
        1.0 / self.users.len() as f32
    }

    fn quantiles_of(&self, users: &[u32]) -> Option<Vec<f32>> {
        self.quantiles.map(|quantiles| users.iter().map(|&user| quantiles[user as usize]).collect())
    }
}
