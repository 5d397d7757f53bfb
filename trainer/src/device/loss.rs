//! A loss on the device: a kernel, or its formula on the device's scores.

use crate::Result;
use candle_core::{Tensor, Var};
use gpu::{
    Buffer, Gpu,
    losses::{self as kernels, Scored},
};
use losses::{Given, Loss, Scores, fused::Fused};

/// What weighs the rows of a batch.
#[derive(Debug)]
pub(crate) enum DeviceLoss {
    /// A kernel, that of `losses::fused`.
    Kernel(kernels::Loss),
    /// The formula, in candle's operations on the device.
    Formula {
        /// The loss.
        loss: Loss,
        /// Items of the catalogue.
        items: usize,
    },
}

impl DeviceLoss {
    /// The device's form of a loss that [fits](super::fits_gpu).
    pub(crate) fn new(loss: &Loss, items: usize) -> Self {
        let softmax = |settings: &losses::fused::Softmax, factor: f32, weight: Option<kernels::Weight>| kernels::Loss::Softmax {
            temperature: settings.temperature,
            include_positive: settings.include_positive,
            factor,
            weight,
        };
        let kernel = match loss.fused() {
            Some(Fused::Bpr) => kernels::Loss::Bpr,
            Some(Fused::Softmax(settings)) => softmax(&settings, 1.0, None),
            Some(Fused::SoftmaxAtK(settings)) => {
                let weight = kernels::Weight { temperature: settings.weight_temperature, detached: settings.detach_weight };
                softmax(&settings.softmax, 1.0, Some(weight))
            }
            Some(Fused::Bsl(settings)) => softmax(&settings.softmax, settings.factor, None),
            Some(Fused::Psl(settings)) => {
                kernels::Loss::Psl { temperature: settings.temperature, score_temperature: settings.score_temperature }
            }
            Some(Fused::Ccl(settings)) => kernels::Loss::Ccl { margin: settings.margin, negative_weight: settings.negative_weight },
            Some(Fused::Mse(settings)) => kernels::Loss::Mse { positive_weight: settings.positive_weight },
            _ => return Self::Formula { loss: loss.clone(), items },
        };
        Self::Kernel(kernel)
    }

    /// Replaces scores `[rows, 1 + N]` by the derivatives of the losses times `scale`; `losses [rows]`.
    pub(crate) fn weigh(&self, gpu: &Gpu, scored: Scored, scale: f32, losses: &mut Buffer<f32>) -> Result<()> {
        if scored.rows == 0 {
            return Ok(()); // of a rank that has no row of a small batch: candle launches nothing of no numbers
        }
        match self {
            Self::Kernel(kernel) => Ok(kernel.weigh(gpu, scored, scale, losses)?),
            Self::Formula { loss, items } => formula(gpu, (loss, *items), scored, scale, losses),
        }
    }
}

fn formula(gpu: &Gpu, (loss, items): (&Loss, usize), scored: Scored, scale: f32, losses: &mut Buffer<f32>) -> Result<()> {
    let all = gpu.tensor(scored.scores, (scored.rows, scored.width))?;
    let part = |from: usize, count: usize| -> Result<Var> { Ok(Var::from_tensor(&all.narrow(1, from, count)?.contiguous()?)?) };
    let (positives, negatives) = (part(0, 1)?, part(1, scored.width - 1)?);
    let of_positives = positives.as_tensor().squeeze(1)?;
    let given = Scores { positives: &of_positives, negatives: &negatives, items, given: Given::default() };
    let values = loss.forward(&given)?;
    let gradients = (values.sum_all()? * f64::from(scale))?.backward()?;
    let derivative = |of: &Var| gradients.get(of).cloned().map_or_else(|| of.zeros_like(), Ok);
    let derivatives = Tensor::cat(&[derivative(&positives)?, derivative(&negatives)?], 1)?;
    gpu.fill(scored.scores, &derivatives)?;
    Ok(gpu.fill(losses, &values)?)
}
