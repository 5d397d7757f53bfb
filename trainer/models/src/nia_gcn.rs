//! NIA-GCN: layers that add the products of each pair of neighbours to their sum.
//!
//! ```text
//! X(k) = A X(k-1)        X(0) = E        Q(k) = ((A X(k-1))^2 - (A * A) X(k-1)^2) / 2        H(k) = tanh(X(k) W + Q(k) V)
//! P = [E, H(1), ..., H(L)]        s(u, i) = similarity(P_u, P_i)
//! ```
//! A is the symmetrically normalised adjacency without self-loops; `*` and `^2` go number by number, so that Q is the sum of the products of
//! different neighbours' rows (the pairwise neighbourhood aggregation). An approximation: no release was found, and of its paper the aggregation
//! and the parallel convolutions of each depth, side by side, are followed; whole neighbourhoods instead of samples of them, A's normalisation and
//! one matrix for each of the two sums are assumed. Weight decay falls on all parameters. Sun et al., SIGIR 2020.

use super::{
    BackboneKind, Facts, FoldIn, Init, Pool, Sizes, Stored, TensorSize, UserTable,
    autograd::{Encoded, Forward},
    encoder::TrainStep,
    kind::Learned,
    operations::{apart, tanh, together},
    stack::{Shape, Stack},
};
use crate::{
    graph::{Adjacency, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `nia-gcn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NiaGcn {
    /// Length of a row of the tables and of each depth's part of a vector.
    pub dim: u32,
    /// Number of depths.
    #[serde(default = "two")]
    pub layers: u32,
    /// How the tables start; weights start as `xavier-normal` does.
    #[serde(default)]
    pub init: Init,
}

fn two() -> u32 {
    2
}

/// Weights of a depth: W and V.
const OF_DEPTH: usize = 2;

impl NiaGcn {
    fn stack(&self) -> Stack {
        let Self { dim, layers, init } = *self;
        Stack { dim, layers, dropout: 0.0, pool: Pool::Concat, layer_zero: true, user_table: UserTable::default(), init }
    }

    fn shapes(&self) -> Vec<Shape> {
        ["sum", "product"].map(|name| (name.to_owned(), [self.dim as usize; 2])).into()
    }
}

impl BackboneKind for NiaGcn {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Sun et al. 2020, approximated",
            cost: "8 L d multiplications for each train interaction and 6 L (m + n) d² for the matrices, forward and back",
            unknown_user: "by the vector that it began with, which only `weight_decay` moves",
            values: "`layers` 2 (its paper); assumed: whole neighbourhoods, not samples of them, their normalisation, and a matrix for each of the two sums",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        self.stack().check()
    }

    /// 1: tanh is rounded in another way.
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

impl Learned for NiaGcn {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        self.stack().start(dataset, seed, &self.shapes())
    }

    fn formula(&self, dataset: &Dataset, _seed: u64) -> Box<dyn Forward> {
        Box::new(Depths::new(dataset))
    }

    /// Bytes: for each depth the sums, their squares, those of squares, what is between, and both products.
    fn memory(&self, sizes: Sizes) -> u64 {
        2 * Adjacency::memory(sizes.users + sizes.items, sizes.train, self.dim.into()) + self.stack().memory(sizes, 6)
    }

    fn propagated_edges(&self, sizes: Sizes) -> u64 {
        2 * sizes.train
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        TensorSize::of_graph(sizes, 2 * sizes.train, [self.dim.into(), self.stack().width() as u64])
    }
}

struct Depths {
    adjacency: Adjacency,
    /// A * A
    squared: Adjacency,
}

impl Depths {
    fn new(dataset: &Dataset) -> Self {
        let adjacency = Adjacency::symmetric(&Links::of(dataset));
        Self { squared: adjacency.squared(), adjacency }
    }
}

impl Forward for Depths {
    fn forward(&self, parameters: &[Tensor], _step: Option<&TrainStep>) -> Result<Encoded> {
        let (tables, weights) = parameters.split_at(2);
        let mut nodes = together(tables)?;
        let mut blocks = vec![nodes.clone()];
        for weights in weights.chunks_exact(OF_DEPTH) {
            let sums = self.adjacency.propagate(&nodes)?;
            let products = ((sums.sqr()? - self.squared.propagate(&nodes.sqr()?)?)? * 0.5)?;
            blocks.push(tanh(&(sums.matmul(&weights[0])? + products.matmul(&weights[1])?)?)?);
            nodes = sums;
        }
        let (users, items) = apart(&Tensor::cat(&blocks, 1)?, tables)?;
        Ok(Encoded { users, items, auxiliary: None })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_gradients, assert_rows, dataset, tables, weights};
    use super::*;

    fn parameters() -> Vec<Tensor> {
        tables().into_iter().chain(weights(&[("sum", [2, 2]), ("product", [2, 2])].repeat(2))).collect()
    }

    /// Of NumPy, with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let expected: [(usize, &[f64]); 3] = [
            (0, &[0.841470984808, 0.991664810452, 0.539668175774, 0.366131932091, -0.435743276730, -0.436670266777]),
            (2, &[-0.611857890943, -0.977530117665, 0.249006598175, -0.485782299922, 0.311897396376, 0.307672495556]),
            (7, &[-0.980936230066, -0.875452174688, 0.390392575376, -0.120376909418, 0.361604578694, 0.246763036097]),
        ];
        assert_rows(&Depths::new(&dataset()).forward(&parameters(), None).unwrap(), &expected);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&Depths::new(&dataset()), &parameters());
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<NiaGcn>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 0}"#), "dim is 0, expected 1 to 65536");
    }
}
