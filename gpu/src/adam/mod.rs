//! An optimizer's steps, with the CPU's bits but for rows of Adam that were left behind: `kernels/adam.cu`.
//!
//! [`step`] makes the step of a whole table, [`move_rows`] that of listed rows alone. Where all rows move in every step but few have a
//! gradient, [`Leaps`] leaves the others behind.

mod leaps;
#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests;

pub use leaps::{Leap, Leaps};

use crate::{
    Buffer, Error, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, LaunchArgument, count, number},
};

/// The constants of one step, as trainer/optimizers/src/kernels.rs has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Weight of the value in its gradient.
    pub weight_decay: f32,
    /// Weight of the old value in the new one.
    pub shrinkage: f32,
    /// Weight of the old first moment in the new one.
    pub first_decay: f32,
    /// Weight of the gradient in the first moment.
    pub first_gain: f32,
    /// Weight of the old second moment in the new one.
    pub second_decay: f32,
    /// Weight of the squared gradient in the second moment.
    pub second_gain: f32,
    /// Factor of the root of the second moment.
    pub second_scale: f32,
    /// The learning rate of this step.
    pub rate: f32,
    /// Summand beside the root of the second moment.
    pub epsilon: f32,
}

impl Step {
    fn arguments(&self) -> [LaunchArgument<'static>; 9] {
        let Self { weight_decay, shrinkage, first_decay, first_gain, second_decay, second_gain, second_scale, rate, epsilon } = *self;
        [weight_decay, shrinkage, first_decay, first_gain, second_decay, second_gain, second_scale, rate, epsilon].map(number)
    }
}

/// A table and the moments of its gradient, `[rows, dim]` each.
#[derive(Debug)]
pub struct Table<'a> {
    /// The parameters.
    pub values: &'a mut Buffer<f32>,
    /// First moments of the parameters' gradient.
    pub first: &'a mut Buffer<f32>,
    /// Second moments of the parameters' gradient.
    pub second: &'a mut Buffer<f32>,
    /// Numbers of a row.
    pub dim: usize,
}

impl Table<'_> {
    fn rows(&self) -> usize {
        self.values.len() / self.dim
    }

    fn arguments(&mut self) -> [LaunchArgument<'_>; 4] {
        let length = self.values.len();
        assert_eq!([self.first.len(), self.second.len()], [length; 2], "moments have the shape of their table");
        [write(self.values), write(self.first), write(self.second), count(self.dim)]
    }
}

/// Rows of a table by number, distinct, and how many they are (`[1]`), as [`Segments::rows`](crate::Segments::rows) has them.
pub type Rows<'a> = (&'a Buffer<u32>, &'a Buffer<u32>);

/// The next step of a table: rows that are `touched` (`[rows]`) with their `gradient [rows, dim]`; others as if theirs were zero if
/// `others_move`, and not at all otherwise.
///
/// # Errors
/// Those of the device.
///
/// # Panics
/// When the buffers' lengths differ from those of the table.
pub fn step(gpu: &Gpu, mut table: Table, gradient: &Buffer<f32>, touched: &Buffer<u8>, step: &Step, others_move: bool) -> Result<()> {
    assert_eq!([gradient.len(), touched.len()], [table.values.len(), table.rows()], "gradients have the shape of their table");
    let parts = table.values.len() / if table.dim.is_multiple_of(4) { 4 } else { 1 };
    if u32::try_from(parts).is_err() {
        let reason = format!("{} rows of {} numbers are 2^32 numbers or more; take a `dim` that four divides", table.rows(), table.dim);
        return Err(Error::Device { what: "move a table by an optimizer".to_owned(), reason });
    }
    let others = [read(gradient), read(touched), count(parts), count(usize::from(others_move))];
    let arguments: Vec<_> = table.arguments().into_iter().chain(others).chain(step.arguments()).collect();
    gpu.launch("adam_step", Grid::threads(parts), &arguments)
}

/// The next step of the listed rows; the others stay.
///
/// # Errors
/// Those of the device.
///
/// # Panics
/// When the gradient has another length than the table.
pub fn move_rows(gpu: &Gpu, mut table: Table, rows: Rows, gradient: &Buffer<f32>, step: &Step) -> Result<()> {
    assert_eq!(gradient.len(), table.values.len(), "gradients have the shape of their table");
    let listed = [read(rows.0), read(rows.1), read(gradient)];
    let arguments: Vec<_> = table.arguments().into_iter().chain(listed).chain(step.arguments()).collect();
    gpu.launch("adam_rows", Grid::warps(rows.0.len()), &arguments)
}
