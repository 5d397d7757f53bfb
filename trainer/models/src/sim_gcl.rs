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
    BackboneKind, ContrastAgainst, ContrastIds, Encoded, Facts, FoldIn, Forward, Init, Noise, Sizes, Stored, TensorSize,
    contrast::{self, Comparer, Contrast, Contrasted, LaterLayers, Perturb, formula::LaterLayersFormula},
    encoder::{Backward, Encoder, Marks, TrainStep, Wanted},
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

/// `sim-gcl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
        let Self { contrast_weight: weight, contrast_temperature: temperature, contrast_ids: ids, .. } = *self;
        Contrast { weight, temperature, ids, against: ContrastAgainst::Batch }
    }

    fn perturb(&self) -> Perturb {
        Perturb { epsilon: self.epsilon, noise: self.noise }
    }
}

impl BackboneKind for SimGcl {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Yu et al. 2022",
            cost: "(6 L + 2 L) d additions for each train interaction, forward and back; 6 B² d for the loss between views",
            unknown_user: "all items have the score 0: they are tied, as layer 0 is left out",
            values: "`epsilon` 0.1, `contrast_weight` 0.5, `contrast_temperature` 0.2 (its release)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        contrast::check(self.layers, self.contrast())?;
        contrast::at_least_zero("epsilon", self.epsilon)?;
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

impl Learned for SimGcl {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed);
        Parameters::new(tables, Vec::new())
    }

    fn encoder(&self, dataset: &Dataset, seed: u64) -> Box<dyn Encoder> {
        Box::new(TwoViews::new(self, dataset, seed))
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(Views::new(self, dataset, seed))
    }

    fn memory(&self, sizes: Sizes) -> u64 {
        let [vectors, views] = [1, 2].map(|count| count * (sizes.users + sizes.items) * u64::from(self.dim) * 4);
        LaterLayers::memory(sizes, self.dim.into()) + vectors + views + self.contrast().memory(sizes, self.dim.into())
    }

    fn formula_memory(&self, sizes: Sizes) -> u64 {
        self.contrast().formula_memory_of_views(sizes, [self.dim, self.layers])
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        TensorSize::of_graph(sizes, 2 * sizes.train, [self.dim.into(); 2]).max(self.contrast().largest_tensor(sizes))
    }
}

struct TwoViews {
    layers: LaterLayers,
    vectors: Tables,
    wanted: Marks,
    views: [Tables; 2],
    comparer: Comparer,
}

impl TwoViews {
    fn new(settings: &SimGcl, dataset: &Dataset, seed: u64) -> Self {
        let (users, items) = (dataset.users(), dataset.items());
        let tables = || Tables::zeros(users, items, settings.dim as usize);
        Self {
            layers: LaterLayers::new(dataset, [settings.layers, settings.dim], settings.perturb(), seed),
            vectors: tables(),
            wanted: Marks::new(users, items),
            views: [tables(), tables()],
            comparer: Comparer::new(settings.contrast()),
        }
    }
}

impl Encoder for TwoViews {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        self.layers.forward(parameters.tables(), [None; 2], &mut self.vectors);
        Ok(())
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        let Self { layers, vectors, wanted, views, comparer } = self;
        wanted.set(step.wanted);
        layers.forward(parameters.tables(), wanted.get(), vectors);
        wanted.set(Wanted { users: Some(step.users), items: Some(step.positives) });
        for (number, view) in (0..).zip(&mut *views) {
            layers.view(parameters.tables(), number, step, wanted.get(), view, None);
        }
        comparer.compare(&views[0], &views[1], step);
        Ok(())
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> [&'a Matrix; 2] {
        self.vectors.both()
    }

    /// Gradients go back through a view as through the vectors, so that they go together.
    fn backward<'a>(&'a mut self, [users, items]: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        let Contrasted { loss, one, other } = self.comparer.take();
        for view in [one, other] {
            view[0].add_to(users);
            view[1].add_to(items);
        }
        self.layers.backward([&mut *users, &mut *items], None);
        Ok(Backward { tables: [users, items], weights: &[], auxiliary: loss })
    }
}

/// The model as its paper writes it, in candle's operations.
struct Views {
    layers: LaterLayersFormula,
    contrast: Contrast,
}

impl Forward for Views {
    fn forward(&self, tables: &[Tensor], step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        let nodes = together(tables)?;
        let vectors = |view| apart(&mean(&self.layers.of(&nodes, view)?)?, tables);
        let (users, items) = vectors(None)?;
        let auxiliary = step.map(|step| {
            let view = |view: u32| vectors(Some((view, step))).map(<[Tensor; 2]>::from);
            self.contrast.formula([&view(0)?, &view(1)?], step)
        });
        Ok(Encoded { users, items, auxiliary: auxiliary.transpose()? })
    }
}

impl Views {
    fn new(settings: &SimGcl, dataset: &Dataset, seed: u64) -> Self {
        let adjacency = Adjacency::symmetric(&Links::of(dataset));
        let layers = LaterLayersFormula { adjacency, seed, count: settings.layers, perturb: settings.perturb() };
        Self { layers, contrast: settings.contrast() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        light_gcn::{LightGcn, UserTable},
        testing::{STEP, assert_encoder, assert_gradients, assert_rows, dataset, tables},
    };
    use super::*;

    fn settings(epsilon: f64) -> SimGcl {
        let settings: SimGcl = serde_json::from_str(r#"{"dim": 2, "layers": 3}"#).unwrap();
        SimGcl { epsilon, ..settings }
    }

    fn views(settings: &SimGcl) -> Views {
        Views::new(settings, &dataset(), 1)
    }

    #[test]
    fn a_step_is_that_of_the_formula() {
        for (layers, noise, contrast_ids) in
            [(3, Noise::Uniform, ContrastIds::Unique), (1, Noise::Normal, ContrastIds::All), (2, Noise::Normal, ContrastIds::Unique)]
        {
            let settings = SimGcl { layers, noise, contrast_ids, ..settings(0.1) };
            assert_encoder(&mut TwoViews::new(&settings, &dataset(), 1), &views(&settings));
        }
    }

    /// The mean of A E, A A E and A A A E, of NumPy with A as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy_with_and_without_a_step() {
        for step in [None, Some(&STEP)] {
            let expected: [(usize, &[f64]); 3] =
                [(0, &[0.409992456767, 0.104105541177]), (2, &[0.201654368848, 0.357396918074]), (7, &[0.212293853235, 0.152467905211])];
            assert_rows(&views(&settings(0.1)).forward(&tables(), step).unwrap(), &expected);
        }
    }

    /// ((L + 1) P - E) / L of the vectors P of `light-gcn`: all vectors, and of both views the rows of the batch.
    #[test]
    fn without_noise_it_is_light_gcn_without_layer_0() {
        for layers in [1, 3] {
            let settings = SimGcl { layers, ..settings(0.0) };
            let light_gcn = LightGcn { dim: 2, layers, user_table: UserTable::Learned, init: settings.init };
            let parameters = settings.parameters(&dataset(), 5);
            let (mut all_layers, mut encoder) = (light_gcn.encoder(&dataset(), 1), TwoViews::new(&settings, &dataset(), 1));
            all_layers.encode(&parameters).unwrap();
            encoder.encode_step(&parameters, &STEP).unwrap();
            let count = layers as f32;
            let assert_later = |found: &Matrix, side: usize, row: usize| {
                let (mean, table) = (all_layers.vectors(&parameters)[side], parameters.tables()[side]);
                let both = mean.row(row).iter().zip(table.row(row));
                let expected: Vec<f32> = both.map(|(mean, first)| ((count + 1.0) * mean - first) / count).collect();
                let close = found.row(row).iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-5);
                assert!(close, "{layers} layers, side {side}, row {row}: {:?} {expected:?}", found.row(row));
            };
            for (side, of_batch) in [STEP.users, STEP.positives].into_iter().enumerate() {
                (0..5).for_each(|row| assert_later(encoder.vectors(&parameters)[side], side, row));
                for view in &encoder.views {
                    of_batch.iter().for_each(|&row| assert_later(view.both()[side], side, row as usize));
                }
            }
        }
    }

    /// Both views are the vectors then; users 0, 2 and 3, items 0 and 4, of NumPy.
    #[test]
    fn without_noise_the_loss_is_that_of_numpy() {
        let auxiliary = |epsilon: f64| {
            let encoded = views(&settings(epsilon)).forward(&tables(), Some(&STEP)).unwrap();
            encoded.auxiliary.unwrap().to_scalar::<f64>().unwrap()
        };
        assert!((auxiliary(0.0) - 0.17055610568251306).abs() < 1e-7, "{}", auxiliary(0.0)); // the edges' weights are floats
        assert!((auxiliary(0.1) - auxiliary(0.0)).abs() > 1e-4);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&views(&settings(0.1)), &tables());
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
