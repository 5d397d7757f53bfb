//! LR-GCCF: linear propagation with each node in its own neighbourhood, and all layers side by side.
//!
//! ```text
//! H(k+1) = A H(k)        H(0) = E        A = (D + 1)^-1/2 (R + I) (D + 1)^-1/2
//! P = [E, H(1), ..., H(L)]        s(u, i) = similarity(P_u, P_i)
//! ```
//! R are the train interactions in both directions, D their numbers. Vectors have (L + 1) d numbers: by dot products, a score is the sum of each
//! layer's own. Weight decay falls on the table E; the release adds 0.01 times the mean square of the batch's vectors to its loss.
//! Chen et al., AAAI 2020.

use super::{
    BackboneKind, Facts, FoldIn, Init, Normal, Sizes, Stored, TensorSize,
    autograd::{Encoded, Forward},
    encoder::TrainStep,
    kind::Learned,
    limits::{check_layers, check_tables, check_width},
    operations::{apart, together},
};
use crate::{
    graph::{Adjacency, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `lr-gccf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LrGccf {
    /// Length of a row of the tables and of each layer's part of a vector.
    pub dim: u32,
    /// Number of propagations.
    pub layers: u32,
    /// How the tables start.
    #[serde(default = "hundredth")]
    pub init: Init,
}

fn hundredth() -> Init {
    Init::Normal(Normal { std: 0.01 })
}

impl LrGccf {
    fn width(&self) -> u64 {
        u64::from(self.dim) * (1 + u64::from(self.layers))
    }
}

impl BackboneKind for LrGccf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Chen et al. 2020",
            cost: "4 L d multiplications for each train interaction, forward and back; vectors of (L + 1) d numbers",
            unknown_user: "by the vector that it began with, in every layer, as it has no neighbours but itself; only `weight_decay` moves it",
            values: "`dim` 64, `layers` 4, `init` normal 0.01, 5 negatives (its release)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        check_tables(self.dim, &self.init)?;
        check_width(self.dim, self.layers, self.width())
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.width() as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::attached(self.layers)
    }
}

impl Learned for LrGccf {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let (users, items) = (dataset.users(), dataset.items());
        Parameters::new(self.init.tables(users, items, self.dim as usize, seed), Vec::new())
    }

    fn formula(&self, dataset: &Dataset, _seed: u64) -> Box<dyn Forward> {
        Box::new(LrGccfLayers::new(self, dataset))
    }

    /// The vectors some seven times, and a layer and its gradient.
    fn memory(&self, Sizes { users, items, train, .. }: Sizes) -> u64 {
        let nodes = users + items;
        Adjacency::memory(nodes, train, self.dim.into()) + 7 * nodes * self.width() * 4 + 4 * nodes * u64::from(self.dim) * 4
    }

    fn propagated_edges(&self, sizes: Sizes) -> u64 {
        2 * sizes.train
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        let loops = sizes.users + sizes.items;
        TensorSize::of_graph(sizes, 2 * sizes.train + loops, [self.dim.into(), self.width()])
    }
}

struct LrGccfLayers {
    adjacency: Adjacency,
    count: u32,
}

impl LrGccfLayers {
    fn new(settings: &LrGccf, dataset: &Dataset) -> Self {
        Self { adjacency: Adjacency::with_self_loops(&Links::of(dataset)), count: settings.layers }
    }
}

impl Forward for LrGccfLayers {
    fn forward(&self, tables: &[Tensor], _step: Option<&TrainStep>) -> Result<Encoded> {
        let mut layers = vec![together(tables)?];
        for layer in 0..self.count as usize {
            layers.push(self.adjacency.propagate(&layers[layer])?);
        }
        let (users, items) = apart(&Tensor::cat(&layers, 1)?, tables)?;
        Ok(Encoded { users, items, auxiliary: None })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_gradients, assert_rows, dataset, tables};
    use super::*;

    fn layers() -> LrGccfLayers {
        LrGccfLayers::new(&serde_json::from_str(r#"{"dim": 2, "layers": 2}"#).unwrap(), &dataset())
    }

    /// Of NumPy, with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let expected: [(usize, &[f64]); 3] = [
            (0, &[0.841470984808, 0.991664810452, 0.618534885628, 0.343187797214, 0.522028778007, 0.249534037923]),
            (2, &[-0.611857890943, -0.977530117665, 0.277245418548, 0.326390459706, 0.066582714288, 0.160667253898]),
            (7, &[-0.980936230066, -0.875452174688, 0.002022771333, 0.005521702791, -0.009429151307, -0.053402293618]),
        ];
        assert_rows(&layers().forward(&tables(), None).unwrap(), &expected);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&layers(), &tables());
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<LrGccf>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4096, "layers": 999}"#), "dim is 4096 and layers 999: vectors would have 4096000 numbers");
        assert_eq!(check(r#"{"dim": 0, "layers": 1}"#), "dim is 0, expected 1 to 65536");
    }
}
