//! The tables of a model on the device, their moments, and the gradients of a step.

use crate::{
    Result,
    collective::Collective,
    optimizer::{Moments, Stepper},
};
use evaluator::Matrix;
use gpu::{Buffer, Gpu, adam, marks, segments::Sums};

/// A table and its moments.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: usize,
    pub(super) dim: usize,
    /// `[rows, dim]`
    pub(super) values: Buffer<f32>,
    first: Buffer<f32>,
    second: Buffer<f32>,
    pub(super) gradient: Gradient,
}

/// The gradient of a table in a step.
#[derive(Debug)]
pub(super) struct Gradient {
    rows: usize,
    dim: usize,
    /// `[rows, dim]`; rows without a mark hold leftovers.
    pub(super) values: Buffer<f32>,
    /// `[rows]`: which have a gradient.
    pub(super) touched: Buffer<u8>,
    /// `[rows]`: sums of the weights that the gradients are made of.
    pub(super) totals: Buffer<f32>,
}

impl Table {
    pub(super) fn new(gpu: &Gpu, rows: usize, dim: usize) -> Result<Self> {
        let zeros = || gpu.zeros(rows * dim);
        let gradient = Gradient { rows, dim, values: zeros()?, touched: gpu.zeros(rows)?, totals: gpu.zeros(rows)? };
        Ok(Self { rows, dim, values: zeros()?, first: zeros()?, second: zeros()?, gradient })
    }

    /// Takes the numbers from home.
    pub(super) fn load(&mut self, gpu: &Gpu, values: &Matrix, moments: &Moments) -> Result<()> {
        gpu.write(&mut self.values, &values.values)?;
        gpu.write(&mut self.first, &moments.first)?;
        Ok(gpu.write(&mut self.second, &moments.second)?)
    }

    /// Brings the numbers home.
    pub(super) fn store(&self, gpu: &Gpu, values: &mut Matrix, moments: &mut Moments) -> Result<()> {
        values.values = gpu.read(&self.values)?;
        moments.first = gpu.read(&self.first)?;
        moments.second = gpu.read(&self.second)?;
        Ok(())
    }

    /// The next step of the optimizer.
    pub(super) fn step(&mut self, gpu: &Gpu, stepper: &Stepper) -> Result<()> {
        let Self { values, first, second, gradient, dim, .. } = self;
        let (step, all) = (stepper.on_device(), stepper.moves_all_rows());
        let table = adam::Table { values, first, second, dim: *dim };
        Ok(adam::step(gpu, table, &gradient.values, &gradient.touched, &step, all)?)
    }
}

impl Gradient {
    /// Where sums by row are put.
    pub(super) fn sums(&mut self) -> Sums<'_> {
        Sums { out: &mut self.values, touched: &mut self.touched, totals: &mut self.totals }
    }

    /// Adds up the gradients of all ranks.
    pub(super) fn add_up(&mut self, gpu: &Gpu, collective: &Collective, what: &'static str) -> Result<()> {
        if collective.ranks() == 1 {
            return Ok(());
        }
        let Self { rows, dim, values, touched, totals } = self;
        marks::write_zeros(gpu, touched, values, totals, [*rows, *dim])?;
        collective.sum_buffer(what, gpu, values)?;
        collective.sum_buffer(what, gpu, totals)?; // how many ranks have touched a row: some optimizers leave the others alone
        Ok(marks::of_numbers(gpu, totals, touched)?)
    }
}
