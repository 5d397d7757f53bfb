//! A loss as its candle formula: for losses without a fused twin, and the reference of those with one.

use crate::{Loss, Result, loss::Scores, scoring::Weighed};
use candle_core::{Device, Tensor, Var};

/// Losses of rows of scores and their derivatives times `scale`: positives `[B]`, negatives `[B, N]`, quantiles `[B]`.
pub(super) fn weigh(loss: &Loss, positives: &[f32], negatives: &[f32], quantiles: Option<&[f32]>, scale: f32) -> Result<Weighed> {
    let (rows, device) = (positives.len(), &Device::Cpu);
    let positives = Var::from_slice(positives, rows, device)?;
    let negatives = Var::from_slice(negatives, (rows, negatives.len() / rows), device)?;
    let quantiles = quantiles.map(|quantiles| Tensor::from_slice(quantiles, rows, device)).transpose()?;
    let losses = loss.forward(&Scores { positives: &positives, negatives: &negatives, quantiles: quantiles.as_ref() })?;
    let gradients = (losses.sum_all()? * f64::from(scale))?.backward()?;
    let derivative = |scores: &Var| match gradients.get(scores) {
        Some(gradient) => gradient.flatten_all()?.to_vec1::<f32>(),
        None => Ok(vec![0.0; scores.elem_count()]),
    };
    Ok(Weighed { losses: losses.to_vec1()?, positives: derivative(&positives)?, negatives: derivative(&negatives)? })
}
