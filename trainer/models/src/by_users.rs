//! What models share that learn from whole users: batches of users in the order of an epoch.

use dataset::Interactions;
use streams::{Purpose, Stream};

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

/// Items of a user with a number each, or users of an item.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbered {
    pub(super) ids: Vec<u32>,
    pub(super) numbers: Vec<f32>,
}

impl Numbered {
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f32)> {
        self.ids.iter().copied().zip(self.numbers.iter().copied())
    }
}

/// The pairs of a batch, item by item.
pub(super) struct ByItem {
    /// Where the pairs of each item begin.
    starts: Vec<u32>,
    /// The users' places in the batch, with the pairs' numbers.
    pairs: Numbered,
}

impl ByItem {
    /// Sorts the pairs of the users' rows by item, of so many items in all.
    pub(super) fn new(rows: &[Numbered], items: usize) -> Self {
        let mut starts = vec![0u32; items + 1];
        rows.iter().flat_map(|row| &row.ids).for_each(|&item| starts[item as usize + 1] += 1);
        for item in 0..items {
            starts[item + 1] += starts[item];
        }
        let (mut next, count) = (starts.clone(), starts[items] as usize);
        let mut pairs = Numbered { ids: vec![0; count], numbers: vec![0.0; count] };
        for (place, row) in (0..).zip(rows) {
            for (item, number) in row.iter() {
                let at = next[item as usize] as usize;
                (pairs.ids[at], pairs.numbers[at]) = (place, number);
                next[item as usize] += 1;
            }
        }
        Self { starts, pairs }
    }

    /// The users' places of an item, and the numbers.
    pub(super) fn of(&self, item: usize) -> (&[u32], &[f32]) {
        let range = self.starts[item] as usize..self.starts[item + 1] as usize;
        (&self.pairs.ids[range.clone()], &self.pairs.numbers[range])
    }
}
