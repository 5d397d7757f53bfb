//! LightGCN: matrix factorisation whose vectors are propagated over the train graph.
//!
//! ```text
//! P = (E + A E + ... + A^L E) / (L + 1)        s(u, i) = similarity(P_u, P_i)
//! ```
//! A is the symmetrically normalised adjacency without self-loops. The original uses 3 layers; paper 001 uses 2. Weight decay falls on
//! the layer-0 table E, all rows in every step, as in paper 001's release (the original adds the batch's rows alone to its loss).
//! He et al., SIGIR 2020.

use super::{Encode, Init, Wanted};
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
    wanted: [Vec<bool>; 2],
}

impl Propagation {
    pub(crate) fn new(settings: &LightGcn, dataset: &Dataset) -> Self {
        let (users, items) = (dataset.users(), dataset.items());
        Self {
            graph: Graph::new(&dataset.train, items, settings.layers),
            layers: settings.layers,
            vectors: Tables::zeros(users, items, settings.dim as usize),
            wanted: [vec![false; users], vec![false; items]],
        }
    }
}

impl Encode for Propagation {
    fn encode(&mut self, parameters: &Tables, wanted: Wanted) {
        let [users, items] = &mut self.wanted;
        let wanted = [mark(users, wanted.users), mark(items, wanted.items)];
        self.graph.forward(parameters, wanted, &mut self.vectors);
    }

    fn vectors<'a>(&'a self, _parameters: &'a Tables) -> &'a Tables {
        &self.vectors
    }

    fn layers(&mut self, parameters: &Tables) -> Vec<Tables> {
        let mut layers = vec![parameters.clone()];
        for layer in 0..self.layers as usize {
            layers.push(self.graph.once(&layers[layer]));
        }
        layers
    }

    /// `G(0) + A (G(1) + A (G(2) + ...))`
    fn layers_backward(&mut self, mut gradients: Vec<Tables>) -> Tables {
        let mut sum = gradients.pop().expect("the parameters are a layer");
        while let Some(layer) = gradients.pop() {
            sum = self.graph.once(&sum);
            let pairs = [(&mut sum.users, layer.users), (&mut sum.items, layer.items)];
            pairs.into_iter().for_each(|(sum, layer)| sum.values.iter_mut().zip(layer.values).for_each(|(sum, value)| *sum += value));
        }
        sum
    }

    fn backward(&mut self, users: &mut RowGradients, items: &mut RowGradients) {
        self.graph.backward([users, items], self.vectors.users.dim);
    }
}

/// Marks of the wanted rows; `None` for all.
fn mark<'a>(marks: &'a mut [bool], wanted: Option<&[u32]>) -> Option<&'a [bool]> {
    let wanted = wanted?;
    marks.fill(false);
    for &row in wanted {
        marks[row as usize] = true;
    }
    Some(marks)
}
