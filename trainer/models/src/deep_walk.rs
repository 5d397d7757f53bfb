//! DeepWalk: nodes that are near each other on uniform walks over the train graph get vectors that point the same way.
//!
//! ```text
//! walks: v_1, v_2, ...  v_(k+1) uniform over the neighbours of v_k
//! min of the sum over pairs (v, c) within a window of softplus(-x_v . y_c) + sum over K negatives n of softplus(x_v . y_n)        s(u, i) = x_u . x_i, or x_u . y_i
//! ```
//! x are the inputs, y the contexts, which are left behind unless `item_vectors` is `output`. An epoch is one walk from each node, and `walks_per_node` of them are a whole training;
//! defaults are those of node2vec's paper. The paper takes a hierarchical softmax; negatives, as here, are what later comparisons take.
//! `skip_gram/mod.rs` has how it learns. Perozzi et al., KDD 2014.

use super::{
    BackboneKind, Epochs, Facts, Sizes, Stored,
    kind::Iterative,
    limits::check_dim,
    walks::{ItemVectors, Walks},
};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `deep-walk` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeepWalk {
    /// Length of a vector.
    pub dim: u32,
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

pub(super) fn walk_length() -> u32 {
    80
}

pub(super) fn walks_per_node() -> u32 {
    10
}

pub(super) fn window() -> u32 {
    10
}

pub(super) fn negatives() -> u32 {
    5
}

pub(super) fn exponent() -> f64 {
    0.75
}

pub(super) fn learning_rate() -> f64 {
    0.025
}

impl DeepWalk {
    fn walks(&self) -> Walks {
        let Self { dim, walk_length, walks_per_node, window, negatives, exponent, learning_rate, item_vectors } = *self;
        Walks { dim, walk_length, walks_per_node, window, negatives, exponent, learning_rate, item_vectors, back: 1.0 }
    }
}

impl BackboneKind for DeepWalk {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Perozzi et al. 2014",
            cost: "of each node of a walk 3 (1 + negatives) (1 + window) d multiplications",
            unknown_user: "by the vector that it began with, as no walk comes to it: in random order",
            values: "paper: `walks_per_node` 80, `walk_length` 40, `window` 10, `dim` 128",
        }
    }

    fn check(&self) -> Result<(), String> {
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

impl Iterative for DeepWalk {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> crate::Result<Box<dyn Epochs + 'd>> {
        self.walks().start("deep-walk", dataset, seed)
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        self.walks().memory(sizes, ranking)
    }
}
