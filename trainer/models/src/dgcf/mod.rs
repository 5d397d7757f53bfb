//! DGCF: vectors in factors, each of which propagates over edges that a routing shares out among them.
//!
//! ```text
//! S_k(vu) = 1 before the first layer; T times in each layer, with H from the layer before it (H = E in the first):
//!     a_k(vu) = softmax over k of S_k(vu)        d_k(v) = sum_u a_k(vu)
//!     Y_k(v) = sum_u a_k(vu) / sqrt(d_k(v) d_k(u)) H_k(u)        S_k(vu) += Y_k(v) / |Y_k(v)| . tanh(H_k(u) / |H_k(u)|)
//! the layer is [Y_1, ..., Y_K] of the last time; P is the mean of E and the layers        s(u, i) = similarity(P_u, P_i)
//! loss + λ / (K (K + 1) / 2) sum_k distance correlation of P_k and P_(k+1), over random users and items
//! ```
//! H_k is the k-th of K parts of a row, and u goes over the neighbours of v in the train graph. S is carried from layer to layer, as in the release,
//! which the divisor of the correlations is from too. Weight decay falls on the table E. Wang et al., SIGIR 2020.

mod correlation;

use super::{
    BackboneKind, Facts, FoldIn, Init, Sizes, Stored, TensorSize,
    autograd::{Encoded, Forward},
    contrast::at_least_zero,
    encoder::TrainStep,
    kind::Learned,
    limits::{check_layers, check_tables},
    operations::{apart, mean, select_rows, sum, tanh, together, unit_rows},
};
use crate::{
    graph::{Adjacency, Edges, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use correlation::{Sample, distance_correlation};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `dgcf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dgcf {
    /// Length of a vector, a multiple of `factors`.
    pub dim: u32,
    /// Number of layers.
    pub layers: u32,
    /// K, the parts of a vector.
    #[serde(default = "four")]
    pub factors: u32,
    /// T, how often a layer's edges are shared out, from 1 to 100.
    #[serde(default = "two")]
    pub iterations: u32,
    /// λ, the weight of the correlations between factors.
    #[serde(default = "hundredth")]
    pub correlation_weight: f64,
    /// Users, and as many items, whose factors a step compares.
    #[serde(default = "hundred")]
    pub correlation_sample: u32,
    /// How the table starts.
    #[serde(default)]
    pub init: Init,
}

fn four() -> u32 {
    4
}

fn two() -> u32 {
    2
}

fn hundredth() -> f64 {
    0.01
}

fn hundred() -> u32 {
    100
}

/// More iterations are taken for a slip.
const MOST_ITERATIONS: u32 = 100;
/// A larger sample is taken for a slip: its distances are compared pair by pair.
const LARGEST_SAMPLE: u32 = 10_000;

impl BackboneKind for Dgcf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Wang et al. 2020",
            cost: "8 T L d multiplications and 2 T L K exponentials for each train interaction, forward and back",
            unknown_user: "by the vector that it began with, over L + 1, as it has no neighbours; only the correlations and `weight_decay` may have moved it",
            values: "`dim` 64, `layers` 1, `factors` 4, `iterations` 2, `correlation_weight` 0.01 (its release)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        let Self { dim, factors, iterations, .. } = *self;
        check_layers(self.layers)?;
        check_tables(dim, &self.init)?;
        if factors == 0 || !dim.is_multiple_of(factors) {
            return Err(format!("factors is {factors}, expected a divisor of dim, which is {dim}"));
        }
        if !(1..=MOST_ITERATIONS).contains(&iterations) {
            return Err(format!("iterations is {iterations}, expected 1 to {MOST_ITERATIONS}"));
        }
        if !(2..=LARGEST_SAMPLE).contains(&self.correlation_sample) {
            return Err(format!("correlation_sample is {}, expected 2 to {LARGEST_SAMPLE}", self.correlation_sample));
        }
        let unused =
            [("correlation_weight", self.correlation_weight != hundredth()), ("correlation_sample", self.correlation_sample != hundred())];
        if let (1, Some((key, _))) = (factors, unused.iter().find(|(_, is_given)| *is_given)) {
            return Err(format!("{key} is given and factors is 1, so that there is nothing to correlate: leave it out"));
        }
        at_least_zero("correlation_weight", self.correlation_weight)
    }

    /// 1: products of the nodes of an edge are added up in another order. 2: the same sums in another order.
    fn revision(&self) -> u32 {
        2
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::attached(self.layers)
    }
}

impl Learned for Dgcf {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let (users, items, dim) = (dataset.users(), dataset.items(), self.dim as usize);
        Parameters::new(self.init.tables(users, items, dim, seed), Vec::new())
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(Routing::new(self, dataset, seed))
    }

    /// Bytes: for each time that edges are shared out some twelve tables and sixteen numbers of an edge and factor, gradients among them; distances
    /// of the sample.
    fn memory(&self, Sizes { users, items, train, .. }: Sizes) -> u64 {
        let table = (users + items) * u64::from(self.dim) * 4;
        let times = u64::from(self.layers) * u64::from(self.iterations);
        let of_edges = Edges::count([users, items, train], false) * u64::from(self.factors) * 4;
        let sample = u64::from(self.correlation_sample).min(users) + u64::from(self.correlation_sample).min(items);
        Edges::memory([users, items, train], false, u64::from(self.dim / self.factors))
            + Adjacency::memory(users + items, train, self.dim.into())
            + (9 + 12 * times) * table
            + 16 * times * of_edges
            + 30 * u64::from(self.factors) * sample * sample * 4
    }

    /// Beside it the rows of all edges, of each round as they are, weighed and with their gradients.
    fn formula_memory(&self, sizes: Sizes) -> u64 {
        let (edges, dim) = (2 * sizes.train, u64::from(self.dim));
        let of_edges = 8 * u64::from(self.layers) * u64::from(self.iterations) * edges * dim * 4;
        self.memory(sizes) + Adjacency::elsewhere_memory(edges, dim) + of_edges
    }

    /// Edges have a factor's part of a vector at once.
    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        let dim = u64::from(self.dim);
        TensorSize::of_graph(sizes, 2 * sizes.train, [dim / u64::from(self.factors.max(1)), dim])
    }
}

/// What is added to a degree, which is 0 of a node without edges.
const SMALLEST_DEGREE: f64 = 1e-20;

struct Routing {
    settings: Dgcf,
    /// Of equal shares.
    adjacency: Adjacency,
    edges: Edges,
    sample: Sample,
}

impl Routing {
    fn new(settings: &Dgcf, dataset: &Dataset, seed: u64) -> Self {
        let sample = Sample { seed, count: settings.correlation_sample, sides: [dataset.users(), dataset.items()] };
        let links = Links::of(dataset);
        Self { settings: settings.clone(), adjacency: Adjacency::symmetric(&links), edges: Edges::new(&links, false), sample }
    }

    /// The factors' parts of rows.
    fn parts(&self, rows: &Tensor) -> Result<Vec<Tensor>> {
        let length = (self.settings.dim / self.settings.factors) as usize;
        (0..self.settings.factors as usize).map(|factor| rows.narrow(1, factor * length, length)?.contiguous()).collect()
    }

    /// The vectors of all nodes, and those of each layer.
    fn layers(&self, nodes: Tensor) -> Result<Vec<Tensor>> {
        let Dgcf { layers: depth, iterations, factors, .. } = self.settings;
        let mut logits: Vec<Tensor> = Vec::new(); // none: all shares are equal
        let mut layers = vec![nodes];
        for layer in 1..=depth {
            let from = layers[layers.len() - 1].clone();
            let parts = self.parts(&from)?;
            let directions: Vec<Tensor> = parts.iter().map(|part| tanh(&unit_rows(part)?)).collect::<Result<_>>()?;
            let mut next = from.clone();
            for iteration in 1..=iterations {
                next = if logits.is_empty() { self.adjacency.propagate(&from)? } else { self.propagate(&softmax(&logits)?, &parts)? };
                if factors == 1 || (layer, iteration) == (depth, iterations) {
                    continue; // nothing is shared out any more
                }
                let moved = self.parts(&next)?;
                let directions = moved.iter().zip(&directions);
                let dots = directions.map(|(part, direction)| self.edges.dots(&unit_rows(part)?, direction));
                let dots = dots.collect::<Result<Vec<Tensor>>>()?;
                logits = if logits.is_empty() { dots } else { logits.iter().zip(&dots).map(|(a, b)| a + b).collect::<Result<_>>()? };
            }
            layers.push(next);
        }
        Ok(layers)
    }

    /// Each factor's part over its shares of the edges: the degrees divide its nodes, before they are added up and after it.
    fn propagate(&self, shares: &[Tensor], parts: &[Tensor]) -> Result<Tensor> {
        let of_factor = |(shares, part): (&Tensor, &Tensor)| {
            let scale = (self.edges.sum(shares)? + SMALLEST_DEGREE)?.sqrt()?.recip()?.unsqueeze(1)?;
            self.edges.propagate(shares, &part.broadcast_mul(&scale)?)?.broadcast_mul(&scale)
        };
        Tensor::cat(&shares.iter().zip(parts).map(of_factor).collect::<Result<Vec<_>>>()?, 1)
    }

    /// The correlations of neighbouring factors over a step's sample.
    fn correlations(&self, vectors: &Tensor, step: &TrainStep) -> Result<Tensor> {
        let rows = select_rows(vectors, &self.sample.draw(step))?;
        let parts = self.parts(&rows)?;
        let mut total = Tensor::zeros((), rows.dtype(), rows.device())?;
        for pair in parts.windows(2) {
            total = (total + distance_correlation([&pair[0], &pair[1]])?)?;
        }
        let factors = f64::from(self.settings.factors);
        total / (factors * (factors + 1.0) / 2.0)
    }
}

/// The softmax over a list of tensors, number by number.
fn softmax(logits: &[Tensor]) -> Result<Vec<Tensor>> {
    let largest = logits[1..].iter().try_fold(logits[0].clone(), |largest, logits| largest.maximum(logits))?.detach();
    let exponentials: Vec<Tensor> = logits.iter().map(|logits| (logits - &largest)?.exp()).collect::<Result<_>>()?;
    let total = sum(&exponentials)?;
    exponentials.iter().map(|exponential| exponential / &total).collect()
}

impl Forward for Routing {
    fn forward(&self, tables: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        let nodes = together(tables)?;
        let vectors = mean(&self.layers(nodes)?)?;
        let weight = self.settings.correlation_weight;
        let auxiliary = step.filter(|_| weight > 0.0 && self.settings.factors > 1).map(|step| self.correlations(&vectors, step)? * weight);
        let (users, items) = apart(&vectors, tables)?;
        Ok(Encoded { users, items, auxiliary: auxiliary.transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_gradients, assert_rows, dataset, matrix};
    use super::*;

    fn routing() -> Routing {
        let settings: Dgcf = serde_json::from_str(r#"{"dim": 4, "layers": 2, "factors": 2, "correlation_weight": 1}"#).unwrap();
        Routing::new(&settings, &dataset(), 1)
    }

    /// Users and items with vectors of four numbers: `sin(1 + 0.7 n)` for number n, the users' before the items'.
    fn tables() -> Vec<Tensor> {
        [0.0, 20.0].map(|first| matrix([5, 4], |number| (1.0 + 0.7 * (first + number)).sin())).into()
    }

    /// Of NumPy, with edges as dense matrices; the sample is all nodes.
    #[test]
    fn vectors_and_correlations_are_those_of_numpy() {
        let encoded = routing().forward(&tables(), Some(&STEP)).unwrap();
        let expected: [(usize, &[f64]); 3] = [
            (0, &[0.274730522233, 0.427437816044, 0.294700732697, -0.093336148355]),
            (2, &[0.376460300212, 0.686454831126, 0.151603504311, 0.028312093979]),
            (7, &[0.358397631209, 0.188167991745, 0.205687167872, -0.112370117235]),
        ];
        assert_rows(&encoded, &expected);
        let own = encoded.auxiliary.unwrap().to_scalar::<f64>().unwrap();
        assert!((own - 0.276599795324).abs() < 1e-8, "{own}"); // equal shares are of single precision
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&routing(), &tables());
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Dgcf>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 6, "layers": 1}"#), "factors is 4, expected a divisor of dim, which is 6");
        assert_eq!(check(r#"{"dim": 8, "layers": 1, "iterations": 0}"#), "iterations is 0, expected 1 to 100");
        assert_eq!(check(r#"{"dim": 8, "layers": 1, "correlation_sample": 1}"#), "correlation_sample is 1, expected 2 to 10000");
        assert_eq!(check(r#"{"dim": 8, "layers": 1, "correlation_weight": -1}"#), "correlation_weight is -1, expected a number from 0 on");
    }
}
