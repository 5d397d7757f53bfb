//! What models share that learn from whole users: batches of users in the order of an epoch.

use crate::sampler::{Purpose, Stream};
use dataset::Interactions;

/// The users that have train interactions, in batches.
pub(super) struct UserBatches {
    users: Vec<u32>,
    size: usize,
    seed: u64,
}

impl UserBatches {
    pub(super) fn new(train: &Interactions, size: u32, seed: u64) -> Self {
        let users = (0..train.users() as u32).filter(|&user| !train.row(user as usize).is_empty()).collect();
        Self { users, size: size as usize, seed }
    }

    /// Steps of an epoch.
    pub(super) fn steps(&self) -> u64 {
        self.users.len().div_ceil(self.size) as u64
    }

    /// Users of an epoch.
    pub(super) fn len(&self) -> usize {
        self.users.len()
    }

    /// The batches of an epoch (Fisher and Yates); users ascend within each.
    pub(super) fn of_epoch(&self, epoch: u32) -> Vec<Vec<u32>> {
        let mut order = self.users.clone();
        let mut stream = Stream::new(self.seed, Purpose::Order, epoch, 0, 0);
        for at in (1..order.len()).rev() {
            order.swap(at, stream.below(at as u32 + 1) as usize);
        }
        let mut batches: Vec<Vec<u32>> = order.chunks(self.size).map(<[u32]>::to_vec).collect();
        batches.iter_mut().for_each(|batch| batch.sort_unstable());
        batches
    }
}

/// Where the pairs of each item begin, and all pairs of a batch item by item: the user's place in the batch, and a number. `rows` are the items of each
/// user with their numbers.
pub(super) fn by_item<R: Iterator<Item = (u32, f32)>>(rows: impl Iterator<Item = R> + Clone, items: usize) -> (Vec<u32>, Vec<(u32, f32)>) {
    let mut starts = vec![0u32; items + 1];
    rows.clone().flatten().for_each(|(item, _)| starts[item as usize + 1] += 1);
    for item in 0..items {
        starts[item + 1] += starts[item];
    }
    let mut next = starts.clone();
    let mut pairs = vec![(0, 0.0); starts[items] as usize];
    for (place, row) in (0..).zip(rows) {
        for (item, number) in row {
            pairs[next[item as usize] as usize] = (place, number);
            next[item as usize] += 1;
        }
    }
    (starts, pairs)
}
