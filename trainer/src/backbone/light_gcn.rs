//! LightGCN: matrix factorisation whose vectors are propagated over the train graph.
//!
//! ```text
//! P = (E + A E + ... + A^L E) / (L + 1)        s(u, i) = similarity(P_u, P_i)
//! ```
//! A is the symmetrically normalised adjacency without self-loops. The original uses 3 layers; paper 001 uses 2. Weight decay falls on
//! the layer-0 table E, all rows in every step, as in paper 001's release (the original adds the batch's rows alone to its loss).
//! He et al., SIGIR 2020.

use super::{Encode, Init};
use crate::{gradient::RowGradients, graph::Graph, tables::Tables};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `light-gcn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LightGcn {
    /// Length of a vector.
    pub dim: u32,
    /// Number of propagations.
    pub layers: u32,
    /// How the layer-0 vectors start.
    #[serde(default)]
    pub init: Init,
}

/// The graph and the propagated vectors.
pub(crate) struct Propagation {
    graph: Graph,
    layers: u32,
    vectors: Tables,
    spare: Tables,
}

impl Propagation {
    pub(crate) fn new(settings: &LightGcn, dataset: &Dataset) -> Self {
        let tables = || Tables::zeros(dataset.users(), dataset.items(), settings.dim as usize);
        Self { graph: Graph::new(&dataset.train, dataset.items()), layers: settings.layers, vectors: tables(), spare: tables() }
    }
}

impl Encode for Propagation {
    fn encode(&mut self, parameters: &Tables) {
        let start = (&parameters.users.values[..], &parameters.items.values[..]);
        self.graph.propagate(start, self.layers, &mut self.vectors, &mut self.spare);
    }

    fn vectors<'a>(&'a self, _parameters: &'a Tables) -> &'a Tables {
        &self.vectors
    }

    fn backward(&mut self, users: &mut RowGradients, items: &mut RowGradients) {
        let start = (&*users.fill(), &*items.fill());
        self.graph.propagate(start, self.layers, &mut self.vectors, &mut self.spare);
        users.exchange(&mut self.vectors.users.values);
        items.exchange(&mut self.vectors.items.values);
    }
}
