//! The tables of a model on the device, and their moments.

use super::{gradient::DeviceGradient, optimizer};
use crate::Result;
use gpu::{
    Buffer, Gpu,
    adam::{self, Leaps},
};
use optimizers::{Parameter, Stepper};

/// A table, its moments and its gradient.
#[derive(Debug)]
pub(crate) struct DeviceTable {
    dim: usize,
    /// `[rows, dim]`
    pub(crate) values: Buffer<f32>,
    first: Buffer<f32>,
    second: Buffer<f32>,
    /// `[rows]`, the place in time to which each is up to date, where rows may be left behind.
    left: Option<Buffer<u32>>,
    pub(crate) gradient: DeviceGradient,
}

impl DeviceTable {
    /// Makes a table of zeros; rows without a gradient are `left_behind` until they are next looked at, or move in every step.
    pub(crate) fn new(gpu: &Gpu, rows: usize, dim: usize, left_behind: bool) -> Result<Self> {
        let zeros = || gpu.zeros(rows * dim);
        let left = left_behind.then(|| gpu.zeros(rows)).transpose()?;
        Ok(Self { dim, values: zeros()?, first: zeros()?, second: zeros()?, left, gradient: DeviceGradient::new(gpu, rows, dim)? })
    }

    /// Takes the numbers from the host.
    pub(crate) fn load(&mut self, gpu: &Gpu, parameter: &Parameter) -> Result<()> {
        gpu.write(&mut self.values, &parameter.values.values)?;
        gpu.write(&mut self.first, &parameter.first)?;
        gpu.write(&mut self.second, &parameter.second)?;
        self.left.as_mut().map_or(Ok(()), |left| Ok(gpu.write(left, &parameter.left)?))
    }

    /// Copies the numbers to the host, as they are.
    pub(crate) fn store(&self, gpu: &Gpu, parameter: &mut Parameter) -> Result<()> {
        parameter.values.values = gpu.read(&self.values)?;
        parameter.first = gpu.read(&self.first)?;
        parameter.second = gpu.read(&self.second)?;
        if let Some(left) = &self.left {
            parameter.left = gpu.read(left)?;
        }
        Ok(())
    }

    /// Brings the listed rows up to date, where rows are left behind.
    pub(crate) fn look_at(&mut self, gpu: &Gpu, leaps: &Leaps, rows: adam::Rows) -> Result<()> {
        let Self { values, first, second, left, dim, .. } = self;
        let Some(left) = left else { return Ok(()) };
        Ok(leaps.current(gpu, adam::Table { values, first, second, dim: *dim }, left, rows)?)
    }

    /// The next step of the optimizer: of all rows, or of the listed ones, when the others are left behind.
    pub(crate) fn step(&mut self, gpu: &Gpu, stepper: &Stepper, listed: Option<(&Leaps, adam::Rows)>) -> Result<()> {
        let Self { values, first, second, left, gradient, dim } = self;
        let (step, table) = (optimizer::step(stepper.next_step()), adam::Table { values, first, second, dim: *dim });
        match (left, listed) {
            (Some(left), Some((leaps, rows))) => Ok(leaps.move_rows(gpu, table, left, rows, gradient.values.get(), &step)?),
            _ => Ok(adam::step(gpu, table, gradient.values.get(), &gradient.touched, &step, stepper.moves_all_rows())?),
        }
    }

    /// Brings all rows up to date.
    pub(crate) fn catch_up(&mut self, gpu: &Gpu, leaps: &Leaps) -> Result<()> {
        let Self { values, first, second, left, dim, .. } = self;
        let Some(left) = left else { return Ok(()) };
        Ok(leaps.catch_up(gpu, adam::Table { values, first, second, dim: *dim }, left)?)
    }
}
