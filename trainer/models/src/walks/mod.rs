//! Skip-gram on walks over the train graph, for models that differ in how they walk.
//!
//! ```text
//! pairs of a walk: (node at i, node at j) for 0 < |i - j| <= w_j        w_j uniform in 1..=window, as in word2vec
//! ```
//! An epoch is a walk from each node that has an edge, in an order of its own. A piece is a walk, and a group all pairs of a place j, whose node is
//! the positive. Walks, widths and negatives are keyed by epoch and first node.

mod graph;
#[cfg(test)]
mod tests;

pub(super) use graph::Bipartite;

use super::{
    Epochs, Sizes,
    skip_gram::{self, Contexts, Decay, Embedding, NoiseLaw, Piece, PieceSize, Source},
};
use crate::{Error, Result};
use dataset::Dataset;
use serde::{Deserialize, Serialize};
use streams::{Purpose, Stream};

/// Longer walks are taken for a slip.
const LONGEST_WALK: u32 = 1_000;

/// Which vectors items are ranked by, after those of users as inputs: `item_vectors` of [`super::DeepWalk`] and [`super::Node2Vec`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ItemVectors {
    /// Those as inputs, as the papers take them: near are nodes that have neighbours in common.
    #[default]
    Input,
    /// Those as outputs, the contexts that the loss holds against inputs: near are nodes that walks meet together, and items that they meet often.
    Output,
}

impl ItemVectors {
    /// A trial is named as before there was a choice.
    pub(super) fn is_input(&self) -> bool {
        *self == Self::Input
    }

    fn contexts(self) -> Contexts {
        match self {
            Self::Input => Contexts::Aside,
            Self::Output => Contexts::OfItems,
        }
    }
}

/// What models on walks have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Walks {
    pub(super) dim: u32,
    pub(super) walk_length: u32,
    pub(super) walks_per_node: u32,
    pub(super) window: u32,
    pub(super) negatives: u32,
    pub(super) exponent: f64,
    pub(super) learning_rate: f64,
    pub(super) item_vectors: ItemVectors,
    /// The weight of going back over that of going on: q / p.
    pub(super) back: f64,
}

impl Walks {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { walk_length, walks_per_node, window, .. } = *self;
        if !(2..=LONGEST_WALK).contains(&walk_length) {
            return Err(format!("walk_length is {walk_length}, expected 2 to {LONGEST_WALK} nodes"));
        }
        if !(1..walk_length).contains(&window) {
            return Err(format!("window is {window}, expected 1 to {}, as a walk has {walk_length} nodes", walk_length - 1));
        }
        if walks_per_node == 0 {
            return Err("walks_per_node is 0, expected at least 1".to_owned());
        }
        skip_gram::check(self.negatives, self.exponent, self.learning_rate)
    }

    /// The model before its first epoch, `kind` being its name.
    pub(super) fn start<'d>(&self, kind: &str, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>> {
        if dataset.train.is_empty() {
            return Err(Error::Impossible(format!("{kind}: there are no train interactions to walk along")));
        }
        let decay = Decay { learning_rate: self.learning_rate, epochs: self.walks_per_node };
        let corpus = Corpus::new(self, dataset, seed);
        Ok(Box::new(Embedding::new(dataset, seed, self.dim, corpus, decay, self.item_vectors.contexts())))
    }

    /// Bytes of a training at its peak.
    pub(super) fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        skip_gram::memory(sizes, ranking, self.dim, self.item_vectors.contexts(), self.size())
    }

    /// The mean width is half of the window and half a place, on either side.
    fn size(&self) -> PieceSize {
        let (length, of_group) = (self.walk_length as usize, 1 + self.negatives as usize);
        PieceSize { rows: length * (1 + of_group), pairs: length * (self.window as usize + 1), of_one_node: 0.0 }
    }
}

/// Walks from all nodes.
struct Corpus<'d> {
    settings: Walks,
    seed: u64,
    graph: Bipartite<'d>,
    noise: NoiseLaw,
    /// The nodes with an edge, in the order of an epoch.
    starts: Vec<u32>,
}

impl<'d> Corpus<'d> {
    fn new(settings: &Walks, dataset: &'d Dataset, seed: u64) -> Self {
        let graph = Bipartite::new(&dataset.train, dataset.items());
        let noise = NoiseLaw::new(0, (0..graph.nodes()).map(|node| graph.degree(node)), settings.exponent);
        Self { settings: *settings, seed, graph, noise, starts: Vec::new() }
    }
}

impl Source for Corpus<'_> {
    /// Puts the first nodes in the order of the epoch (Fisher and Yates).
    fn begin(&mut self, epoch: u32) {
        let Self { graph, starts, .. } = self;
        starts.clear();
        starts.extend((0..graph.nodes()).filter(|&node| graph.degree(node) > 0).map(|node| node as u32));
        let mut stream = Stream::new(self.seed, Purpose::Order, epoch, 0, 0);
        for at in (1..starts.len()).rev() {
            starts.swap(at, stream.below(at as u32 + 1) as usize);
        }
    }

    fn pieces(&self) -> usize {
        self.starts.len()
    }

    fn piece(&self, epoch: u32, at: usize) -> Piece {
        let (Walks { window, walk_length, negatives, back, .. }, start) = (self.settings, self.starts[at]);
        let walk = self.graph.walk(start, walk_length as usize, back, &mut Stream::new(self.seed, Purpose::Walks, epoch, 0, start));
        let mut stream = Stream::new(self.seed, Purpose::Negatives, epoch, 0, start);
        let contexts = self.graph.nodes() as u32;
        let mut piece = Piece::new(walk.clone(), negatives);
        for (at, node) in (0..walk_length).zip(walk) {
            let width = 1 + stream.below(window);
            let beside = (at.saturating_sub(width)..walk_length.min(at + width + 1)).filter(|&other| other != at);
            piece.add(beside, contexts + node, || contexts + self.noise.draw(&mut stream));
        }
        piece
    }

    /// A walk is at a node as often as the node is an end of an edge.
    fn size(&self) -> PieceSize {
        let degrees = (0..self.graph.nodes()).map(|node| self.graph.degree(node));
        let (most, all) = degrees.fold((0, 0), |(most, all), degree| (degree.max(most), all + degree));
        let size = self.settings.size();
        PieceSize { of_one_node: size.pairs as f64 * most as f64 / all.max(1) as f64, ..size }
    }
}
