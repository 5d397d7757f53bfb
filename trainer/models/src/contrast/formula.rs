//! Noise and contrast of views in candle's operations, as papers write them: for any device, and what the loops and their ways back are held
//! against.

use super::{Contrast, ContrastAgainst, ContrastIds, Perturb};
use crate::{
    encoder::TrainStep,
    graph::Adjacency,
    noise::Keyed,
    operations::{select_rows, unit_rows},
};
use candle_core::{D, Result, Tensor};
use streams::Purpose;

/// Layers after layer 0.
pub(crate) struct LaterLayersFormula {
    pub(crate) adjacency: Adjacency,
    pub(crate) seed: u64,
    pub(crate) count: u32,
    pub(crate) perturb: Perturb,
}

impl LaterLayersFormula {
    /// A E, A A E and so on; of a numbered view with noise, which the next layer is made from too.
    pub(crate) fn of(&self, nodes: &Tensor, view: Option<(u32, &TrainStep)>) -> Result<Vec<Tensor>> {
        let mut layers: Vec<Tensor> = Vec::new();
        for layer in 0..self.count {
            let mut next = self.adjacency.propagate(layers.last().unwrap_or(nodes))?;
            if let Some((view, step)) = view {
                let keyed = Keyed { seed: self.seed, purpose: Purpose::Noise, place: view * self.count + layer, first: 0 };
                let fixed = next.detach();
                let noise = keyed.rows(step, &fixed, |stream, values| self.perturb.fill(stream, values))?;
                next = (next + (fixed.sign()? * noise)?)?;
            }
            layers.push(next);
        }
        Ok(layers)
    }
}

impl Contrast {
    /// The loss between views `[users, items]`.
    pub(crate) fn formula(self, [one, other]: [&[Tensor; 2]; 2], step: &TrainStep) -> Result<Tensor> {
        let of = |side: usize, ids: &[u32]| {
            let mut ids = ids.to_vec();
            if self.ids == ContrastIds::Unique {
                ids.sort_unstable();
                ids.dedup();
            }
            let (others, own) = match self.against {
                ContrastAgainst::All => (other[side].clone(), ids.clone()),
                ContrastAgainst::Batch => (select_rows(&other[side], &ids)?, (0..ids.len() as u32).collect()),
            };
            info_nce([&select_rows(&one[side], &ids)?, &others], &own, self.temperature)
        };
        (of(0, step.users)? + of(1, step.positives)?)? * self.weight
    }
}

/// InfoNCE of rows `[B, dim]` among others `[M, dim]`, of which `own [B]` belong to them.
pub(super) fn info_nce([one, other]: [&Tensor; 2], own: &[u32], temperature: f64) -> Result<Tensor> {
    let (one, other) = (unit_rows(one)?, unit_rows(other)?);
    let all = (one.matmul(&other.t()?)? / temperature)?.log_sum_exp(D::Minus1)?;
    let own = ((one * select_rows(&other, own)?)?.sum(D::Minus1)? / temperature)?;
    (all - own)?.mean_all()
}
