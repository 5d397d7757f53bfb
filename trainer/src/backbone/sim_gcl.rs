//! SimGCL: LightGCN without layer 0, and a loss that draws two noised views of a batch together.
//!
//! ```text
//! E(k) = A E(k-1)        P = (E(1) + ... + E(L)) / L        s(u, i) = similarity(P_u, P_i)
//! E'(k) = A E'(k-1) + ε sign(.) * z / |z|                   a view is the mean of its layers, with noise z of its own
//! loss + λ (InfoNCE of the batch's users in both views + InfoNCE of its positives)
//! ```
//! A is the symmetrically normalised adjacency without self-loops. A noised layer is what the next one is made from. Vectors are ranked without
//! noise. Weight decay falls on the table E. Yu et al., SIGIR 2022.

use super::{
    BackboneKind, ContrastIds, Facts, Init, Noise, Stored,
    autograd::{Autograd, Encoded, Forward},
    contrast::{self, Contrast, Layers, Perturb},
    encoder::{Encoder, TrainStep},
    init::{check_layers, check_tables},
    kind::{Learned, Sizes},
    nodes::{apart, mean, together},
};
use crate::{graph::Adjacency, parameters::Parameters};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `sim-gcl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimGcl {
    /// Length of a vector.
    pub dim: u32,
    /// Number of propagations, at least 1.
    pub layers: u32,
    /// ε, the length of the noise.
    #[serde(default = "default_epsilon")]
    pub epsilon: f64,
    /// How the noise is drawn.
    #[serde(default)]
    pub noise: Noise,
    /// λ, the weight of the loss between views.
    #[serde(default = "default_weight")]
    pub contrast_weight: f64,
    /// τ, the temperature of the loss between views.
    #[serde(default = "default_temperature")]
    pub contrast_temperature: f64,
    /// Which rows the loss between views compares.
    #[serde(default)]
    pub contrast_ids: ContrastIds,
    /// How the table starts.
    #[serde(default = "Init::xavier_uniform")]
    pub init: Init,
}

fn default_epsilon() -> f64 {
    0.1
}

fn default_weight() -> f64 {
    0.5
}

fn default_temperature() -> f64 {
    0.2
}

impl SimGcl {
    fn contrast(&self) -> Contrast {
        Contrast { weight: self.contrast_weight, temperature: self.contrast_temperature, ids: self.contrast_ids }
    }
}

impl BackboneKind for SimGcl {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Yu et al. 2022",
            cost: "12 L d multiplications for each train interaction, forward and back; 2 B² d for the loss between views",
            unknown_user: "all items have the score 0: they are tied, as layer 0 is left out",
            values: "`epsilon` 0.1, `contrast_weight` 0.5, `contrast_temperature` 0.2 (its release)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        contrast::check(self.layers, self.epsilon, self.contrast())?;
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }
}

impl Learned for SimGcl {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn start(&self, dataset: &Dataset, seed: u64) -> (Parameters, Box<dyn Encoder>) {
        let (users, items, dim) = (dataset.users(), dataset.items(), self.dim as usize);
        let parameters = Parameters::new(self.init.tables(users, items, dim, seed), Vec::new());
        (parameters, Box::new(Autograd::new(Views::new(self, dataset, seed), [users, items, dim])))
    }

    /// The table and the vectors; of each layer of three views the propagated rows, their sum, and with noise what adds it; gradients.
    fn memory(&self, Sizes { users, items, train, batch }: Sizes) -> u64 {
        let (nodes, layers) = (users + items, u64::from(self.layers));
        Adjacency::memory(nodes, train) + Contrast::memory(batch) + (14 + 16 * layers) * nodes * u64::from(self.dim) * 4
    }
}

struct Views {
    layers: Layers,
    contrast: Contrast,
}

impl Views {
    fn new(settings: &SimGcl, dataset: &Dataset, seed: u64) -> Self {
        let adjacency = Adjacency::new(&dataset.train, dataset.items());
        let perturb = Perturb { epsilon: settings.epsilon, noise: settings.noise };
        Self { layers: Layers { adjacency, seed, count: settings.layers, perturb }, contrast: settings.contrast() }
    }
}

impl Forward for Views {
    fn forward(&self, tables: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        let nodes = together(tables)?;
        let vectors = |view| apart(&mean(&self.layers.of(&nodes, view)?)?, tables);
        let (users, items) = vectors(None)?;
        let auxiliary = step.map(|step| {
            let view = |view: u32| vectors(Some((view, step))).map(<[Tensor; 2]>::from);
            self.contrast.loss([&view(0)?, &view(1)?], step)
        });
        Ok(Encoded { users, items, auxiliary: auxiliary.transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_gradients, assert_rows, dataset, tables};
    use super::*;

    fn views(epsilon: f64) -> Views {
        let settings: SimGcl = serde_json::from_str(r#"{"dim": 2, "layers": 3}"#).unwrap();
        Views::new(&SimGcl { epsilon, ..settings }, &dataset(), 1)
    }

    /// The mean of A E, A A E and A A A E, of NumPy with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy_with_and_without_a_step() {
        for step in [None, Some(&STEP)] {
            let expected: [(usize, &[f64]); 3] =
                [(0, &[0.409992456767, 0.104105541177]), (2, &[0.201654368848, 0.357396918074]), (7, &[0.212293853235, 0.152467905211])];
            assert_rows(&views(0.1).forward(&tables(), step).unwrap(), &expected);
        }
    }

    /// Both views are the vectors then; users 0, 2 and 3, items 0 and 4, of NumPy.
    #[test]
    fn without_noise_the_loss_is_that_of_numpy() {
        let auxiliary =
            |epsilon: f64| views(epsilon).forward(&tables(), Some(&STEP)).unwrap().auxiliary.unwrap().to_scalar::<f64>().unwrap();
        assert!((auxiliary(0.0) - 0.17055610568251306).abs() < 1e-7, "{}", auxiliary(0.0)); // the edges' weights are floats
        assert!((auxiliary(0.1) - auxiliary(0.0)).abs() > 1e-4);
        assert!(views(0.1).forward(&tables(), None).unwrap().auxiliary.is_none());
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&views(0.1), &tables());
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<SimGcl>(text).unwrap().check().unwrap_err();
        assert!(check(r#"{"dim": 4, "layers": 0}"#).starts_with("layers is 0, expected at least 1"));
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "epsilon": -0.5}"#), "epsilon is -0.5, expected a number from 0 on");
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "contrast_temperature": 0}"#), "contrast_temperature is 0, expected a number above 0");
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "contrast_weight": -1}"#), "contrast_weight is -1, expected a number from 0 on");
    }
}
