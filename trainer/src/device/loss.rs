//! A loss on the device: a kernel, or its formula on the device's scores.

use crate::Result;
use candle_core::{Tensor, Var};
use gpu::{
    Buffer, Gpu,
    rows::{self, Argument, ScoreRows},
};
use losses::{Given, Kernel, KernelArgument, Loss, Scores};

/// The rows of a batch.
#[derive(Debug)]
pub(crate) struct Scored<'a> {
    /// `[rows, 1 + N]`, positives first; after the loss, the derivatives.
    pub(crate) scores: &'a mut Buffer<f32>,
    /// Rows.
    pub(crate) rows: usize,
    /// `1 + N`
    pub(crate) width: usize,
    /// `[users]`, of losses that have quantiles.
    pub(crate) quantiles: Option<&'a Buffer<f32>>,
    /// The rows' users.
    pub(crate) users: &'a Buffer<u32>,
}

/// A loss on the rows of a batch.
#[derive(Debug)]
pub(crate) enum DeviceLoss {
    /// A kernel.
    Kernel(Kernel),
    /// The formula, in candle's operations on the device.
    Formula {
        /// The loss.
        loss: Loss,
        /// Items of the catalogue.
        items: usize,
    },
}

impl DeviceLoss {
    /// The device's form of a loss that [has kernels](super::has_kernels).
    pub(crate) fn new(loss: &Loss, items: usize) -> Self {
        loss.kernel().map_or_else(|| Self::Formula { loss: loss.clone(), items }, Self::Kernel)
    }

    /// Steps that a host may ask a device for before it waits. A device that runs behind takes some thousand launches, of which a formula's step has up to 155; where a
    /// rank is lost none of them returns, and the host, which has to see that, must never get to the last. A formula that ranks its scores, or has no derivative on the
    /// device, copies from it within a step, and must not wait for that copy while an all-reduce of an earlier step runs: a formula asks for one step.
    pub(crate) fn steps_ahead(&self) -> u32 {
        match self {
            Self::Kernel(_) => 8,
            Self::Formula { .. } => 1,
        }
    }

    /// Replaces scores `[rows, 1 + N]` by the derivatives of the losses times `scale`; `losses [rows]`.
    pub(crate) fn score_gradients(&self, gpu: &Gpu, scored: Scored, scale: f32, losses: &mut Buffer<f32>) -> Result<()> {
        if scored.rows == 0 {
            return Ok(()); // of a rank that has no row of a small batch: candle launches nothing of no numbers
        }
        match self {
            Self::Kernel(kernel) => run(gpu, kernel, scored, scale, losses),
            Self::Formula { loss, items } => formula(gpu, loss, *items, scored, scale, losses),
        }
    }
}

fn run(gpu: &Gpu, kernel: &Kernel, scored: Scored, scale: f32, losses: &mut Buffer<f32>) -> Result<()> {
    let Scored { scores, rows, width, quantiles, users } = scored;
    let argument = |argument: &KernelArgument| match argument {
        KernelArgument::Number(value) => Argument::Number(*value),
        KernelArgument::Flag(value) => Argument::Flag(*value),
        KernelArgument::Quantiles => Argument::Numbers(Some(quantiles.expect("a loss with quantiles is given them"))),
        KernelArgument::NoNumbers => Argument::Numbers(None),
        KernelArgument::Users => Argument::Ids(users),
    };
    let arguments: Vec<Argument> = kernel.arguments.iter().map(argument).collect();
    let kernel = rows::RowKernel { name: kernel.name, arguments: &arguments };
    Ok(rows::weigh(gpu, kernel, ScoreRows { scores, rows, width }, scale, losses)?)
}

fn formula(gpu: &Gpu, loss: &Loss, items: usize, scored: Scored, scale: f32, losses: &mut Buffer<f32>) -> Result<()> {
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
