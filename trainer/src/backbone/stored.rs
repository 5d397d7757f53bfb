//! What is stored of a model, and ranked: its size.

use super::kind::Sizes;
use dataset::Manifest;
use evaluator::rank::{WorkingSpace, rank_memory};

/// Bytes of a float.
const NUMBER: u64 = 4;

/// The size of a stored model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A vector of this length for each user and each item.
    Vectors {
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
}

impl Stored {
    /// Bytes of the model of a dataset.
    pub fn bytes(self, manifest: &Manifest) -> u64 {
        self.bytes_of(Sizes::stored(manifest))
    }

    /// Bytes that ranking so many held-out items takes beside the model and the dataset, with so much `memory` for it.
    pub fn ranking(self, manifest: &Manifest, held_out: usize, memory: usize) -> u64 {
        let space = match self {
            Self::Vectors { dim } | Self::Network { dim, .. } => WorkingSpace::Vectors { dim },
            Self::ItemWeights => WorkingSpace::Weights,
        };
        rank_memory(manifest.users, manifest.items, space, held_out, rayon::current_num_threads(), memory) as u64
    }

    /// Numbers of a vector, where the model has vectors.
    pub(crate) fn dim(self) -> Option<u64> {
        match self {
            Self::Vectors { dim } | Self::Network { dim, .. } => Some(dim as u64),
            Self::ItemWeights => None,
        }
    }

    fn bytes_of(self, sizes: Sizes) -> u64 {
        let Sizes { users, items, .. } = sizes;
        match self {
            Self::Vectors { dim } => (users + items) * dim as u64 * NUMBER,
            Self::Network { dim, weights } => ((users + items) * dim as u64 + weights as u64) * NUMBER,
            Self::ItemWeights => items * items * NUMBER,
        }
    }
}
