//! GAT: layers that weigh each node's neighbours, and the node itself, by attention.
//!
//! ```text
//! Z = H(k) W        e_vu = LeakyReLU(a_source . Z_u + a_target . Z_v)        α_vu = exp(e_vu) / sum_w exp(e_vw)
//! H(k+1) = dropout(LeakyReLU(mean over heads of sum_u α_vu Z_u + b))        H(0) = E
//! P = pool(E, H(1) / |H(1)|, ..., H(L) / |H(L)|)        s(u, i) = similarity(P_u, P_i)
//! ```
//! u and w go over a node's neighbours in the train graph and the node. In training a share of the α is dropped after the softmax. The slope of
//! LeakyReLU is 0.2. Paper 002 (ITEM) says that layers are summed; attention's dropout, activation and the length of what is pooled are those of
//! an earlier release of its first author. Weight decay falls on all parameters. Veličković et al., ICLR 2018.

use super::{
    BackboneKind, Facts, FoldIn, Init, Pool, Sizes, Stored, TensorSize, UserTable,
    autograd::{Encoded, Forward},
    encoder::TrainStep,
    kind::Learned,
    limits::check_share,
    noise::{Keyed, dropout},
    operations::{add_bias, sum, times_constants},
    stack::{Shape, Stack, tenth, yes},
};
use crate::{
    graph::{Adjacency, Edges, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};
use streams::Purpose;

/// `gat` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gat {
    /// Length of a row of the tables and of each layer.
    pub dim: u32,
    /// Number of layers.
    pub layers: u32,
    /// Attentions of a layer, from 1 to 64, each with a matrix of its own; their rows are averaged.
    #[serde(default = "one")]
    pub heads: u32,
    /// The share of attention's weights that is dropped in training, from 0 to below 1.
    #[serde(default = "default_attention_dropout")]
    pub attention_dropout: f64,
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

fn one() -> u32 {
    1
}

fn default_attention_dropout() -> f64 {
    0.6
}

/// Weights of a head: W, a_source and a_target.
const OF_HEAD: usize = 3;
/// More attentions are taken for a slip.
const MOST_HEADS: u32 = 64;

impl Gat {
    fn stack(&self) -> Stack {
        let Self { dim, layers, dropout, pool, layer_zero, user_table, init, .. } = *self;
        Stack { dim, layers, dropout, pool, layer_zero, user_table, init }
    }

    fn shapes(&self) -> Vec<Shape> {
        let dim = self.dim as usize;
        let of_head = |head: u32| {
            let of = |name: &str, rows: usize| (format!("head{head}.{name}"), [rows, dim]);
            [of("weight", dim), of("source", 1), of("target", 1)]
        };
        (1..=self.heads).flat_map(of_head).chain([("bias".to_owned(), [1, dim])]).collect()
    }
}

impl BackboneKind for Gat {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Veličković et al. 2018, as in ITEM",
            cost: "6 L d multiplications for each train interaction and 3 L (m + n) d² for the matrices, forward and back, for each head",
            unknown_user: "by its own vector (zeros with `user_table: none`) through the layers, with no neighbours; only `weight_decay` moves the vector",
            values: "`dim` 64 (200 where users are unseen), `pool` sum (ITEM)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if !(1..=MOST_HEADS).contains(&self.heads) {
            return Err(format!("heads is {}, expected 1 to {MOST_HEADS}", self.heads));
        }
        check_share("attention_dropout", self.attention_dropout)?;
        self.stack().check()
    }

    /// 1: derivatives by attention are added up in another order. 2: sums in another order, and exponentials without branches.
    fn revision(&self) -> u32 {
        2
    }

    fn stored(&self) -> Stored {
        self.stack().stored()
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::attached(self.layers)
    }
}

impl Learned for Gat {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        self.stack().start(dataset, seed, &self.shapes())
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(GatLayers::new(self, dataset, seed))
    }

    /// Bytes: for each head two matrices of a layer and some ten numbers of each edge.
    fn memory(&self, sizes: Sizes) -> u64 {
        let (Sizes { users, items, train, .. }, heads) = (sizes, u64::from(self.heads));
        let edges = Edges::count([users, items, train], true) * u64::from(self.layers) * heads * 4;
        Edges::memory([users, items, train], true, self.dim.into()) + self.stack().memory(sizes, 2 + 3 * heads) + 20 * edges
    }

    /// Beside it the rows of all edges, of each layer and head as they are, weighed and with their gradients.
    fn formula_memory(&self, sizes: Sizes) -> u64 {
        let (edges, dim) = (2 * sizes.train, u64::from(self.dim));
        let of_edges = 9 * u64::from(self.layers) * u64::from(self.heads) * edges * dim * 4 / 2;
        self.memory(sizes) + Adjacency::elsewhere_memory(edges, dim) + of_edges
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        let edges = Edges::count([sizes.users, sizes.items, sizes.train], true);
        TensorSize::of_graph(sizes, edges, [self.dim.into(), self.stack().width() as u64])
    }
}

struct GatLayers {
    settings: Gat,
    edges: Edges,
    seed: u64,
}

impl GatLayers {
    fn new(settings: &Gat, dataset: &Dataset, seed: u64) -> Self {
        Self { settings: settings.clone(), edges: Edges::new(&Links::of(dataset), true), seed }
    }

    /// The rows of a head, by a place of its own for what is dropped.
    fn head(&self, nodes: &Tensor, weights: &[Tensor], step: Option<(u32, &TrainStep)>) -> Result<Tensor> {
        let Self { settings, edges, seed } = self;
        let rows = nodes.matmul(&weights[0])?;
        let along = |vector: &Tensor| rows.matmul(&vector.t()?)?.squeeze(1);
        let mut attention = edges.attention(&along(&weights[1])?, &along(&weights[2])?, 0.2)?;
        if let Some((place, step)) = step.filter(|_| settings.attention_dropout > 0.0) {
            let keyed = Keyed { seed: *seed, purpose: Purpose::Edges, place, first: 0 };
            let factors = keyed.list(step, &attention, dropout(settings.attention_dropout as f32))?;
            attention = times_constants(&attention, factors)?;
        }
        edges.propagate(&attention, &rows)
    }
}

impl Forward for GatLayers {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        let heads = self.settings.heads;
        self.settings.stack().forward(parameters, step.map(|step| (self.seed, step)), |layer, nodes, weights| {
            let (bias, of_heads) = weights.split_last().expect("a layer has a bias");
            let rows = (0..heads).zip(of_heads.chunks_exact(OF_HEAD));
            let rows: Vec<Tensor> = rows
                .map(|(head, weights)| self.head(nodes, weights, step.map(|step| (layer * heads + head, step))))
                .collect::<Result<_>>()?;
            add_bias(&(sum(&rows)? / f64::from(heads))?, bias)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_gradients, assert_rows, dataset, tables, weights};
    use super::*;

    fn gat(heads: u32) -> GatLayers {
        let settings: Gat =
            serde_json::from_str(r#"{"dim": 2, "layers": 2, "dropout": 0, "attention_dropout": 0, "pool": "concat"}"#).unwrap();
        GatLayers::new(&Gat { heads, ..settings }, &dataset(), 1)
    }

    fn parameters(heads: usize) -> Vec<Tensor> {
        let head = [("weight", [2, 2]), ("source", [1, 2]), ("target", [1, 2])];
        let layer = [head.repeat(heads), vec![("bias", [1, 2])]].concat();
        tables().into_iter().chain(weights(&layer.repeat(2))).collect()
    }

    /// Of NumPy, with attention as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let one: [(usize, &[f64]); 3] = [
            (0, &[0.841470984808, 0.991664810452, 0.999561068358, -0.029625506284, -0.341472807578, 0.939891654227]),
            (2, &[-0.611857890943, -0.977530117665, 0.967041141072, -0.254620170989, -0.718999113785, -0.695010988673]),
            (7, &[-0.980936230066, -0.875452174688, 0.446687451357, -0.894690069689, 0.870505163200, 0.492159284014]),
        ];
        let two: [(usize, &[f64]); 3] = [
            (0, &[0.841470984808, 0.991664810452, 0.958059372954, 0.286569778406, 0.994554918555, 0.104213789768]),
            (2, &[-0.611857890943, -0.977530117665, 0.671145597319, 0.741325560870, 0.993902210504, 0.110265116675]),
            (7, &[-0.980936230066, -0.875452174688, 0.776231312818, 0.630448212783, 0.994647265301, 0.103328687345]),
        ];
        for (heads, expected) in [(1, one), (2, two)] {
            assert_rows(&gat(heads).forward(&parameters(heads as usize), None).unwrap(), &expected);
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for heads in [1, 2] {
            let mut layers = gat(heads);
            assert_gradients(&layers, &parameters(heads as usize));
            layers.settings.attention_dropout = 0.3;
            assert_gradients(&layers, &parameters(heads as usize));
        }
    }

    #[test]
    fn a_step_drops_attention() {
        let mut layers = gat(1);
        let clean = layers.forward(&parameters(1), Some(&STEP)).unwrap().users.to_vec2::<f64>().unwrap();
        layers.settings.attention_dropout = 0.5;
        let users = |step| layers.forward(&parameters(1), step).unwrap().users.to_vec2::<f64>().unwrap();
        assert_eq!(users(None), clean);
        assert_ne!(users(Some(&STEP)), clean);
        assert_eq!(users(Some(&STEP)), users(Some(&STEP)));
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Gat>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "heads": 0}"#), "heads is 0, expected 1 to 64");
        assert_eq!(
            check(r#"{"dim": 4, "layers": 1, "attention_dropout": 1}"#),
            "attention_dropout is 1, expected a number from 0 to below 1"
        );
    }
}
