//! Losses of rows of scores, and their derivatives in the scores' place: `kernels/losses.cu`.

use crate::{
    Buffer, Gpu, Result,
    launch::{Grid, count, nothing, number, read, write},
};

/// Threads of a block that makes a row.
const THREADS: usize = 256;

/// A loss of one positive and its negatives, with its values; formulas and sources stand with the trainer's losses of the same names.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// `sum_j softplus(s_j - s+)`
    Bpr,
    /// `factor log sum_j exp((s_j - s+) / temperature)`
    Softmax {
        /// Temperature of the softmax, above 0.
        temperature: f32,
        /// Whether the positive stands in the sum beside the negatives.
        include_positive: bool,
        /// The factor of the loss.
        factor: f32,
        /// A weight of each row, for softmax at K.
        weight: Option<Weight>,
    },
    /// `log sum_j (tanh((s_j - s+) / score_temperature) + 1)^(1 / temperature)`
    Psl {
        /// Temperature of the exponent, above 0.
        temperature: f32,
        /// Temperature of the score differences, above 0.
        score_temperature: f32,
    },
    /// `1 - s+ + negative_weight mean_j max(s_j - margin, 0)`
    Ccl {
        /// The score up to which a negative costs nothing.
        margin: f32,
        /// The weight of all negatives together.
        negative_weight: f32,
    },
    /// `positive_weight (s+ - 1)^2 + sum_j s_j^2`
    Mse {
        /// Weight of the positive's term, above 0.
        positive_weight: f32,
    },
}

/// `sigmoid((s+ - quantile of the row's user) / temperature)`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// Temperature of the sigmoid, above 0.
    pub temperature: f32,
    /// Whether the weight is a constant of the gradient.
    pub detached: bool,
}

/// The rows of a batch, and what their losses are measured by.
#[derive(Debug)]
pub struct Scored<'a> {
    /// `[rows, 1 + N]`, positives first; after it the derivatives.
    pub scores: &'a mut Buffer<f32>,
    /// Rows.
    pub rows: usize,
    /// `1 + N`
    pub width: usize,
    /// `[users]`, of losses that have a weight by them.
    pub quantiles: Option<&'a Buffer<f32>>,
    /// The rows' users.
    pub users: &'a Buffer<u32>,
}

impl Loss {
    /// Replaces scores by the derivatives of the losses times `scale`; `losses [rows]`.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When a loss with a weight is given no quantiles.
    pub fn weigh(&self, gpu: &Gpu, scored: Scored, scale: f32, losses: &mut Buffer<f32>) -> Result<()> {
        let Scored { scores, rows, width, quantiles, users } = scored;
        assert!(rows * width <= scores.len() && rows <= losses.len() && width > 1, "{rows} rows of {width} scores");
        let (grid, scores, scale, losses) = (Grid::blocks(rows, THREADS), write(scores), number(scale), write(losses));
        match *self {
            Self::Bpr => gpu.launch("weigh_bpr", grid, &[scores, count(width), scale, losses]),
            Self::Softmax { temperature, include_positive, factor, weight } => {
                assert!(weight.is_none() || quantiles.is_some(), "a weight needs quantiles");
                let arguments = [
                    scores,
                    count(width),
                    number(1.0 / temperature),
                    count(usize::from(include_positive)),
                    number(factor),
                    quantiles.map_or_else(|| nothing("const float*"), read),
                    read(users),
                    number(weight.map_or(0.0, |weight| 1.0 / weight.temperature)),
                    count(usize::from(weight.is_some_and(|weight| weight.detached))),
                    scale,
                    losses,
                ];
                gpu.launch("weigh_softmax", grid, &arguments)
            }
            Self::Psl { temperature, score_temperature } => {
                let arguments = [scores, count(width), number(1.0 / temperature), number(2.0 / score_temperature), scale, losses];
                gpu.launch("weigh_psl", grid, &arguments)
            }
            Self::Ccl { margin, negative_weight } => {
                gpu.launch("weigh_ccl", grid, &[scores, count(width), number(margin), number(negative_weight), scale, losses])
            }
            Self::Mse { positive_weight } => gpu.launch("weigh_mse", grid, &[scores, count(width), number(positive_weight), scale, losses]),
        }
    }
}

/// The sums of the losses of an epoch, on the device.
#[derive(Debug)]
pub struct Totals {
    /// The sum, and the first step whose sum is no number.
    values: Buffer<f64>,
}

impl Totals {
    /// Makes totals of nothing yet.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self { values: gpu.zeros(2)? })
    }

    /// Adds the losses of a step, counted from 1.
    ///
    /// # Errors
    /// Those of the device.
    pub fn add(&mut self, gpu: &Gpu, losses: &Buffer<f32>, rows: usize, step: u32) -> Result<()> {
        assert!(rows <= losses.len(), "{rows} losses");
        gpu.launch("add_losses", Grid::blocks(1, 1_024), &[read(losses), count(rows), count(step as usize), write(&mut self.values)])
    }

    /// The sum, and the first step whose sum was no number; after it nothing again.
    ///
    /// # Errors
    /// Those of the device.
    pub fn take(&mut self, gpu: &Gpu) -> Result<(f64, Option<u32>)> {
        let values = gpu.read(&self.values)?;
        gpu.clear(&mut self.values)?;
        Ok((values[0], (values[1] > 0.0).then_some(values[1] as u32)))
    }
}

/// The train pairs of an epoch.
#[derive(Debug)]
pub struct Pairs {
    users: Buffer<u32>,
    items: Buffer<u32>,
    /// The order of the epoch: each pair's number once.
    order: Buffer<u32>,
}

impl Pairs {
    /// Puts all train pairs on the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(gpu: &Gpu, users: &[u32], items: &[u32]) -> Result<Self> {
        assert_eq!(users.len(), items.len(), "a pair is a user and an item");
        Ok(Self { users: gpu.upload(users)?, items: gpu.upload(items)?, order: gpu.zeros(users.len())? })
    }

    /// The order of an epoch: each pair's number once.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set_order(&mut self, gpu: &Gpu, order: &[u32]) -> Result<()> {
        gpu.write(&mut self.order, order)
    }

    /// `rows` pairs from place `first` of the order on: `users [rows]`, and the positives as the first column of `ids [rows, width]`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn take(
        &self,
        gpu: &Gpu,
        (first, rows): (usize, usize),
        users: &mut Buffer<u32>,
        (ids, width): (&mut Buffer<u32>, usize),
    ) -> Result<()> {
        assert!(first + rows <= self.order.len() && rows <= users.len() && rows * width <= ids.len(), "{rows} pairs from {first}");
        let arguments =
            [read(&self.order), count(first), count(rows), read(&self.users), read(&self.items), count(width), write(users), write(ids)];
        gpu.launch("take_batch", Grid::threads(rows), &arguments)
    }
}
