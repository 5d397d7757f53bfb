//! node2vec: DeepWalk on walks that weigh going back.
//!
//! ```text
//! P(x | t, v) proportional to 1 / p for x = t, else 1 / q        from t to v to a neighbour x of v
//! ```
//! On a graph of users and items no neighbour of v is one of t, so that only q / p matters: above 1 walks turn back more often than uniform ones, below 1
//! less often. With p = q it is `deep-walk`, to the bit. An epoch is one walk from each node. Grover and Leskovec, KDD 2016.

use super::{
    BackboneKind, Epochs, Facts, Sizes, Stored,
    deep_walk::{exponent, learning_rate, negatives, walk_length, walks_per_node, window},
    kind::Iterative,
    limits::check_dim,
    walks::{ItemVectors, Walks},
};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// Values further from 1 are taken for a slip.
const LARGEST: f64 = 1e6;

/// `node2vec` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node2Vec {
    /// Length of a vector.
    pub dim: u32,
    /// Return: 1 / p is the weight of going back.
    #[serde(default = "one")]
    pub p: f64,
    /// In-out: 1 / q is the weight of going on.
    #[serde(default = "one")]
    pub q: f64,
    /// Nodes of a walk.
    #[serde(default = "walk_length")]
    pub walk_length: u32,
    /// Epochs over which the learning rate falls, each of which walks once from each node; further epochs keep its floor.
    #[serde(default = "walks_per_node")]
    pub walks_per_node: u32,
    /// Places between two nodes of a pair at most.
    #[serde(default = "window")]
    pub window: u32,
    /// Negatives of a pair.
    #[serde(default = "negatives")]
    pub negatives: u32,
    /// Power of the degrees that negatives are drawn by.
    #[serde(default = "exponent")]
    pub exponent: f64,
    /// Learning rate at the start.
    #[serde(default = "learning_rate")]
    pub learning_rate: f64,
    /// Which vectors items are ranked by.
    #[serde(default, skip_serializing_if = "ItemVectors::is_input")]
    pub item_vectors: ItemVectors,
}

fn one() -> f64 {
    1.0
}

impl Node2Vec {
    fn walks(&self) -> Walks {
        let Self { dim, p, q, walk_length, walks_per_node, window, negatives, exponent, learning_rate, item_vectors } = *self;
        Walks { dim, walk_length, walks_per_node, window, negatives, exponent, learning_rate, item_vectors, back: q / p }
    }
}

impl BackboneKind for Node2Vec {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Grover and Leskovec 2016",
            cost: "of each node of a walk 3 (1 + negatives) (1 + window) d multiplications",
            unknown_user: "by the vector that it began with, as no walk comes to it: in random order",
            values: "paper: `walk_length` 80, `walks_per_node` 10, `window` 10, `dim` 128, `p` and `q` of 0.25 to 4",
        }
    }

    fn check(&self) -> Result<(), String> {
        for (key, value) in [("p", self.p), ("q", self.q)] {
            if !(1.0 / LARGEST..=LARGEST).contains(&value) {
                return Err(format!("{key} is {value}, expected a number from {} to {LARGEST}", 1.0 / LARGEST));
            }
        }
        check_dim(self.dim)?;
        self.walks().check()
    }

    /// 1 since a block has few pairs of any one node.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }
}

impl Iterative for Node2Vec {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> crate::Result<Box<dyn Epochs + 'd>> {
        self.walks().start("node2vec", dataset, seed)
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        self.walks().memory(sizes, ranking)
    }
}
