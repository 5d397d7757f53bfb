//! GIN: layers that put each node and the sum of its neighbours through a network of two matrices.
//!
//! ```text
//! H(k+1) = dropout(LeakyReLU(ReLU(((1 + ε) H(k) + R H(k)) W1 + b1) W2 + b2))        H(0) = E
//! P = pool(E, H(1) / |H(1)|, ..., H(L) / |H(L)|)        s(u, i) = similarity(P_u, P_i)
//! ```
//! R are the train interactions in both directions: sums are not divided by their numbers, so that rows grow with them, and layers are pooled at
//! length one. Paper 002 (ITEM) says that layers are summed; activation, dropout and the length of what is pooled are those of an earlier
//! release of its first author for its other convolutions. Weight decay falls on all parameters. Xu et al., ICLR 2019.

use super::{
    BackboneKind, Facts, FoldIn, Init, Pool, Sizes, Stored, TensorSize, UserTable,
    autograd::{Encoded, Forward},
    encoder::TrainStep,
    kind::Learned,
    operations::{add_bias, hidden},
    stack::{Shape, Stack, tenth, yes},
};
use crate::{
    graph::{Adjacency, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `gin` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gin {
    /// Length of a row of the tables and of each layer.
    pub dim: u32,
    /// Number of layers.
    pub layers: u32,
    /// ε: how much more a node counts than a neighbour.
    #[serde(default)]
    pub epsilon: f64,
    /// The share of each layer's numbers that is dropped in training, from 0 to below 1.
    #[serde(default = "tenth")]
    pub dropout: f64,
    /// What vectors are made of layers.
    #[serde(default)]
    pub pool: Pool,
    /// Whether the tables are pooled too.
    #[serde(default = "yes")]
    pub layer_zero: bool,
    /// Whether users have rows in the tables.
    #[serde(default, skip_serializing_if = "UserTable::is_learned")]
    pub user_table: UserTable,
    /// How the tables start; weights start as `xavier-normal` does, biases as zeros.
    #[serde(default = "Init::xavier_uniform")]
    pub init: Init,
}

impl Gin {
    fn stack(&self) -> Stack {
        let Self { dim, layers, dropout, pool, layer_zero, user_table, init, .. } = *self;
        Stack { dim, layers, dropout, pool, layer_zero, user_table, init }
    }

    fn shapes(&self) -> Vec<Shape> {
        let dim = self.dim as usize;
        let of = |name: &str, rows: usize| (name.to_owned(), [rows, dim]);
        vec![of("hidden", dim), of("hidden_bias", 1), of("weight", dim), of("bias", 1)]
    }
}

impl BackboneKind for Gin {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Xu et al. 2019, as in ITEM",
            cost: "4 L d additions for each train interaction and 6 L (m + n) d² for the matrices, forward and back",
            unknown_user: "by its own vector (zeros with `user_table: none`) through the layers, with no neighbours; only `weight_decay` moves the vector",
            values: "`dim` 64 (200 where users are unseen), `pool` sum (ITEM)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if !self.epsilon.is_finite() {
            return Err(format!("epsilon is {}, expected a number", self.epsilon));
        }
        self.stack().check()
    }

    /// 1: rows are brought to length one by sums in another order.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        self.stack().stored()
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::attached(self.layers)
    }
}

impl Learned for Gin {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        self.stack().start(dataset, seed, &self.shapes())
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(GinLayers::new(self, dataset, seed))
    }

    /// A layer's sums, what its node adds, both products with their biases, and the hidden rows.
    fn memory(&self, sizes: Sizes) -> u64 {
        Adjacency::memory(sizes.users + sizes.items, sizes.train, self.dim.into()) + self.stack().memory(sizes, 8)
    }

    fn propagated_edges(&self, sizes: Sizes) -> u64 {
        2 * sizes.train
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        TensorSize::of_graph(sizes, 2 * sizes.train, [self.dim.into(), self.stack().width() as u64])
    }
}

struct GinLayers {
    stack: Stack,
    own: f64,
    adjacency: Adjacency,
    seed: u64,
}

impl GinLayers {
    fn new(settings: &Gin, dataset: &Dataset, seed: u64) -> Self {
        let adjacency = Adjacency::sum(&Links::of(dataset));
        Self { stack: settings.stack(), own: 1.0 + settings.epsilon, adjacency, seed }
    }
}

impl Forward for GinLayers {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        self.stack.forward(parameters, step.map(|step| (self.seed, step)), |_, nodes, weights| {
            let sums = (self.adjacency.propagate(nodes)? + (nodes * self.own)?)?;
            let hidden = hidden(&sums.matmul(&weights[0])?, &weights[1], None)?;
            add_bias(&hidden.matmul(&weights[2])?, &weights[3])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_gradients, assert_rows, dataset, matrix, tables, weights};
    use super::*;

    fn gin(layers: u32) -> GinLayers {
        let settings: Gin = serde_json::from_str(r#"{"dim": 2, "layers": 2, "epsilon": 0.5, "dropout": 0, "pool": "concat"}"#).unwrap();
        GinLayers::new(&Gin { layers, ..settings }, &dataset(), 1)
    }

    fn parameters() -> Vec<Tensor> {
        let layer = [("hidden", [2, 2]), ("hidden_bias", [1, 2]), ("weight", [2, 2]), ("bias", [1, 2])];
        tables().into_iter().chain(weights(&[layer, layer].concat())).collect()
    }

    /// Of NumPy, with R as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let encoded = gin(2).forward(&parameters(), None).unwrap();
        let expected: [(usize, &[f64]); 3] = [
            (0, &[0.841470984808, 0.991664810452, -0.421074843507, -0.907025896083, 0.999255883147, -0.038570454974]),
            (2, &[-0.611857890943, -0.977530117665, -0.485357163900, -0.874315974606, 0.999255883147, -0.038570454974]),
            (7, &[-0.980936230066, -0.875452174688, -0.890830135780, -0.454336515356, 0.924655327693, 0.380805101027]),
        ];
        assert_rows(&encoded, &expected);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&gin(2), &parameters());
    }

    /// Tables of numbers above 0 and identities without biases: ReLU and LeakyReLU leave sums as they are. User 0 has items 0 and 1, item 2
    /// users 1 and 4.
    #[test]
    fn with_identities_for_matrices_a_layer_is_a_sum() {
        let tables = [0.0, 10.0].map(|first| matrix([5, 2], |number| 1.0 + first + number));
        let (identity, zeros) = (matrix([2, 2], |number| f64::from(number % 3.0 == 0.0)), matrix([1, 2], |_| 0.0));
        let parameters = tables.into_iter().chain([identity.clone(), zeros.clone(), identity, zeros]).collect::<Vec<_>>();
        let unit = |row: [f64; 2]| row.map(|value| value / row[0].hypot(row[1]));
        let (user, item) = (unit([1.5 + 11.0 + 13.0, 3.0 + 12.0 + 14.0]), unit([1.5 * 15.0 + 3.0 + 9.0, 1.5 * 16.0 + 4.0 + 10.0]));
        let encoded = gin(1).forward(&parameters, None).unwrap();
        assert_rows(&encoded, &[(0, &[1.0, 2.0, user[0], user[1]]), (7, &[15.0, 16.0, item[0], item[1]])]);
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Gin>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "dropout": -0.5}"#), "dropout is -0.5, expected a number from 0 to below 1");
    }
}
