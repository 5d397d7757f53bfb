//! GCN: layers that multiply each node's neighbourhood, with itself in it, by a learned matrix.
//!
//! ```text
//! H(k+1) = dropout(LeakyReLU(A H(k) W + b))        H(0) = E        A = (D + 1)^-1/2 (R + I) (D + 1)^-1/2
//! P = pool(E, H(1) / |H(1)|, ..., H(L) / |H(L)|)        s(u, i) = similarity(P_u, P_i)
//! ```
//! R are the train interactions in both directions, D their numbers. Paper 002 (ITEM) says that layers are summed, and leaves activation, dropout and
//! the length of what is pooled open; those here are of an earlier release of its first author. Weight decay falls on all parameters.
//! Kipf and Welling, ICLR 2017.

use super::{
    BackboneKind, Facts, FoldIn, Init, Pool, Sizes, Stored, TensorSize, UserTable,
    autograd::{Encoded, Forward},
    encoder::TrainStep,
    kind::Learned,
    operations::add_bias,
    stack::{Shape, Stack, tenth, yes},
};
use crate::{
    graph::{Adjacency, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `gcn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gcn {
    /// Length of a row of the tables and of each layer.
    pub dim: u32,
    /// Number of layers.
    pub layers: u32,
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

impl Gcn {
    fn stack(&self) -> Stack {
        let Self { dim, layers, dropout, pool, layer_zero, user_table, init } = *self;
        Stack { dim, layers, dropout, pool, layer_zero, user_table, init }
    }

    fn shapes(&self) -> Vec<Shape> {
        let dim = self.dim as usize;
        vec![("weight".to_owned(), [dim, dim]), ("bias".to_owned(), [1, dim])]
    }
}

impl BackboneKind for Gcn {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Kipf and Welling 2017, as in ITEM",
            cost: "4 L d multiplications for each train interaction and 3 L (m + n) d² for the matrices, forward and back",
            unknown_user: "by its own vector (zeros with `user_table: none`) through the layers, with no neighbours; only `weight_decay` moves the vector",
            values: "`dim` 64 (200 where users are unseen), `pool` sum (ITEM)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
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

impl Learned for Gcn {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        self.stack().start(dataset, seed, &self.shapes())
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(GcnLayers::new(self, dataset, seed))
    }

    /// A layer's product, propagation and sum with the bias.
    fn memory(&self, sizes: Sizes) -> u64 {
        Adjacency::memory(sizes.users + sizes.items, sizes.train, self.dim.into()) + self.stack().memory(sizes, 3)
    }

    fn propagated_edges(&self, sizes: Sizes) -> u64 {
        2 * sizes.train
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        let loops = sizes.users + sizes.items;
        TensorSize::of_graph(sizes, 2 * sizes.train + loops, [self.dim.into(), self.stack().width() as u64])
    }
}

struct GcnLayers {
    stack: Stack,
    adjacency: Adjacency,
    seed: u64,
}

impl GcnLayers {
    fn new(settings: &Gcn, dataset: &Dataset, seed: u64) -> Self {
        Self { stack: settings.stack(), adjacency: Adjacency::with_self_loops(&Links::of(dataset)), seed }
    }
}

impl Forward for GcnLayers {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        self.stack.forward(parameters, step.map(|step| (self.seed, step)), |_, nodes, weights| {
            add_bias(&self.adjacency.propagate(&nodes.matmul(&weights[0])?)?, &weights[1])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_gradients, assert_rows, dataset, tables, weights};
    use super::*;

    fn gcn(pool: Pool, layer_zero: bool) -> GcnLayers {
        let settings = Gcn { dim: 2, layers: 2, dropout: 0.0, pool, layer_zero, user_table: UserTable::default(), init: Init::default() };
        GcnLayers::new(&settings, &dataset(), 1)
    }

    fn parameters() -> Vec<Tensor> {
        let layer = [("weight", [2, 2]), ("bias", [1, 2])];
        tables().into_iter().chain(weights(&[layer, layer].concat())).collect()
    }

    /// Of NumPy, with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy_by_every_pool() {
        let cases: [(Pool, bool, [&[f64]; 3]); 5] = [
            (
                Pool::Concat,
                true,
                [
                    &[0.841470984808, 0.991664810452, 0.998499779927, 0.054755725590, -0.537655532314, -0.843164591626],
                    &[-0.611857890943, -0.977530117665, 0.991926682358, -0.126812684009, -0.516501266435, -0.856286425077],
                    &[-0.980936230066, -0.875452174688, 0.986577849394, -0.163291601391, -0.847882484372, -0.530184206380],
                ],
            ),
            (
                Pool::Sum,
                true,
                [&[1.302315232421, 0.203255944416], &[-0.136432475019, -1.960629226751], &[-0.842240865045, -1.568927982460]],
            ),
            (
                Pool::Mean,
                true,
                [&[0.434105077474, 0.067751981472], &[-0.045477491673, -0.653543075584], &[-0.280746955015, -0.522975994153]],
            ),
            (
                Pool::Last,
                true,
                [&[-0.537655532314, -0.843164591626], &[-0.516501266435, -0.856286425077], &[-0.847882484372, -0.530184206380]],
            ),
            (
                Pool::Mean,
                false,
                [&[0.230422123807, -0.394204433018], &[0.237712707962, -0.491549554543], &[0.069347682511, -0.346737903886]],
            ),
        ];
        for (pool, layer_zero, [first, third, eighth]) in cases {
            let encoded = gcn(pool, layer_zero).forward(&parameters(), None).unwrap();
            assert_rows(&encoded, &[(0, first), (2, third), (7, eighth)]);
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for (pool, layer_zero) in [(Pool::Sum, true), (Pool::Concat, false), (Pool::Last, false)] {
            assert_gradients(&gcn(pool, layer_zero), &parameters());
        }
    }

    #[test]
    fn a_step_drops_numbers_of_layers_and_no_others() {
        let mut layers = gcn(Pool::Concat, true);
        layers.stack.dropout = 0.3;
        let rows: Vec<Vec<f64>> = layers.forward(&parameters(), Some(&STEP)).unwrap().users.to_vec2().unwrap();
        assert!(rows.iter().any(|row| row[2..].contains(&0.0)) && rows.iter().all(|row| !row[..2].contains(&0.0)), "{rows:?}");
    }

    /// Users begin as zeros, and no gradient reaches their rows.
    #[test]
    fn without_a_table_users_are_what_comes_from_items() {
        let settings: Gcn = serde_json::from_str(r#"{"dim": 2, "layers": 2, "dropout": 0, "user_table": "none"}"#).unwrap();
        let started = settings.parameters(&dataset(), 1);
        let [users, items] = started.tables();
        assert!(users.values.iter().all(|&value| value == 0.0) && items.values.iter().any(|&value| value != 0.0));
        let variables: Vec<candle_core::Var> = parameters().iter().map(|tensor| candle_core::Var::from_tensor(tensor).unwrap()).collect();
        let given: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        let total = GcnLayers::new(&settings, &dataset(), 1).forward(&given, None).unwrap().users.sum_all().unwrap();
        let gradients = total.backward().unwrap();
        assert!(gradients.get(&variables[0]).is_none() && gradients.get(&variables[1]).is_some());
        let refused = serde_json::from_str::<Gcn>(r#"{"dim": 2, "layers": 0, "user_table": "none"}"#).unwrap().check().unwrap_err();
        assert!(refused.starts_with("layers is 0 where user_table is none"), "{refused}");
    }

    #[test]
    fn without_layers_vectors_are_the_tables() {
        let settings: Gcn = serde_json::from_str(r#"{"dim": 2, "layers": 0}"#).unwrap();
        let encoded = GcnLayers::new(&settings, &dataset(), 1).forward(&tables(), None).unwrap();
        assert_rows(&encoded, &[(0, &[0.841470984808, 0.991664810452])]);
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Gcn>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "dropout": 1}"#), "dropout is 1, expected a number from 0 to below 1");
        assert!(check(r#"{"dim": 4, "layers": 0, "layer_zero": false}"#).starts_with("layers is 0 where layer_zero is false"));
        assert_eq!(
            check(r#"{"dim": 4096, "layers": 999, "pool": "concat"}"#),
            "dim is 4096 and layers 999: vectors would have 4096000 numbers"
        );
        assert_eq!(check(r#"{"dim": 0, "layers": 1}"#), "dim is 0, expected 1 to 65536");
    }
}
