//! A loss as its candle formula: for losses without a fused twin, and the reference of those with one.

use super::draws::Draws;
use crate::{
    Loss, Result,
    loss::{LogProbabilities, Scores},
    scoring::Weighed,
};
use candle_core::{Device, Tensor, Var};

/// Some rows of a batch, as plain slices.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// `[B]`
    pub(super) positives: &'a [f32],
    /// `[B, N]`
    pub(super) negatives: &'a [f32],
    /// `[B]`
    pub(super) quantiles: Option<&'a [f32]>,
    /// How the negatives were drawn.
    pub(super) draws: Option<&'a Draws>,
    /// Items of the catalogue.
    pub(super) items: usize,
}

/// Losses of rows of scores and their derivatives times `scale`.
pub(super) fn weigh(loss: &Loss, rows: Rows, scale: f32) -> Result<Weighed> {
    let (count, device) = (rows.positives.len(), &Device::Cpu);
    let matrix = (count, rows.negatives.len() / count);
    let positives = Var::from_slice(rows.positives, count, device)?;
    let negatives = Var::from_slice(rows.negatives, matrix, device)?;
    let quantiles = rows.quantiles.map(|quantiles| Tensor::from_slice(quantiles, count, device)).transpose()?;
    let own = rows.draws.map(|draws| Tensor::from_slice(&draws.positives, count, device)).transpose()?;
    let drawn = rows.draws.map(|draws| Tensor::from_slice(&draws.negatives, matrix, device)).transpose()?;
    let losses = loss.forward(&Scores {
        positives: &positives,
        negatives: &negatives,
        quantiles: quantiles.as_ref(),
        log_probabilities: own.as_ref().zip(drawn.as_ref()).map(|(positives, negatives)| LogProbabilities { positives, negatives }),
        items: rows.items,
    })?;
    let gradients = (losses.sum_all()? * f64::from(scale))?.backward()?;
    let derivative = |scores: &Var| match gradients.get(scores) {
        Some(gradient) => gradient.flatten_all()?.to_vec1::<f32>(),
        None => Ok(vec![0.0; scores.elem_count()]),
    };
    Ok(Weighed { losses: losses.to_vec1()?, positives: derivative(&positives)?, negatives: derivative(&negatives)? })
}
