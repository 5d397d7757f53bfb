//! NGCF: layers that mix each node's neighbourhood, and its product with the node, by learned matrices.
//!
//! ```text
//! H(k+1) = LeakyReLU((A H(k) + H(k)) W1 + b1 + (A H(k) * H(k)) W2 + b2)        H(0) = E
//! P = [E, H(1) / |H(1)|, ..., H(L) / |H(L)|]        s(u, i) = similarity(P_u, P_i)
//! ```
//! A is the symmetrically normalised adjacency without self-loops, `*` the product number by number, and the slope of LeakyReLU 0.2. In training a
//! share of each layer's numbers is dropped. Vectors have (L + 1) d numbers. Weight decay falls on all parameters. The original feeds the next layer
//! with H(k); RecBole feeds it with H(k) / |H(k)| (`propagate: normalized`). Wang et al., SIGIR 2019.

use super::{
    BackboneKind, Facts, FoldIn, Init, Sizes, Stored, TensorSize, XavierNormal,
    autograd::{Encoded, Forward},
    encoder::TrainStep,
    kind::Learned,
    limits::{check_layers, check_share, check_tables, check_width},
    operations::{add_bias, apart, leaky_relu, together, unit_rows},
    stack::dropped,
};
use crate::{
    graph::{Adjacency, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// `ngcf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ngcf {
    /// Length of a row of the tables and of each layer's part of a vector.
    pub dim: u32,
    /// Number of layers.
    pub layers: u32,
    /// The share of each layer's numbers that is dropped in training, from 0 to below 1.
    #[serde(default = "tenth")]
    pub dropout: f64,
    /// What the next layer is fed with.
    #[serde(default)]
    pub propagate: Propagate,
    /// How the tables start; weights start as `xavier-normal` does, biases as zeros.
    #[serde(default)]
    pub init: Init,
}

/// `propagate` of [`Ngcf`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Propagate {
    /// A layer's vectors as they are, as in the original.
    #[default]
    Raw,
    /// Its vectors at length one, as in RecBole.
    Normalized,
}

fn tenth() -> f64 {
    0.1
}

/// Weights of a layer: W1, b1, W2 and b2.
const OF_LAYER: usize = 4;

impl BackboneKind for Ngcf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Wang et al. 2019",
            cost: "L times 4 d multiplications for each train interaction and 6 (m + n) d² for the matrices, forward and back",
            unknown_user: "by its own vector through the layers, with no neighbours; only `weight_decay` moves the vector",
            values: "`dim` 64, `layers` 3, `dropout` 0.1 (its release)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        check_share("dropout", self.dropout)?;
        check_tables(self.dim, &self.init)?;
        check_width(self.dim, self.layers, u64::from(self.dim) * u64::from(self.layers + 1))
    }

    /// 1: rows are brought to length one by sums in another order.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize * (1 + self.layers as usize) }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::attached(self.layers)
    }
}

impl Learned for Ngcf {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let (users, items, dim) = (dataset.users(), dataset.items(), self.dim as usize);
        let tables = self.init.tables(users, items, dim, seed);
        let xavier = Init::XavierNormal(XavierNormal {});
        let weights = (0..self.layers).flat_map(|layer| {
            let weight =
                |name: &str, which: u32| (format!("layer{}.{name}", layer + 1), xavier.matrix([dim, dim], seed, 2 + 2 * layer + which));
            let bias = |name: &str| (format!("layer{}.{name}", layer + 1), Matrix { rows: 1, dim, values: vec![0.0; dim] });
            [weight("sum", 0), bias("sum_bias"), weight("product", 1), bias("product_bias")]
        });
        Parameters::new(tables, weights.collect())
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(NgcfLayers::new(self, dataset, seed))
    }

    /// Bytes: for each layer some twelve matrices that its derivatives need, and as many gradients; the vectors five times.
    fn memory(&self, Sizes { users, items, train, .. }: Sizes) -> u64 {
        let (nodes, layers) = (users + items, u64::from(self.layers));
        let table = nodes * u64::from(self.dim) * 4;
        Adjacency::memory(nodes, train, self.dim.into()) + (4 + 24 * layers + 5 * (1 + layers)) * table
    }

    fn propagated_edges(&self, sizes: Sizes) -> u64 {
        2 * sizes.train
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        let dim = u64::from(self.dim);
        TensorSize::of_graph(sizes, 2 * sizes.train, [dim, dim * (1 + u64::from(self.layers))])
    }
}

struct NgcfLayers {
    settings: Ngcf,
    adjacency: Adjacency,
    seed: u64,
}

impl NgcfLayers {
    fn new(settings: &Ngcf, dataset: &Dataset, seed: u64) -> Self {
        Self { settings: settings.clone(), adjacency: Adjacency::symmetric(&Links::of(dataset)), seed }
    }

    /// One layer on, before its rows are brought to length one.
    fn layer(&self, at: usize, nodes: &Tensor, weights: &[Tensor], step: Option<&TrainStep>) -> Result<Tensor> {
        let neighbours = self.adjacency.propagate(nodes)?;
        let sum = add_bias(&(&neighbours + nodes)?.matmul(&weights[0])?, &weights[1])?;
        let product = add_bias(&(&neighbours * nodes)?.matmul(&weights[2])?, &weights[3])?;
        let layer = leaky_relu(&(sum + product)?, 0.2)?;
        dropped(layer, self.settings.dropout, at as u32, step.map(|step| (self.seed, step)))
    }
}

impl Forward for NgcfLayers {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        let (tables, weights) = parameters.split_at(2);
        let mut nodes = together(tables)?;
        let mut blocks = vec![nodes.clone()];
        for (at, weights) in weights.chunks_exact(OF_LAYER).enumerate() {
            nodes = self.layer(at, &nodes, weights, step)?;
            let unit = unit_rows(&nodes)?;
            if self.settings.propagate == Propagate::Normalized {
                nodes = unit.clone();
            }
            blocks.push(unit);
        }
        let (users, items) = apart(&Tensor::cat(&blocks, 1)?, tables)?;
        Ok(Encoded { users, items, auxiliary: None })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_gradients, assert_rows, dataset, matrix, tables};
    use super::*;

    fn layers(propagate: Propagate) -> NgcfLayers {
        let settings = Ngcf { dim: 2, layers: 2, dropout: 0.3, propagate, init: Init::default() };
        NgcfLayers::new(&settings, &dataset(), 1)
    }

    /// Tables, and weights of two layers: `cos(s + 0.9 n)` for number n of the matrix s, `0.1 cos(s + n)` for that of the bias s.
    fn parameters() -> Vec<Tensor> {
        let weights = (0..8).map(|at| {
            let salt = f64::from(at);
            match at % 2 {
                0 => matrix([2, 2], |number| (salt + 0.9 * number).cos()),
                _ => matrix([1, 2], |number| 0.1 * (salt + number).cos()),
            }
        });
        tables().into_iter().chain(weights).collect()
    }

    /// Of NumPy, with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let raw = layers(Propagate::Raw).forward(&parameters(), None).unwrap();
        let expected: [(usize, &[f64]); 3] = [
            (0, &[0.841470984808, 0.991664810452, 0.99095426594, -0.134200010487, -0.037184884797, 0.999308403018]),
            (2, &[-0.611857890943, -0.977530117665, 0.879587049942, 0.475737975753, -0.024607309174, 0.999697194322]),
            (7, &[-0.980936230066, -0.875452174688, 0.164267314157, 0.986415860324, 0.653185494551, 0.757197932979]),
        ];
        assert_rows(&raw, &expected);
        let normalized = layers(Propagate::Normalized).forward(&parameters(), None).unwrap();
        let expected: [(usize, &[f64]); 2] = [
            (0, &[0.841470984808, 0.991664810452, 0.99095426594, -0.134200010487, -0.034655906886, 0.999399303641]),
            (7, &[-0.980936230066, -0.875452174688, 0.164267314157, 0.986415860324, 0.560786732899, 0.827960289026]),
        ];
        assert_rows(&normalized, &expected);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for propagate in [Propagate::Raw, Propagate::Normalized] {
            let mut layers = layers(propagate);
            layers.settings.dropout = 0.0; // a row that is dropped whole has no direction
            assert_gradients(&layers, &parameters());
        }
    }

    #[test]
    fn a_step_drops_numbers_of_layers_and_no_others() {
        let encoded = layers(Propagate::Raw).forward(&parameters(), Some(&STEP)).unwrap();
        let rows: Vec<Vec<f64>> = encoded.users.to_vec2().unwrap();
        assert!(rows.iter().any(|row| row[2..].contains(&0.0)) && rows.iter().all(|row| !row[..2].contains(&0.0)), "{rows:?}");
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Ngcf>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "dropout": 1}"#), "dropout is 1, expected a number from 0 to below 1");
        assert_eq!(check(r#"{"dim": 0, "layers": 1}"#), "dim is 0, expected 1 to 65536");
        assert_eq!(check(r#"{"dim": 4096, "layers": 999}"#), "dim is 4096 and layers 999: vectors would have 4096000 numbers");
    }
}
