//! What contrastive models share: noise on vectors, and the loss between two views of them.
//!
//! ```text
//! E' = E + ε sign(E) * z / |z|                                      z has a random number for each of E's
//! InfoNCE = mean over ids k of log sum_j exp(cos(v_k, w_j) / τ) - cos(v_k, w_k) / τ
//! ```
//! v and w are the rows of two views, of a batch's users or of its positives; j goes over the same ids as k. Yu et al., SIGIR 2022 and TKDE 2023.

use super::{
    encoder::TrainStep,
    nodes::unit_rows,
    noise::{Keyed, normal, uniform},
};
use crate::{
    graph::Adjacency,
    sampler::{Purpose, Stream},
};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};

/// `noise` of contrastive models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Uniform numbers, so that every vector stays in its orthant, as in the original.
    #[default]
    Uniform,
    /// Normal numbers, which may point either way, as in the release of paper SL@K.
    Normal,
}

/// `contrast_ids` of contrastive models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContrastIds {
    /// Each user and each positive of the batch once, as in the original.
    #[default]
    Unique,
    /// As often as the batch has them, as in the release of paper SL@K: repeats stand against themselves.
    All,
}

/// The layers that contrastive models have in common.
pub(crate) struct Layers {
    pub(crate) adjacency: Adjacency,
    pub(crate) seed: u64,
    pub(crate) count: u32,
    pub(crate) perturb: Perturb,
}

impl Layers {
    /// A E, A A E and so on, each made from the one before it: of a numbered view with noise, which the next layer is made from too.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(crate) fn of(&self, nodes: &Tensor, view: Option<(u32, &TrainStep)>) -> Result<Vec<Tensor>> {
        let mut layers: Vec<Tensor> = Vec::new();
        for layer in 0..self.count {
            let mut next = self.adjacency.propagate(layers.last().unwrap_or(nodes))?;
            if let Some((view, step)) = view {
                let keyed = Keyed { seed: self.seed, purpose: Purpose::Noise, place: view * self.count + layer, first: 0 };
                next = self.perturb.apply(&next, keyed, step)?;
            }
            layers.push(next);
        }
        Ok(layers)
    }
}

/// Noise of so much length on vectors.
#[derive(Clone, Copy)]
pub(crate) struct Perturb {
    pub(crate) epsilon: f64,
    pub(crate) noise: Noise,
}

impl Perturb {
    /// The vectors with their noise, which has no derivative.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(crate) fn apply(self, vectors: &Tensor, keyed: Keyed, step: &TrainStep) -> Result<Tensor> {
        let fill = |stream: &mut Stream, values: &mut [f32]| {
            match self.noise {
                Noise::Uniform => uniform(stream, values),
                Noise::Normal => normal(stream, values),
            }
            let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
            let scale = if length > 0.0 { self.epsilon as f32 / length } else { 0.0 };
            values.iter_mut().for_each(|value| *value *= scale);
        };
        let fixed = vectors.detach();
        vectors + (fixed.sign()? * keyed.rows(step, &fixed, fill)?)?
    }
}

/// The loss between two views of users, and of items.
#[derive(Clone, Copy)]
pub(crate) struct Contrast {
    pub(crate) weight: f64,
    pub(crate) temperature: f64,
    pub(crate) ids: ContrastIds,
}

impl Contrast {
    /// Bytes of the cosines of users and of items with each other, what their logarithms need, and their gradients.
    pub(crate) fn memory(batch: u64) -> u64 {
        2 * 8 * batch.saturating_mul(batch).saturating_mul(4)
    }

    /// `weight (InfoNCE of the batch's users + InfoNCE of its positives)`, of views `[[users, items], [users, items]]`.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(crate) fn loss(self, [one, other]: [&[Tensor; 2]; 2], step: &TrainStep) -> Result<Tensor> {
        let of = |side: usize, ids: &[u32]| self.info_nce(&one[side], &other[side], ids);
        (of(0, step.users)? + of(1, step.positives)?)? * self.weight
    }

    fn info_nce(self, one: &Tensor, other: &Tensor, ids: &[u32]) -> Result<Tensor> {
        let mut ids = ids.to_vec();
        if self.ids == ContrastIds::Unique {
            ids.sort_unstable();
            ids.dedup();
        }
        let ids = Tensor::new(ids, one.device())?;
        let rows = |view: &Tensor| unit_rows(&view.index_select(&ids, 0)?);
        let (one, other) = (rows(one)?, rows(other)?);
        let sharpness = 1.0 / self.temperature;
        let all = (one.matmul(&other.t()?)? * sharpness)?.log_sum_exp(D::Minus1)?;
        let own = ((one * other)?.sum(D::Minus1)? * sharpness)?;
        (all - own)?.mean_all()
    }
}

/// Whether the values of a contrastive model make sense.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check(layers: u32, epsilon: f64, contrast: Contrast) -> std::result::Result<(), String> {
    let at_least_zero = |key: &str, value: f64| match value >= 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(format!("{key} is {value}, expected a number from 0 on")),
    };
    if layers == 0 {
        return Err("layers is 0, expected at least 1: the vectors are the mean of the layers after the first".to_owned());
    }
    at_least_zero("epsilon", epsilon)?;
    at_least_zero("contrast_weight", contrast.weight)?;
    match contrast.temperature > 0.0 && contrast.temperature.is_finite() {
        true => Ok(()),
        false => Err(format!("contrast_temperature is {}, expected a number above 0", contrast.temperature)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backbone::encoder::Wanted;
    use candle_core::{DType, Device};

    fn views() -> [[Tensor; 2]; 2] {
        let tensor = |rows: &[[f64; 2]]| Tensor::from_slice(rows.as_flattened(), (rows.len(), 2), &Device::Cpu).unwrap();
        let (users, items) = ([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]);
        let (others, other_items) = ([[1.0, 1.0], [0.0, 5.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]);
        [[tensor(&users), tensor(&items)], [tensor(&others), tensor(&other_items)]]
    }

    fn step<'a>(users: &'a [u32], positives: &'a [u32]) -> TrainStep<'a> {
        TrainStep { epoch: 1, step: 1, users, positives, wanted: Wanted::default() }
    }

    /// By hand, τ = 0.5. Users 0 and 1 have the cosines [[0.70710678, 0], [0.70710678, 1]]: log(e^1.41421356 + 1) - 1.41421356 = 0.21762172 and
    /// log(e^1.41421356 + e^2) - 2 = 0.44254758, mean 0.33008465. Items 0 and 1: [[0, 0], [1, 1]]: log 2 twice.
    #[test]
    fn the_loss_is_that_by_hand() {
        let [one, other] = views();
        let loss = |ids: ContrastIds, users: &[u32]| {
            let contrast = Contrast { weight: 0.1, temperature: 0.5, ids };
            contrast.loss([&one, &other], &step(users, &[0, 1])).unwrap().to_scalar::<f64>().unwrap()
        };
        let expected = 0.1 * (f64::midpoint(0.217_621_721_58, 0.442_547_578_52) + 2.0f64.ln());
        for (found, expected) in [
            (loss(ContrastIds::Unique, &[1, 0, 1]), expected),
            (loss(ContrastIds::All, &[0, 1]), expected),
            // 1 twice: log(e^1.41421356 + 2) - 1.41421356 and twice log(e^1.41421356 + 2 e^2) - 2
            (loss(ContrastIds::All, &[0, 1, 1]), {
                let a = 2.0f64.sqrt();
                let (first, second) = ((a.exp() + 2.0).ln() - a, (a.exp() + 2.0 * 2.0f64.exp()).ln() - 2.0);
                0.1 * ((first + 2.0 * second) / 3.0 + 2.0f64.ln())
            }),
        ] {
            assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        }
    }

    #[test]
    fn noise_has_its_length_and_keeps_the_signs() {
        let vectors = Tensor::new(&[[3.0f32, -1.0, 0.5], [0.0, 0.0, 0.0], [-1.0, -1.0, 2.0]], &Device::Cpu).unwrap();
        let keyed = Keyed { seed: 1, purpose: Purpose::Noise, place: 3, first: 0 };
        let moved = Perturb { epsilon: 0.1, noise: Noise::Uniform }.apply(&vectors, keyed, &step(&[], &[])).unwrap();
        let added: Vec<Vec<f32>> = (&moved - &vectors).unwrap().to_vec2().unwrap();
        let length = |row: &[f32]| row.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((length(&added[0]) - 0.1).abs() < 1e-6 && (length(&added[2]) - 0.1).abs() < 1e-6, "{added:?}");
        assert_eq!(added[1], [0.0; 3]);
        assert!(added[0][0] >= 0.0 && added[0][1] <= 0.0 && added[0][2] >= 0.0);
        let none = Perturb { epsilon: 0.0, noise: Noise::Normal }.apply(&vectors, keyed, &step(&[], &[])).unwrap();
        assert_eq!(none.to_dtype(DType::F32).unwrap().to_vec2::<f32>().unwrap(), vectors.to_vec2::<f32>().unwrap());
    }
}
