//! What the memory and the time of a model follow from.

use dataset::{Dataset, Manifest};

/// The users, items and train interactions of a dataset, and the rows of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Users.
    pub users: u64,
    /// Items.
    pub items: u64,
    /// Train interactions.
    pub train: u64,
    /// 0 for models without batches.
    pub batch: u64,
    /// The positives of all rows of a batch.
    pub positives: u64,
}

impl Sizes {
    /// The sizes of a dataset that is read, without batches.
    pub fn of(dataset: &Dataset) -> Self {
        Self { users: dataset.users() as u64, items: dataset.items() as u64, train: dataset.train.len() as u64, batch: 0, positives: 0 }
    }

    /// The sizes of a dataset on storage, without batches.
    pub fn stored(manifest: &Manifest) -> Self {
        Self { users: manifest.users as u64, items: manifest.items as u64, train: manifest.train as u64, batch: 0, positives: 0 }
    }

    /// Items that users have together with an item, about: twice as many as its users would have in all, were all histories of one length.
    pub fn met_items(self) -> u64 {
        let of_one_length = self.train as f64 * self.train as f64 / (self.users.max(1) as f64 * self.items.max(1) as f64);
        ((2.0 * of_one_length).ceil() as u64).min(self.items)
    }

    /// Items that have a weight to an item, about: one in four of those that users have together with it.
    pub fn weighed_items(self) -> u64 {
        self.met_items().div_ceil(4)
    }
}
