//! LightGCN: matrix factorisation whose vectors are propagated over the train graph.
//!
//! ```text
//! P = (E + A E + ... + A^L E) / (L + 1)        s(u, i) = similarity(P_u, P_i)
//! ```
//! A is the symmetrically normalised adjacency without self-loops. The original uses 3 layers; paper 001 uses 2. Weight decay falls on
//! the layer-0 table E, all rows in every step, as in paper 001's release (the original adds the batch's rows alone to its loss).
//! He et al., SIGIR 2020.

use super::{
    BackboneKind, Facts, Init, MeanOfLayers, Stored,
    encoder::{Backward, Encoder, TrainStep, Wanted},
    init::{check_layers, check_tables},
    kind::{Learned, Sizes},
};
use crate::{Result, gradient::RowGradients, graph::Graph, parameters::Parameters, tables::Tables};
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

impl BackboneKind for LightGcn {
    fn facts(&self) -> Facts {
        Facts {
            paper: "He et al. 2020",
            cost: "4 L d additions for each train interaction, forward and back",
            unknown_user: "by the vector that it began with, over L + 1, as it has no neighbours; no training touched it (only `weight_decay` shortens \
                           it)",
            values: "`dim` 64, `layers` 2 (SL@K), 3 (its own paper)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn mean_of_layers(&self) -> Option<MeanOfLayers> {
        Some(MeanOfLayers { dim: self.dim, layers: self.layers })
    }
}

impl Learned for LightGcn {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn start(&self, dataset: &Dataset, seed: u64) -> (Parameters, Box<dyn Encoder>) {
        let tables = self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed);
        (Parameters::new(tables, Vec::new()), Box::new(Propagation::new(self, dataset)))
    }

    /// The propagated vectors, strips of two more tables, and the train interactions from both sides.
    fn memory(&self, Sizes { users, items, train, .. }: Sizes) -> u64 {
        let rows = users + items;
        3 * rows * u64::from(self.dim) * 4 + 2 * train * 4 + rows * (8 + 2 * 4)
    }
}

/// The graph and the propagated vectors.
struct Propagation {
    graph: Graph,
    layers: u32,
    vectors: Tables,
    wanted: [Vec<bool>; 2],
}

impl Propagation {
    fn new(settings: &LightGcn, dataset: &Dataset) -> Self {
        let (users, items) = (dataset.users(), dataset.items());
        Self {
            graph: Graph::new(&dataset.train, items, settings.layers),
            layers: settings.layers,
            vectors: Tables::zeros(users, items, settings.dim as usize),
            wanted: [vec![false; users], vec![false; items]],
        }
    }
}

impl Encoder for Propagation {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        self.graph.forward(&parameters.tables, [None; 2], &mut self.vectors);
        Ok(())
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        let ([users, items], Wanted { users: of_users, items: of_items }) = (&mut self.wanted, step.wanted);
        self.graph.forward(&parameters.tables, [mark(users, of_users), mark(items, of_items)], &mut self.vectors);
        Ok(())
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> &'a Tables {
        &self.vectors
    }

    fn backward<'a>(&'a mut self, [users, items]: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        self.graph.backward([&mut *users, &mut *items], self.vectors.users.dim);
        Ok(Backward { tables: [users, items], weights: &[], auxiliary: 0.0 })
    }

    fn layers(&mut self, tables: &Tables) -> Vec<Tables> {
        let mut layers = vec![tables.clone()];
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
