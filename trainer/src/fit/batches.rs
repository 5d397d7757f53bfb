//! Where the batches of an epoch come from: its order of the train pairs, and its draws.

use super::draws::Draws;
use crate::{
    Error, Learning, Result,
    sampler::{self, Purpose, Stream},
};
use dataset::{Dataset, Interactions};

/// The train pairs in the order of an epoch, and the sampler.
pub(super) struct Batches<'a> {
    seed: u64,
    batch_size: usize,
    train: &'a Interactions,
    negatives: sampler::Prepared<'a>,
    /// Negatives of a row, when the loss corrects for how they are drawn.
    corrected: Option<usize>,
    /// The user of each train interaction.
    users: Vec<u32>,
    /// Places of the train interactions.
    order: Vec<u32>,
}

impl<'a> Batches<'a> {
    pub(super) fn new(learning: &Learning, dataset: &'a Dataset) -> Result<Self> {
        let train = &dataset.train;
        let negatives = sampler::Prepared::new(&learning.sampler, train, dataset.items());
        Ok(Self {
            seed: learning.seed,
            batch_size: learning.training.batch_size as usize,
            train,
            negatives: negatives.map_err(|error| Error::Impossible(error.to_string()))?,
            corrected: learning.sampler.negatives().filter(|_| learning.loss.needs_log_probabilities()),
            users: train.pairs().map(|(user, _)| user).collect(),
            order: Vec::new(),
        })
    }

    /// Puts the pairs in the order of an epoch (Fisher and Yates).
    pub(super) fn shuffle(&mut self, epoch: u32) {
        let mut stream = Stream::new(self.seed, Purpose::Order, epoch, 0, 0);
        self.order.clear();
        self.order.extend(0..self.users.len() as u32);
        for at in (1..self.order.len()).rev() {
            self.order.swap(at, stream.below(at as u32 + 1) as usize);
        }
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.users.len()
    }

    /// Steps of an epoch.
    pub(super) fn steps(&self) -> u32 {
        self.users.len().div_ceil(self.batch_size) as u32
    }

    /// The (user, positive) pairs of a step, counted from 1.
    pub(super) fn pairs(&self, step: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
        let first = (step as usize - 1) * self.batch_size;
        let pairs = self.order[first..].iter().take(self.batch_size);
        pairs.map(|&pair| (self.users[pair as usize], self.train.items()[pair as usize]))
    }

    /// Draws the negatives of a row of a step.
    pub(super) fn draw(&self, (epoch, step, row): (u32, u32, usize), user: u32, ids: &mut [u32]) {
        self.negatives.draw(&mut self.stream(epoch, step, row), user, ids, None);
    }

    /// How probable the draws of a step are, for a loss that asks.
    pub(super) fn draws(&self, (epoch, step): (u32, u32)) -> Option<Draws> {
        let draws = |count: usize| {
            let pairs: Vec<(u32, u32)> = self.pairs(step).collect();
            Draws::new(&self.negatives, &pairs, count, |row| self.stream(epoch, step, row))
        };
        self.corrected.map(draws)
    }

    fn stream(&self, epoch: u32, step: u32, row: usize) -> Stream {
        Stream::new(self.seed, Purpose::Negatives, epoch, step, row as u32)
    }
}
