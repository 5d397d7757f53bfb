//! What a dataset takes in memory.

use crate::Manifest;

/// An id as a string: its place in the list and a block of the allocator.
const ID: u64 = 24 + 32;
/// Bytes of an interaction's item, and of its place where order is asked for; `OFFSET` is the start of a row.
const ITEM: u64 = 4;
const OFFSET: u64 = 8;

impl Manifest {
    /// Bytes of the dataset in memory. Where the split holds users out, what training sees stands beside it, and what is known of each user.
    pub fn memory(&self) -> u64 {
        let (copies, folded) = self.fold_in.map_or((1, 0), |folded| (2, folded));
        let interactions = copies * (self.train + folded) + self.validation + self.test;
        let rows = (3 + 5 * (copies - 1)) * (self.users + 1);
        ID * (copies * (self.users + self.items)) as u64 + ITEM * interactions as u64 + OFFSET * rows as u64
    }

    /// Bytes of the order in which interactions came, and of the largest table's as it is decoded.
    pub fn order_memory(&self) -> u64 {
        ITEM * (2 * (self.train + self.fold_in.unwrap_or_default()) + self.validation + self.test) as u64
    }

    /// Bytes that reading it takes at its peak: the dataset, and the largest table as it is stored and decoded.
    pub fn reading_memory(&self) -> u64 {
        let stored = self.files.values().map(|file| file.bytes).max().unwrap_or_default();
        self.memory() + stored + 2 * ITEM * self.train as u64 + OFFSET * self.users as u64
    }
}
