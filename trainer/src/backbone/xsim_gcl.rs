//! XSimGCL: one noised pass, whose vectors are scored and held against one of their layers.
//!
//! ```text
//! E(k) = A E(k-1) + ε sign(.) * z / |z|        P = (E(1) + ... + E(L)) / L        s(u, i) = similarity(P_u, P_i)
//! loss + λ (InfoNCE of the batch's users in P and E(l*) + InfoNCE of its positives)
//! ```
//! A is the symmetrically normalised adjacency without self-loops, and z the noise of a layer, which the next one is made from. Vectors are ranked
//! without noise. Weight decay falls on the table E. The third backbone of paper 001 (SL@K). Yu et al., TKDE 2023.

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

/// `xsim-gcl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XsimGcl {
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
    /// λ, the weight of the loss between the vectors and a layer.
    #[serde(default = "default_weight")]
    pub contrast_weight: f64,
    /// τ, the temperature of that loss.
    #[serde(default = "default_temperature")]
    pub contrast_temperature: f64,
    /// l*, the layer that the vectors are held against, from 1 to `layers`.
    #[serde(default = "first")]
    pub contrast_layer: u32,
    /// Which rows that loss compares.
    #[serde(default)]
    pub contrast_ids: ContrastIds,
    /// How the table starts.
    #[serde(default = "Init::xavier_uniform")]
    pub init: Init,
}

fn default_epsilon() -> f64 {
    0.2
}

fn default_weight() -> f64 {
    0.2
}

fn default_temperature() -> f64 {
    0.15
}

fn first() -> u32 {
    1
}

impl XsimGcl {
    fn contrast(&self) -> Contrast {
        Contrast { weight: self.contrast_weight, temperature: self.contrast_temperature, ids: self.contrast_ids }
    }
}

impl BackboneKind for XsimGcl {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Yu et al. 2023",
            cost: "4 L d multiplications for each train interaction, forward and back; 2 B² d for the loss between views",
            unknown_user: "all items have the score 0: they are tied, as layer 0 is left out",
            values: "`layers` 3, `epsilon` 0.1, `contrast_temperature` 0.1, `contrast_weight` 0.05, 0.1, 0.2 (SL@K); defaults are those of its release",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        contrast::check(self.layers, self.epsilon, self.contrast())?;
        if !(1..=self.layers).contains(&self.contrast_layer) {
            return Err(format!("contrast_layer is {}, expected 1 to layers, which is {}", self.contrast_layer, self.layers));
        }
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }
}

impl Learned for XsimGcl {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn start(&self, dataset: &Dataset, seed: u64) -> (Parameters, Box<dyn Encoder>) {
        let (users, items, dim) = (dataset.users(), dataset.items(), self.dim as usize);
        let parameters = Parameters::new(self.init.tables(users, items, dim, seed), Vec::new());
        (parameters, Box::new(Autograd::new(View::new(self, dataset, seed), [users, items, dim])))
    }

    /// The table and the vectors; of each layer the propagated rows, their sum and what adds the noise; gradients.
    fn memory(&self, Sizes { users, items, train, batch }: Sizes) -> u64 {
        let (nodes, layers) = (users + items, u64::from(self.layers));
        Adjacency::memory(nodes, train) + Contrast::memory(batch) + (14 + 8 * layers) * nodes * u64::from(self.dim) * 4
    }
}

struct View {
    layers: Layers,
    contrast: Contrast,
    contrast_layer: u32,
}

impl View {
    fn new(settings: &XsimGcl, dataset: &Dataset, seed: u64) -> Self {
        let adjacency = Adjacency::new(&dataset.train, dataset.items());
        let perturb = Perturb { epsilon: settings.epsilon, noise: settings.noise };
        Self {
            layers: Layers { adjacency, seed, count: settings.layers, perturb },
            contrast: settings.contrast(),
            contrast_layer: settings.contrast_layer,
        }
    }
}

impl Forward for View {
    fn forward(&self, tables: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        let layers = self.layers.of(&together(tables)?, step.map(|step| (0, step)))?;
        let vectors: [Tensor; 2] = apart(&mean(&layers)?, tables)?.into();
        let layer = &layers[self.contrast_layer as usize - 1];
        let contrast = |step| self.contrast.loss([&vectors, &apart(layer, tables)?.into()], step);
        let auxiliary = step.map(contrast).transpose()?;
        let [users, items] = vectors;
        Ok(Encoded { users, items, auxiliary })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_gradients, assert_rows, dataset, tables};
    use super::*;

    fn view(epsilon: f64) -> View {
        let settings: XsimGcl = serde_json::from_str(r#"{"dim": 2, "layers": 3}"#).unwrap();
        View::new(&XsimGcl { epsilon, ..settings }, &dataset(), 1)
    }

    /// The mean of A E, A A E and A A A E, of NumPy with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let expected: [(usize, &[f64]); 3] =
            [(0, &[0.409992456767, 0.104105541177]), (2, &[0.201654368848, 0.357396918074]), (7, &[0.212293853235, 0.152467905211])];
        assert_rows(&view(0.2).forward(&tables(), None).unwrap(), &expected);
        assert_rows(&view(0.0).forward(&tables(), Some(&STEP)).unwrap(), &expected);
    }

    /// Between the mean and layer 1: users 0, 2 and 3, items 0 and 4, of NumPy.
    #[test]
    fn without_noise_the_loss_is_that_of_numpy() {
        let encoded = view(0.0).forward(&tables(), Some(&STEP)).unwrap();
        let auxiliary = encoded.auxiliary.unwrap().to_scalar::<f64>().unwrap();
        assert!((auxiliary - 0.43060693904314135).abs() < 1e-6, "{auxiliary}"); // the edges' weights are floats
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&view(0.2), &tables());
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<XsimGcl>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "layers": 2, "contrast_layer": 3}"#), "contrast_layer is 3, expected 1 to layers, which is 2");
        assert!(check(r#"{"dim": 4, "layers": 0}"#).starts_with("layers is 0, expected at least 1"));
    }
}
