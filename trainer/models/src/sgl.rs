//! SGL: LightGCN, and a loss that draws two views of a batch together that are made on graphs with dropped edges (SGL-ED).
//!
//! ```text
//! P = (E + A E + ... + A^L E) / (L + 1)        s(u, i) = similarity(P_u, P_i)
//! loss + λ (InfoNCE of the batch's users in both views + InfoNCE of its positives)
//! ```
//! A is the symmetrically normalised adjacency without self-loops. A view is P on a graph from which each train interaction is dropped with
//! probability ρ, with the degrees that are left; both graphs are drawn anew for each epoch. A row is held against all users or items, as in the
//! original and in RecBole; SELFRec's release holds it against the batch's. Vectors are ranked by the whole graph. Weight decay falls on the table
//! E. Wu et al., SIGIR 2021.

use super::{
    BackboneKind, ContrastAgainst, ContrastIds, Encoded, Facts, FoldIn, Forward, Init, Sizes, Stored, TensorSize,
    contrast::{self, Comparer, Contrast, Contrasted},
    encoder::{Backward, Encoder, Marks, TrainStep, Wanted},
    kind::Learned,
    limits::{check_layers, check_share, check_tables},
    operations::{apart, mean, together},
};
use crate::Result;
use crate::{
    graph::{Adjacency, Graph, Links},
    parameters::Parameters,
};
use candle_core::Tensor;
use dataset::{Dataset, Interactions};
use embeddings::{RowGradients, Tables};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use streams::{Purpose, Stream};
use vectors::Matrix;

/// `sgl` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sgl {
    /// Length of a vector.
    pub dim: u32,
    /// Number of propagations, at least 1.
    pub layers: u32,
    /// ρ, the probability that a view lacks a train interaction, from 0 to below 1.
    #[serde(default = "tenth")]
    pub edge_dropout: f64,
    /// λ, the weight of the loss between views.
    #[serde(default = "tenth")]
    pub contrast_weight: f64,
    /// τ, the temperature of the loss between views.
    #[serde(default = "fifth")]
    pub contrast_temperature: f64,
    /// What a row of one view is held against in the other.
    #[serde(default)]
    pub contrast_against: ContrastAgainst,
    /// How the table starts.
    #[serde(default = "Init::xavier_uniform")]
    pub init: Init,
}

fn tenth() -> f64 {
    0.1
}

fn fifth() -> f64 {
    0.2
}

impl Sgl {
    fn contrast(&self) -> Contrast {
        let Self { contrast_weight: weight, contrast_temperature: temperature, contrast_against: against, .. } = *self;
        Contrast { weight, temperature, ids: ContrastIds::Unique, against }
    }

    /// The train interactions that a view of an epoch keeps.
    fn kept(&self, train: &Interactions, seed: u64, view: u32, epoch: u32) -> Interactions {
        let seed = Stream::key(seed, Purpose::Edges, view);
        let of_user = |user: u32| {
            let mut stream = Stream::new(seed, Purpose::Edges, epoch, 0, user);
            let items = train.row(user as usize).iter().copied();
            items.filter(move |_| stream.fraction() >= self.edge_dropout).map(move |item| (user, item))
        };
        Interactions::from_pairs(train.users(), (0..train.users() as u32).flat_map(of_user))
    }
}

impl BackboneKind for Sgl {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Wu et al. 2021",
            cost: "12 L d additions for each train interaction, forward and back; 6 B (m + n) d for the loss between views (6 B² d against the batch)",
            unknown_user: "as `light-gcn`: by the vector that it began with, which the loss between views may have moved",
            values: "`layers` 3, `edge_dropout` 0.1, `contrast_weight` 0.1, `contrast_temperature` 0.2 (its release); RecBole 0.05 and 0.5",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        contrast::check(self.layers, self.contrast())?;
        check_share("edge_dropout", self.edge_dropout)?;
        check_tables(self.dim, &self.init)
    }

    /// 1: rows of views meet in tiles, and round otherwise.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::Attached
    }
}

impl Learned for Sgl {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed);
        Parameters::new(tables, Vec::new())
    }

    fn encoder(&self, dataset: &Dataset, seed: u64) -> Box<dyn Encoder> {
        Box::new(DroppedViews::new(self, dataset, seed))
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(SglFormula::new(self, dataset, seed))
    }

    /// Three graphs, the pairs that a new one is made of, and vectors and gradients of each view.
    fn memory(&self, sizes: Sizes) -> u64 {
        let (Sizes { users, items, train, .. }, dim) = (sizes, u64::from(self.dim));
        3 * Graph::memory([users, items, train], dim) + train * 8 + 5 * (users + items) * dim * 4 + self.contrast().memory(sizes, dim)
    }

    fn formula_memory(&self, sizes: Sizes) -> u64 {
        self.contrast().formula_memory_of_views(sizes, [self.dim, self.layers])
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        TensorSize::of_graph(sizes, 2 * sizes.train, [self.dim.into(); 2]).max(self.contrast().largest_tensor(sizes))
    }
}

struct DroppedViews {
    settings: Sgl,
    seed: u64,
    train: Interactions,
    graph: Graph,
    vectors: Tables,
    wanted: Marks,
    views: [DroppedView; 2],
    /// The epoch of the views' graphs; 0 before the first.
    epoch: u32,
    comparer: Comparer,
}

struct DroppedView {
    graph: Graph,
    vectors: Tables,
    gradients: [RowGradients; 2],
}

impl DroppedViews {
    fn new(settings: &Sgl, dataset: &Dataset, seed: u64) -> Self {
        let (users, items, dim) = (dataset.users(), dataset.items(), settings.dim as usize);
        let view = || DroppedView {
            graph: Graph::new(&Interactions::empty(users), items, settings.layers),
            vectors: Tables::zeros(users, items, dim),
            gradients: [RowGradients::new(users, dim), RowGradients::new(items, dim)],
        };
        Self {
            settings: settings.clone(),
            seed,
            train: dataset.train.clone(),
            graph: Graph::new(&dataset.train, items, settings.layers),
            vectors: Tables::zeros(users, items, dim),
            wanted: Marks::new(users, items),
            views: [view(), view()],
            epoch: 0,
            comparer: Comparer::new(settings.contrast()),
        }
    }

    /// Draws the views' graphs of an epoch, where that is not done yet.
    fn drop_edges(&mut self, epoch: u32) {
        if std::mem::replace(&mut self.epoch, epoch) != epoch {
            for (number, view) in (0..).zip(&mut self.views) {
                // The old graph goes before the new one is built.
                view.graph = Graph::new(&Interactions::empty(self.train.users()), self.vectors.items.rows, self.settings.layers);
                let kept = self.settings.kept(&self.train, self.seed, number, epoch);
                view.graph = Graph::new(&kept, self.vectors.items.rows, self.settings.layers);
            }
        }
    }
}

impl Encoder for DroppedViews {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        self.graph.forward(parameters.tables(), [None; 2], &mut self.vectors);
        Ok(())
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        self.drop_edges(step.epoch);
        let against = self.settings.contrast_against;
        let Self { graph, vectors, wanted, views, comparer, .. } = self;
        wanted.set(step.wanted);
        graph.forward(parameters.tables(), wanted.get(), vectors);
        wanted.set(Wanted { users: Some(step.users), items: Some(step.positives) });
        let of_batch = wanted.get();
        let of_other = if against == ContrastAgainst::All { [None; 2] } else { of_batch };
        for (view, wanted) in views.iter_mut().zip([of_batch, of_other]) {
            view.graph.forward(parameters.tables(), wanted, &mut view.vectors);
        }
        comparer.compare(&views[0].vectors, &views[1].vectors, step);
        Ok(())
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> [&'a Matrix; 2] {
        self.vectors.both()
    }

    fn backward<'a>(&'a mut self, [users, items]: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        let (dim, Contrasted { loss, one, other }) = (users.dim(), self.comparer.take());
        self.graph.backward([&mut *users, &mut *items], dim);
        for (DroppedView { graph, gradients, .. }, rows) in self.views.iter_mut().zip([one, other]) {
            for (gradients, rows) in gradients.iter_mut().zip(&rows) {
                gradients.clear();
                rows.add_to(gradients);
            }
            graph.backward(gradients.each_mut(), dim);
            for (sum, gradients) in [&mut *users, &mut *items].into_iter().zip(gradients) {
                sum.add_all(gradients);
            }
        }
        Ok(Backward { tables: [users, items], weights: &[], auxiliary: loss })
    }
}

/// The model as its paper writes it, in candle's operations.
struct SglFormula {
    settings: Sgl,
    seed: u64,
    train: Interactions,
    items: usize,
    graph: Adjacency,
    /// The views' graphs, and their epoch.
    views: Mutex<Option<(u32, [Adjacency; 2])>>,
}

impl SglFormula {
    fn new(settings: &Sgl, dataset: &Dataset, seed: u64) -> Self {
        let (train, items) = (dataset.train.clone(), dataset.items());
        let graph = Adjacency::symmetric(&Links::of(dataset));
        Self { settings: settings.clone(), seed, graph, train, items, views: Mutex::default() }
    }

    /// P on a graph.
    fn vectors(&self, graph: &Adjacency, tables: &[Tensor]) -> candle_core::Result<[Tensor; 2]> {
        let mut layers = vec![together(tables)?];
        for layer in 0..self.settings.layers as usize {
            layers.push(graph.propagate(&layers[layer])?);
        }
        apart(&mean(&layers)?, tables).map(<[Tensor; 2]>::from)
    }

    /// The views' graphs of an epoch.
    fn views(&self, epoch: u32) -> [Adjacency; 2] {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let of_epoch = |view: u32| {
            let kept = self.settings.kept(&self.train, self.seed, view, epoch);
            Adjacency::symmetric(&Links::train(&kept, self.items))
        };
        if views.as_ref().is_none_or(|(of, _)| *of != epoch) {
            *views = Some((epoch, [0, 1].map(of_epoch)));
        }
        views.as_ref().expect("they were made").1.clone()
    }
}

impl Forward for SglFormula {
    fn forward(&self, tables: &[Tensor], step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        let [users, items] = self.vectors(&self.graph, tables)?;
        let auxiliary = step.map(|step| {
            let [one, other] = self.views(step.epoch);
            self.settings.contrast().formula([&self.vectors(&one, tables)?, &self.vectors(&other, tables)?], step)
        });
        Ok(Encoded { users, items, auxiliary: auxiliary.transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_encoder, assert_gradients, assert_rows, dataset, tables};
    use super::*;

    fn settings(edge_dropout: f64) -> Sgl {
        let settings: Sgl = serde_json::from_str(r#"{"dim": 2, "layers": 2}"#).unwrap();
        Sgl { edge_dropout, ..settings }
    }

    #[test]
    fn a_step_is_that_of_the_formula() {
        for (layers, contrast_against) in [(2, ContrastAgainst::All), (1, ContrastAgainst::Batch), (3, ContrastAgainst::Batch)] {
            let settings = Sgl { layers, contrast_against, ..settings(0.3) };
            assert_encoder(&mut DroppedViews::new(&settings, &dataset(), 1), &SglFormula::new(&settings, &dataset(), 1));
        }
    }

    /// Of NumPy, with A as a dense matrix; both views are the vectors.
    #[test]
    fn without_dropped_edges_values_are_those_of_numpy() {
        let encoded = SglFormula::new(&settings(0.0), &dataset(), 1).forward(&tables(), Some(&STEP)).unwrap();
        let expected: [(usize, &[f64]); 3] =
            [(0, &[0.604414713132, 0.439101390725]), (2, &[-0.109683968367, -0.130337263579]), (7, &[-0.252305920997, -0.258914763885])];
        assert_rows(&encoded, &expected);
        let own = encoded.auxiliary.unwrap().to_scalar::<f64>().unwrap();
        assert!((own - 0.099015448084).abs() < 1e-7, "{own}"); // the edges' weights are floats
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&SglFormula::new(&settings(0.3), &dataset(), 1), &tables());
    }

    /// Of 20,000 interactions a share of 0.3 goes, with a standard error of 0.0032; views and epochs have draws of their own.
    #[test]
    fn a_share_of_the_edges_is_dropped_anew_in_each_view_and_epoch() {
        let train = Interactions::from_pairs(200, (0..20_000u32).map(|pair| (pair / 100, pair % 100)));
        let kept = |view, epoch| settings(0.3).kept(&train, 1, view, epoch);
        let first = kept(0, 1);
        assert!((first.len() as f64 / 20_000.0 - 0.7).abs() < 0.013, "{}", first.len());
        assert_eq!(first, kept(0, 1));
        for other in [kept(1, 1), kept(0, 2)] {
            let both = first.pairs().filter(|&(user, item)| other.row(user as usize).contains(&item)).count();
            assert!((both as f64 / 20_000.0 - 0.49).abs() < 0.015, "{both}");
        }
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Sgl>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "layers": 2, "edge_dropout": 1}"#), "edge_dropout is 1, expected a number from 0 to below 1");
        assert!(check(r#"{"dim": 4, "layers": 0}"#).starts_with("layers is 0, expected at least 1"));
        assert_eq!(check(r#"{"dim": 4, "layers": 1, "contrast_temperature": 0}"#), "contrast_temperature is 0, expected a number above 0");
    }
}
