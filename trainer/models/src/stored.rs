//! What is stored of a model, and ranked: its size.

use super::Sizes;
use dataset::{Location, Manifest};
use evaluator::rank::{WorkingSpace, rank_memory};

/// Bytes of a float, and of an id.
pub(super) const FLOAT: u64 = 4;
/// Bytes of where a sparse row starts.
const START: u64 = 8;
/// More than any machine holds, and few enough to reckon with.
const MOST_ENTRIES: u64 = 1 << 56;

/// The size of a stored model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A vector of this length for each user and each item.
    Vectors {
        /// Numbers of a vector.
        dim: usize,
    },
    /// A vector of this length for each item, and two for each user: of its history before validation and before test.
    Histories {
        /// Numbers of a vector.
        dim: usize,
    },
    /// Vectors of this length for users and items, and a small network that scores a pair of them.
    Network {
        /// Numbers of a vector.
        dim: usize,
        /// Numbers of the network's layers.
        weights: usize,
    },
    /// A weight from each item to each item.
    ItemWeights,
    /// A weight to each item from at most so many others.
    NearestItems {
        /// Weights to an item.
        neighbours: u32,
    },
    /// A weight to each user from at most so many others.
    NearestUsers {
        /// Weights to a user.
        neighbours: u32,
    },
    /// A weight to each item from items that users have together with it.
    ItemsTogether,
    /// Top-N lists with so many entries in all.
    Lists {
        /// Items of all lists.
        entries: u64,
    },
}

impl Stored {
    /// Bytes of the model of a dataset: an upper bound for nearest rows, a guess for items that users have together.
    pub fn bytes(self, manifest: &Manifest) -> u64 {
        self.bytes_of(Sizes::stored(manifest))
    }

    /// Bytes that ranking so many held-out items takes beside the model and the dataset, with so much `memory` for it.
    pub fn ranking(self, manifest: &Manifest, held_out: usize, memory: usize) -> u64 {
        let space = match self {
            Self::Vectors { dim } | Self::Histories { dim } => WorkingSpace::Vectors { dim },
            Self::Network { dim, .. } => WorkingSpace::Pairs { dim },
            Self::ItemWeights | Self::Lists { .. } => WorkingSpace::Weights,
            Self::NearestItems { .. } | Self::NearestUsers { .. } | Self::ItemsTogether => WorkingSpace::SparseWeights,
        };
        rank_memory(manifest.users, manifest.items, space, held_out, rayon::current_num_threads(), memory) as u64
    }

    /// Numbers of a vector, where the model has vectors.
    pub fn dim(self) -> Option<u64> {
        match self {
            Self::Vectors { dim } | Self::Histories { dim } | Self::Network { dim, .. } => Some(dim as u64),
            Self::ItemWeights | Self::NearestItems { .. } | Self::NearestUsers { .. } | Self::ItemsTogether | Self::Lists { .. } => None,
        }
    }

    /// Bytes when a fit is over: the model, and either what ranks the validation part or, after that, what writes the model's file.
    pub fn fitted(self, sizes: Sizes, ranking: u64) -> u64 {
        let model = self.bytes_of(sizes);
        model + ranking.max(Location::memory_to_write(model))
    }

    fn bytes_of(self, sizes: Sizes) -> u64 {
        let Sizes { users, items, .. } = sizes;
        let sparse = |rows: u64, neighbours: u64| entries(rows, neighbours) * 2 * FLOAT + (rows + 1) * START;
        match self {
            Self::Vectors { dim } => (users + items) * dim as u64 * FLOAT,
            Self::Histories { dim } => (2 * users + items) * dim as u64 * FLOAT,
            Self::Network { dim, weights } => ((users + items) * dim as u64 + weights as u64) * FLOAT,
            Self::ItemWeights => items * items * FLOAT,
            Self::NearestItems { neighbours } => sparse(items, u64::from(neighbours)),
            Self::NearestUsers { neighbours } => sparse(users, u64::from(neighbours)),
            Self::ItemsTogether => sparse(items, sizes.weighed_items()),
            // Of an entry its item and a score of 64 bits.
            Self::Lists { entries } => entries.min(MOST_ENTRIES) * 3 * FLOAT + (users + 1) * START,
        }
    }
}

/// Entries of a square sparse table of so many rows, with at most so many in each.
pub(super) fn entries(rows: u64, of_row: u64) -> u64 {
    rows.saturating_mul(of_row.min(rows)).min(MOST_ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_models_take_eight_bytes_a_weight_and_a_row() {
        let sizes = Sizes { users: 50, items: 30, train: 300, batch: 0, positives: 0 };
        assert_eq!(Stored::NearestItems { neighbours: 7 }.bytes_of(sizes), 30 * 7 * 8 + 31 * 8);
        assert_eq!(Stored::NearestItems { neighbours: 100 }.bytes_of(sizes), 30 * 30 * 8 + 31 * 8);
        assert_eq!(Stored::NearestUsers { neighbours: 7 }.bytes_of(sizes), 50 * 7 * 8 + 51 * 8);
        let many = Sizes { users: 1 << 31, ..sizes };
        assert_eq!(Stored::NearestUsers { neighbours: u32::MAX }.bytes_of(many), (1 << 59) + (1 << 34) + 8);
        // Items have 6 users of 10 items each in the mean.
        assert_eq!(
            Stored::ItemsTogether.bytes_of(Sizes { items: 3_000, users: 1_800, train: 18_000, batch: 0, positives: 0 }),
            3_000 * 30 * 8 + 3_001 * 8
        );
        assert_eq!(Stored::NearestUsers { neighbours: 7 }.fitted(sizes, 10_000), 50 * 7 * 8 + 51 * 8 + 10_000);
    }
}
