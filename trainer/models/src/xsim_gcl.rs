//! XSimGCL: one noised pass, whose vectors are scored and held against one of their layers.
//!
//! ```text
//! E(k) = A E(k-1) + ε sign(.) * z / |z|        P = (E(1) + ... + E(L)) / L        s(u, i) = similarity(P_u, P_i)
//! loss + λ (InfoNCE of the batch's users in P and E(l*) + InfoNCE of its positives)
//! ```
//! A is the symmetrically normalised adjacency without self-loops, and z the noise of a layer, which the next one is made from. Vectors are ranked
//! without noise. Weight decay falls on the table E. The third backbone of paper 001 (SL@K). Yu et al., TKDE 2023.

use super::{
    BackboneKind, ContrastAgainst, ContrastIds, Encoded, Facts, FoldIn, Forward, Init, Noise, Sizes, Stored, TensorSize,
    contrast::{self, Comparer, Contrast, Contrasted, Kept, LaterLayers, Perturb, formula::LaterLayersFormula},
    encoder::{Backward, Encoder, Marks, TrainStep},
    kind::Learned,
    limits::{check_layers, check_tables},
    operations::{apart, mean, together},
};
use crate::Result;
use crate::{
    graph::{Adjacency, Links},
    parameters::Parameters,
};
use candle_core::Tensor;
use dataset::Dataset;
use embeddings::{RowGradients, Tables};
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// `xsim-gcl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
        let Self { contrast_weight: weight, contrast_temperature: temperature, contrast_ids: ids, .. } = *self;
        Contrast { weight, temperature, ids, against: ContrastAgainst::Batch }
    }

    fn perturb(&self) -> Perturb {
        Perturb { epsilon: self.epsilon, noise: self.noise }
    }
}

impl BackboneKind for XsimGcl {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Yu et al. 2023",
            cost: "4 L d additions for each train interaction, forward and back; 6 B² d for the loss between views",
            unknown_user: "all items have the score 0: they are tied, as layer 0 is left out",
            values: "`layers` 3, `epsilon` 0.1, `contrast_temperature` 0.1, `contrast_weight` 0.05, 0.1, 0.2 (SL@K); defaults are those of its release",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        contrast::check(self.layers, self.contrast())?;
        contrast::at_least_zero("epsilon", self.epsilon)?;
        if !(1..=self.layers).contains(&self.contrast_layer) {
            return Err(format!("contrast_layer is {}, expected 1 to layers, which is {}", self.contrast_layer, self.layers));
        }
        check_tables(self.dim, &self.init)
    }

    /// 1: rows of views meet in tiles, and round otherwise. 2: normal noise has other numbers, and repeats are weighed.
    fn revision(&self) -> u32 {
        if self.noise == Noise::Normal || self.contrast_ids == ContrastIds::All { 2 } else { 1 }
    }

    fn counts_repeats(&self) -> bool {
        self.contrast_ids == ContrastIds::All
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::Attached
    }
}

impl Learned for XsimGcl {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed);
        Parameters::new(tables, Vec::new())
    }

    fn encoder(&self, dataset: &Dataset, seed: u64) -> Box<dyn Encoder> {
        Box::new(NoisedView::new(self, dataset, seed))
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(XsimGclFormula::new(self, dataset, seed))
    }

    /// The vectors, the layer that they are held against, and that layer's gradients.
    fn memory(&self, sizes: Sizes) -> u64 {
        let table = (sizes.users + sizes.items) * u64::from(self.dim) * 4;
        LaterLayers::memory(sizes, self.dim.into()) + 3 * table + self.contrast().memory(sizes, self.dim.into())
    }

    /// The layers with their gradients, and what is contrasted.
    fn formula_memory(&self, sizes: Sizes) -> u64 {
        let (nodes, dim) = (sizes.users + sizes.items, u64::from(self.dim));
        let of_layers = ((3 + 2 * u64::from(self.layers)) + 4) * nodes * dim * 4;
        of_layers + Adjacency::elsewhere_memory(2 * sizes.train, dim) + self.contrast().formula_memory(sizes, dim)
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        TensorSize::of_graph(sizes, 2 * sizes.train, [self.dim.into(); 2]).max(self.contrast().largest_tensor(sizes))
    }
}

struct NoisedView {
    layers: LaterLayers,
    contrast_layer: u32,
    vectors: Tables,
    wanted: Marks,
    /// The layer that the vectors are held against.
    layer: Tables,
    comparer: Comparer,
}

impl NoisedView {
    fn new(settings: &XsimGcl, dataset: &Dataset, seed: u64) -> Self {
        let (users, items) = (dataset.users(), dataset.items());
        let tables = || Tables::zeros(users, items, settings.dim as usize);
        Self {
            layers: LaterLayers::new(dataset, [settings.layers, settings.dim], settings.perturb(), seed),
            contrast_layer: settings.contrast_layer,
            vectors: tables(),
            wanted: Marks::new(users, items),
            layer: tables(),
            comparer: Comparer::new(settings.contrast()),
        }
    }
}

impl Encoder for NoisedView {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        self.layers.forward(parameters.tables(), [None; 2], &mut self.vectors);
        Ok(())
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        let Self { layers, contrast_layer, vectors, wanted, layer, comparer } = self;
        wanted.set(step.wanted);
        wanted.add([step.users, step.positives]);
        let kept = Kept { layer: *contrast_layer, vectors: layer };
        layers.view(parameters.tables(), 0, step, wanted.get(), vectors, Some(kept));
        comparer.compare(vectors, layer, step);
        Ok(())
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> [&'a Matrix; 2] {
        self.vectors.both()
    }

    fn backward<'a>(&'a mut self, [users, items]: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        let Contrasted { loss, one, other } = self.comparer.take();
        one[0].add_to(users);
        one[1].add_to(items);
        self.layers.backward([&mut *users, &mut *items], Some((self.contrast_layer, &other)));
        Ok(Backward { tables: [users, items], weights: &[], auxiliary: loss })
    }
}

/// The model as its paper writes it, in candle's operations.
struct XsimGclFormula {
    layers: LaterLayersFormula,
    contrast: Contrast,
    contrast_layer: u32,
}

impl Forward for XsimGclFormula {
    fn forward(&self, tables: &[Tensor], step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        let layers = self.layers.of(&together(tables)?, step.map(|step| (0, step)))?;
        let vectors: [Tensor; 2] = apart(&mean(&layers)?, tables)?.into();
        let layer = &layers[self.contrast_layer as usize - 1];
        let contrast = |step| self.contrast.formula([&vectors, &apart(layer, tables)?.into()], step);
        let auxiliary = step.map(contrast).transpose()?;
        let [users, items] = vectors;
        Ok(Encoded { users, items, auxiliary })
    }
}

impl XsimGclFormula {
    fn new(settings: &XsimGcl, dataset: &Dataset, seed: u64) -> Self {
        let adjacency = Adjacency::symmetric(&Links::of(dataset));
        let layers = LaterLayersFormula { adjacency, seed, count: settings.layers, perturb: settings.perturb() };
        Self { layers, contrast: settings.contrast(), contrast_layer: settings.contrast_layer }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_encoder, assert_gradients, assert_rows, dataset, tables};
    use super::*;

    fn settings(epsilon: f64) -> XsimGcl {
        let settings: XsimGcl = serde_json::from_str(r#"{"dim": 2, "layers": 3}"#).unwrap();
        XsimGcl { epsilon, ..settings }
    }

    fn formula(settings: &XsimGcl) -> XsimGclFormula {
        XsimGclFormula::new(settings, &dataset(), 1)
    }

    #[test]
    fn a_step_is_that_of_the_formula() {
        for (layers, contrast_layer, noise) in
            [(3, 1, Noise::Uniform), (3, 2, Noise::Normal), (3, 3, Noise::Uniform), (1, 1, Noise::Normal), (2, 1, Noise::Uniform)]
        {
            let settings = XsimGcl { layers, contrast_layer, noise, ..settings(0.2) };
            assert_encoder(&mut NoisedView::new(&settings, &dataset(), 1), &formula(&settings));
        }
    }

    /// The mean of A E, A A E and A A A E, of NumPy with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let expected: [(usize, &[f64]); 3] =
            [(0, &[0.409992456767, 0.104105541177]), (2, &[0.201654368848, 0.357396918074]), (7, &[0.212293853235, 0.152467905211])];
        assert_rows(&formula(&settings(0.2)).forward(&tables(), None).unwrap(), &expected);
        assert_rows(&formula(&settings(0.0)).forward(&tables(), Some(&STEP)).unwrap(), &expected);
    }

    /// Between the mean and layer 1: users 0, 2 and 3, items 0 and 4, of NumPy.
    #[test]
    fn without_noise_the_loss_is_that_of_numpy() {
        let encoded = formula(&settings(0.0)).forward(&tables(), Some(&STEP)).unwrap();
        let auxiliary = encoded.auxiliary.unwrap().to_scalar::<f64>().unwrap();
        assert!((auxiliary - 0.43060693904314135).abs() < 1e-6, "{auxiliary}"); // the edges' weights are floats
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&formula(&settings(0.2)), &tables());
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<XsimGcl>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "layers": 2, "contrast_layer": 3}"#), "contrast_layer is 3, expected 1 to layers, which is 2");
        assert!(check(r#"{"dim": 4, "layers": 0}"#).starts_with("layers is 0, expected at least 1"));
    }
}
