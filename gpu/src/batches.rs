//! The rows of a batch, and what their losses add up to: `kernels/batches.cu`.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, count},
};

/// What the losses of an epoch add up to.
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
    pub fn take(&self, gpu: &Gpu, first: usize, rows: usize, users: &mut Buffer<u32>, ids: &mut Buffer<u32>, width: usize) -> Result<()> {
        assert!(first + rows <= self.order.len() && rows <= users.len() && rows * width <= ids.len(), "{rows} pairs from {first}");
        let arguments =
            [read(&self.order), count(first), count(rows), read(&self.users), read(&self.items), count(width), write(users), write(ids)];
        gpu.launch("take_batch", Grid::threads(rows), &arguments)
    }
}
