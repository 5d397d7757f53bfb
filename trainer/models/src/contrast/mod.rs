//! What contrastive models share: noise on vectors, and the loss between two views of them.
//!
//! ```text
//! E' = E + ε sign(E) * z / |z|                                      z has a random number for each of E's
//! InfoNCE = mean over ids k of log sum_j exp(cos(v_k, w_j) / τ) - cos(v_k, w_k) / τ
//! ```
//! v and w are the rows of two views: of a batch's users, or of its positives. j goes over the same ids as k, or over all users or items.
//! Yu et al., SIGIR 2022 and TKDE 2023; Wu et al., SIGIR 2021.

pub(super) mod formula;
mod info_nce;
mod later_layers;
mod perturb;

pub(super) use later_layers::{Kept, LaterLayers};
pub use perturb::Noise;
pub(super) use perturb::Perturb;

use super::{Sizes, TensorSize, encoder::TrainStep};
use crate::graph::Adjacency;
use embeddings::{RowGradients, Tables};
use info_nce::{Comparison, InfoNce, ViewRows, info_nce};
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// `contrast_ids` of contrastive models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContrastIds {
    /// Each user and each positive of the batch once, as in the original.
    #[default]
    Unique,
    /// As often as the batch has them, as in the release of paper SL@K: repeats stand against themselves.
    All,
}

/// `contrast_against` of contrastive models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContrastAgainst {
    /// All users, and all items.
    #[default]
    All,
    /// Those of the batch.
    Batch,
}

/// The loss between two views of users, and of items.
#[derive(Clone, Copy)]
pub(super) struct Contrast {
    pub(super) weight: f64,
    pub(super) temperature: f64,
    pub(super) ids: ContrastIds,
    pub(super) against: ContrastAgainst,
}

/// Gradients of some rows of a table.
pub(super) struct SomeRows {
    ids: Vec<u32>,
    /// `[ids, dim]`
    values: Vec<f32>,
}

impl SomeRows {
    /// Adds them to the gradients of the table.
    pub(super) fn add_to(&self, gradients: &mut RowGradients) {
        let dim = gradients.dim();
        self.ids.iter().zip(self.values.chunks_exact(dim)).for_each(|(&id, row)| gradients.add(id as usize, row));
    }
}

/// Compares the views of each step, in a buffer that it keeps.
pub(super) struct Comparer {
    contrast: Contrast,
    cosines: Vec<f32>,
    /// What the last step compared, until its gradients are taken.
    contrasted: Option<Contrasted>,
}

impl Comparer {
    pub(super) fn new(contrast: Contrast) -> Self {
        Self { contrast, cosines: Vec::new(), contrasted: None }
    }

    /// Compares the rows of a step: `weight (InfoNCE of the batch's users + InfoNCE of its positives)`.
    pub(super) fn compare(&mut self, one: &Tables, other: &Tables, step: &TrainStep) {
        let (of_users, [one_users, other_users]) = self.side(&one.users, &other.users, step.users);
        let (of_items, [one_items, other_items]) = self.side(&one.items, &other.items, step.positives);
        self.contrasted = Some(Contrasted { loss: of_users + of_items, one: [one_users, one_items], other: [other_users, other_items] });
    }

    fn side(&mut self, one: &Matrix, other: &Matrix, ids: &[u32]) -> (f64, [SomeRows; 2]) {
        let Contrast { weight, temperature, ids: kept, against } = self.contrast;
        let (batch, most) = (ids, ids.len());
        let (ids, counts) = counted(batch, kept);
        let (others, own, most_cosines): (Vec<u32>, Vec<u32>, _) = match (against, kept) {
            (ContrastAgainst::All, _) => ((0..other.rows as u32).collect(), ids.clone(), most * other.rows),
            (ContrastAgainst::Batch, ContrastIds::Unique) => (ids.clone(), (0..ids.len() as u32).collect(), most * most),
            (ContrastAgainst::Batch, ContrastIds::All) => {
                let mut others = batch.to_vec();
                others.sort_unstable();
                let own = ids.iter().map(|id| others.partition_point(|other| other < id) as u32).collect();
                (others, own, most * most)
            }
        };
        if self.cosines.len() < most_cosines {
            self.cosines = Vec::new(); // before the larger one is there
            self.cosines = vec![0.0; most_cosines];
        }
        let (one, other) = (ViewRows { view: one, ids: &ids }, ViewRows { view: other, ids: &others });
        let comparison = Comparison { one, counts: &counts, other, own: &own, temperature, weight };
        let InfoNce { loss, one, other } = info_nce(comparison, &mut self.cosines[..ids.len() * others.len()]);
        (loss, [SomeRows { ids, values: one }, SomeRows { ids: others, values: other }])
    }

    /// What the last step compared.
    ///
    /// # Panics
    /// Where no step has compared anything, or it was taken before.
    pub(super) fn take(&mut self) -> Contrasted {
        self.contrasted.take().expect("a step has been encoded")
    }
}

/// The ids of a batch in order, each once, and how often each counts.
fn counted(batch: &[u32], kept: ContrastIds) -> (Vec<u32>, Vec<u32>) {
    let mut sorted = batch.to_vec();
    sorted.sort_unstable();
    let count = |repeats: &[u32]| (repeats[0], if kept == ContrastIds::All { repeats.len() as u32 } else { 1 });
    sorted.chunk_by(|a, b| a == b).map(count).unzip()
}

/// The loss between two views, and its gradients by their users and items.
pub(super) struct Contrasted {
    pub(super) loss: f64,
    pub(super) one: [SomeRows; 2],
    pub(super) other: [SomeRows; 2],
}

impl Contrast {
    /// Bytes of the cosines of users and of items, whichever are more, and of the rows that are held against each other with their gradients.
    pub(super) fn memory(self, Sizes { users, items, batch, positives, .. }: Sizes, dim: u64) -> u64 {
        let of = |rows: u64, all: u64| {
            let others = if self.against == ContrastAgainst::All { all } else { rows };
            (rows.saturating_mul(others).saturating_mul(4), info_nce::memory([rows, others], dim))
        };
        let (of_users, of_items) = (of(batch, users), of(positives, items));
        of_users.0.max(of_items.0).saturating_add(of_users.1).saturating_add(of_items.1)
    }

    /// Bytes of the same in candle's operations, of which each leaves a matrix of the cosines' size.
    pub(super) fn formula_memory(self, Sizes { users, items, batch, positives, .. }: Sizes, dim: u64) -> u64 {
        let of = |rows: u64, all: u64| {
            let (others, matrices) = if self.against == ContrastAgainst::All { (all, 9) } else { (rows, 5) };
            matrices * rows.saturating_mul(others).saturating_mul(4) + 3 * (rows + others) * dim * 4
        };
        of(batch, users).saturating_add(of(positives, items))
    }

    /// Bytes of a step in candle's operations where each of two views is a pass over the graph of its own, beside that of the scores: the layers of three
    /// passes with their gradients, a product with the graph, and what is contrasted.
    pub(super) fn formula_memory_of_views(self, sizes: Sizes, [dim, layers]: [u32; 2]) -> u64 {
        let (nodes, dim) = (sizes.users + sizes.items, u64::from(dim));
        let of_layers = (3 * (3 + 2 * u64::from(layers)) + 9) * nodes * dim * 4;
        of_layers + Adjacency::elsewhere_memory(2 * sizes.train, dim) + self.formula_memory(sizes, dim)
    }

    /// The cosines of a batch in candle's operations, of users or of items.
    pub(super) fn largest_tensor(self, Sizes { users, items, batch, positives, .. }: Sizes) -> TensorSize {
        let of = |rows: u64, all: u64| {
            let rows = if self.ids == ContrastIds::Unique { rows.min(all) } else { rows };
            rows.saturating_mul(if self.against == ContrastAgainst::All { all } else { rows })
        };
        TensorSize { numbers: of(batch, users).max(of(positives, items)), what: "the cosines of a batch with what it is held against" }
    }
}

/// Whether the values of a loss between views make sense.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check(layers: u32, contrast: Contrast) -> Result<(), String> {
    if layers == 0 {
        return Err("layers is 0, expected at least 1: without neighbours there is nothing that views could differ in".to_owned());
    }
    at_least_zero("contrast_weight", contrast.weight)?;
    match contrast.temperature > 0.0 && contrast.temperature.is_finite() {
        true => Ok(()),
        false => Err(format!("contrast_temperature is {}, expected a number above 0", contrast.temperature)),
    }
}

/// Whether a value is a number from 0 on.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn at_least_zero(key: &str, value: f64) -> Result<(), String> {
    match value >= 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(format!("{key} is {value}, expected a number from 0 on")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Wanted;

    fn views() -> [Tables; 2] {
        let matrix = |rows: &[[f32; 2]]| Matrix { rows: rows.len(), dim: 2, values: rows.as_flattened().to_vec() };
        let tables = |users: &[[f32; 2]], items: &[[f32; 2]]| Tables { users: matrix(users), items: matrix(items) };
        [
            tables(&[[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]], &[[1.0, 0.0], [0.0, 1.0]]),
            tables(&[[1.0, 1.0], [0.0, 5.0], [1.0, 0.0]], &[[0.0, 1.0], [0.0, 1.0]]),
        ]
    }

    fn contrast(ids: ContrastIds, against: ContrastAgainst) -> Contrast {
        Contrast { weight: 0.1, temperature: 0.5, ids, against }
    }

    fn loss(contrast: Contrast, users: &[u32]) -> f64 {
        let ([one, other], wanted) = (views(), Wanted::default());
        let mut comparer = Comparer::new(contrast);
        comparer.compare(&one, &other, &TrainStep { epoch: 1, step: 1, users, positives: &[0, 1], wanted });
        comparer.take().loss
    }

    /// By hand, τ = 0.5. Users 0 and 1 have the cosines [[0.70710678, 0], [0.70710678, 1]]: log(e^1.41421356 + 1) - 1.41421356 = 0.21762172 and
    /// log(e^1.41421356 + e^2) - 2 = 0.44254758, mean 0.33008465. Items 0 and 1: [[0, 0], [1, 1]]: log 2 twice.
    #[test]
    fn the_loss_is_that_by_hand() {
        let expected = 0.1 * (f64::midpoint(0.217_621_721_58, 0.442_547_578_52) + 2.0f64.ln());
        let a = 2.0f64.sqrt();
        for (found, expected) in [
            (loss(contrast(ContrastIds::Unique, ContrastAgainst::Batch), &[1, 0, 1]), expected),
            (loss(contrast(ContrastIds::All, ContrastAgainst::Batch), &[0, 1]), expected),
            // 1 twice: log(e^1.41421356 + 2) - 1.41421356 and twice log(e^1.41421356 + 2 e^2) - 2
            (loss(contrast(ContrastIds::All, ContrastAgainst::Batch), &[0, 1, 1]), {
                let (first, second) = ((a.exp() + 2.0).ln() - a, (a.exp() + 2.0 * 2.0f64.exp()).ln() - 2.0);
                0.1 * ((first + 2.0 * second) / 3.0 + 2.0f64.ln())
            }),
            // User 1 against all users, with the cosines [0.70710678, 1, 0].
            (loss(contrast(ContrastIds::Unique, ContrastAgainst::All), &[1]), {
                0.1 * ((a.exp() + 2.0f64.exp() + 1.0).ln() - 2.0 + 2.0f64.ln())
            }),
        ] {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn a_smaller_batch_after_a_larger_one_is_as_alone() {
        let ([one, other], contrast) = (views(), contrast(ContrastIds::Unique, ContrastAgainst::Batch));
        let step = |users| TrainStep { epoch: 1, step: 1, users, positives: &[0, 1], wanted: Wanted::default() };
        let mut comparer = Comparer::new(contrast);
        comparer.compare(&one, &other, &step(&[0, 1, 2]));
        comparer.compare(&one, &other, &step(&[0, 1]));
        assert_eq!(comparer.take().loss.to_bits(), loss(contrast, &[0, 1]).to_bits());
    }

    #[test]
    fn gradients_are_of_the_rows_that_were_compared() {
        let ([one, other], wanted) = (views(), Wanted::default());
        let step = TrainStep { epoch: 1, step: 1, users: &[2, 0, 2], positives: &[0, 1], wanted };
        let ids = |against| {
            let mut comparer = Comparer::new(contrast(ContrastIds::Unique, against));
            comparer.compare(&one, &other, &step);
            let Contrasted { one, other, .. } = comparer.take();
            [one[0].ids.clone(), other[0].ids.clone()]
        };
        assert_eq!(ids(ContrastAgainst::Batch), [vec![0, 2], vec![0, 2]]);
        assert_eq!(ids(ContrastAgainst::All), [vec![0, 2], vec![0, 1, 2]]);
    }
}
