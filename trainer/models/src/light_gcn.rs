//! LightGCN: matrix factorisation whose vectors are propagated over the train graph.
//!
//! ```text
//! P = (E + A E + ... + A^L E) / (L + 1)        s(u, i) = similarity(P_u, P_i)
//! ```
//! A is the symmetrically normalised adjacency without self-loops. The original uses 3 layers; paper 001 uses 2. Weight decay falls on
//! the layer-0 table E, all rows in every step, as in paper 001's release; the original adds the batch's rows alone to its loss, which is `batch_l2` of
//! the optimizer.
//! Without a table of users (`user_table: none`), as paper 002 (ITEM) scores users that it has not seen, they are what is propagated from items.
//! He et al., SIGIR 2020.

use super::{
    BackboneKind, Encoded, Facts, FoldIn, Forward, Init, MeanOfLayers, Sizes, Stored, TensorSize,
    encoder::{Backward, Encoder, Marks, TrainStep},
    kind::Learned,
    limits::{check_layers, check_tables},
    operations::{apart, mean, together},
};
use crate::Result;
use crate::{
    graph::{Adjacency, Graph, Links},
    parameters::Parameters,
};
use candle_core::Tensor;
use dataset::Dataset;
use embeddings::{RowGradients, Tables};
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// `light-gcn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LightGcn {
    /// Length of a vector.
    pub dim: u32,
    /// Number of propagations.
    pub layers: u32,
    /// Whether users have layer-0 vectors.
    #[serde(default, skip_serializing_if = "UserTable::is_learned")]
    pub user_table: UserTable,
    /// How the layer-0 vectors start.
    #[serde(default)]
    pub init: Init,
}

/// `user_table` of [`LightGcn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UserTable {
    /// Users have layer-0 vectors, which are learned as the items' are.
    #[default]
    Learned,
    /// The users' layer-0 vectors are zeros and stay so.
    None,
}

impl UserTable {
    /// A trial is named as before there was a choice.
    pub(super) fn is_learned(&self) -> bool {
        *self == Self::Learned
    }

    /// Whether users can have vectors after so many layers.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub(super) fn check(self, layers: u32) -> std::result::Result<(), String> {
        match layers == 0 && !self.is_learned() {
            true => Err("layers is 0 where user_table is none, expected at least 1: users are what is propagated from items".to_owned()),
            false => Ok(()),
        }
    }

    /// Tables as they start.
    pub(super) fn of(self, mut tables: Tables) -> Tables {
        if !self.is_learned() {
            tables.users.values.fill(0.0);
        }
        tables
    }

    /// The users' rows of a forward pass, through which no gradient goes where they are not learned.
    pub(super) fn rows(self, users: &Tensor) -> Tensor {
        if self.is_learned() { users.clone() } else { users.detach() }
    }
}

impl BackboneKind for LightGcn {
    fn facts(&self) -> Facts {
        Facts {
            paper: "He et al. 2020",
            cost: "4 L d additions for each train interaction, forward and back",
            unknown_user: "by the vector that it began with, over L + 1, as it has no neighbours, which only `weight_decay` and losses that bound norms \
                           move; with `user_table: none` all items have the score 0",
            values: "`dim` 64, `layers` 2 (SL@K), 3 (its own paper)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        self.user_table.check(self.layers)?;
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::attached(self.layers)
    }

    fn mean_of_layers(&self) -> Option<MeanOfLayers> {
        self.user_table.is_learned().then_some(MeanOfLayers { dim: self.dim, layers: self.layers })
    }
}

impl Learned for LightGcn {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.user_table.of(self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed));
        Parameters::new(tables, Vec::new())
    }

    fn encoder(&self, dataset: &Dataset, _seed: u64) -> Box<dyn Encoder> {
        Box::new(Propagation::new(self, dataset))
    }

    fn formula(&self, dataset: &Dataset, _seed: u64) -> Box<dyn Forward> {
        Box::new(LightGcnFormula { adjacency: Adjacency::symmetric(&Links::of(dataset)), settings: self.clone() })
    }

    /// The graph and the propagated vectors.
    fn memory(&self, Sizes { users, items, train, .. }: Sizes) -> u64 {
        let dim = u64::from(self.dim);
        Graph::memory([users, items, train], dim) + (users + items) * dim * 4
    }

    /// The layers with their gradients, and a product.
    fn formula_memory(&self, Sizes { users, items, train, .. }: Sizes) -> u64 {
        let dim = u64::from(self.dim);
        (3 + 2 * u64::from(self.layers)) * (users + items) * dim * 4 + Adjacency::elsewhere_memory(2 * train, dim)
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        TensorSize::of_graph(sizes, 2 * sizes.train, [self.dim.into(); 2])
    }
}

/// The graph and the propagated vectors.
struct Propagation {
    graph: Graph,
    layers: u32,
    user_table: UserTable,
    vectors: Tables,
    wanted: Marks,
}

impl Propagation {
    fn new(settings: &LightGcn, dataset: &Dataset) -> Self {
        let (users, items) = (dataset.users(), dataset.items());
        Self {
            graph: Graph::new(&dataset.train, items, settings.layers),
            layers: settings.layers,
            user_table: settings.user_table,
            vectors: Tables::zeros(users, items, settings.dim as usize),
            wanted: Marks::new(users, items),
        }
    }
}

impl Encoder for Propagation {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        self.graph.forward(parameters.tables(), [None; 2], &mut self.vectors);
        Ok(())
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        self.wanted.set(step.wanted);
        self.graph.forward(parameters.tables(), self.wanted.get(), &mut self.vectors);
        Ok(())
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> [&'a Matrix; 2] {
        self.vectors.both()
    }

    fn backward<'a>(&'a mut self, [users, items]: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        self.graph.backward([&mut *users, &mut *items], self.vectors.users.dim);
        if !self.user_table.is_learned() {
            users.clear();
        }
        Ok(Backward { tables: [users, items], weights: &[], auxiliary: 0.0 })
    }

    fn layers(&mut self, tables: [&Matrix; 2]) -> Vec<Tables> {
        let mut layers = vec![Tables::of(tables)];
        for layer in 0..self.layers as usize {
            let mut next = layers[layer].clone();
            self.graph.advance([&mut next.users, &mut next.items], [None; 2]);
            layers.push(next);
        }
        layers
    }

    /// `G(0) + A (G(1) + A (G(2) + ...))`
    fn layers_backward(&mut self, mut gradients: Vec<Tables>) -> Tables {
        let mut sum = gradients.pop().expect("the parameters are a layer");
        while let Some(layer) = gradients.pop() {
            self.graph.advance([&mut sum.users, &mut sum.items], [None; 2]);
            let pairs = [(&mut sum.users, layer.users), (&mut sum.items, layer.items)];
            pairs.into_iter().for_each(|(sum, layer)| sum.values.iter_mut().zip(layer.values).for_each(|(sum, value)| *sum += value));
        }
        sum
    }
}

/// The model in candle's operations.
struct LightGcnFormula {
    settings: LightGcn,
    adjacency: Adjacency,
}

impl Forward for LightGcnFormula {
    fn forward(&self, tables: &[Tensor], _step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        let layers = self.of_nodes(tables)?;
        let (users, items) = apart(&mean(&layers)?, tables)?;
        Ok(Encoded { users, items, auxiliary: None })
    }

    fn layers(&self, tables: &[Tensor]) -> candle_core::Result<Vec<[Tensor; 2]>> {
        self.of_nodes(tables)?.iter().map(|layer| apart(layer, tables).map(<[Tensor; 2]>::from)).collect()
    }

    fn reached(&self, _step: &TrainStep) -> [Option<Vec<u32>>; 2] {
        [(); 2].map(|()| (self.settings.layers == 0).then(Vec::new))
    }
}

impl LightGcnFormula {
    /// The vectors of all nodes in each layer.
    fn of_nodes(&self, tables: &[Tensor]) -> candle_core::Result<Vec<Tensor>> {
        let mut layers = vec![together(&[self.settings.user_table.rows(&tables[0]), tables[1].clone()])?];
        for layer in 0..self.settings.layers as usize {
            layers.push(self.adjacency.propagate(&layers[layer])?);
        }
        Ok(layers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        autograd::Autograd,
        mf::IdentityFormula,
        testing::{assert_encoder, dataset},
    };
    use super::*;

    #[test]
    fn a_step_is_that_of_the_formula() {
        for (layers, user_table) in [(0, UserTable::Learned), (3, UserTable::Learned), (2, UserTable::None)] {
            let settings = LightGcn { dim: 2, layers, user_table, init: Init::default() };
            let adjacency = Adjacency::symmetric(&Links::of(&dataset()));
            assert_encoder(&mut Propagation::new(&settings, &dataset()), &LightGcnFormula { settings, adjacency });
        }
    }

    /// Vectors and gradients, by the loops and by the formula.
    #[test]
    fn without_layers_it_is_mf() {
        let settings = LightGcn { dim: 2, layers: 0, user_table: UserTable::Learned, init: Init::default() };
        assert_encoder(&mut Propagation::new(&settings, &dataset()), &IdentityFormula);
        let adjacency = Adjacency::symmetric(&Links::of(&dataset()));
        assert_encoder(&mut Autograd::new(LightGcnFormula { settings, adjacency }, [5, 5, 2]), &IdentityFormula);
    }
}
