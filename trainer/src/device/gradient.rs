//! The gradient of a table on the device, and how those of several ranks meet.

use crate::{
    Result,
    collective::{Collective, Pending},
};
use gpu::{
    Buffer, Gpu,
    adam::Rows,
    marks,
    segments::{Segments, Sums, Terms},
};

/// The gradient of a table in a step.
#[derive(Debug)]
pub(super) struct Gradient {
    pub(super) rows: usize,
    pub(super) dim: usize,
    /// `[rows, dim]`; rows without a mark hold leftovers.
    pub(super) values: Buffer<f32>,
    /// `[rows]`: which have a gradient.
    pub(super) touched: Buffer<u8>,
    /// `[rows]`: sums of the weights that the gradients are made of.
    pub(super) totals: Buffer<f32>,
}

/// Room for the rows of all ranks, where they are exchanged one by one.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Rows of one rank at most.
    room: usize,
    keys: [Buffer<u32>; 2],
    values: [Buffer<f32>; 2],
    ones: Buffer<f32>,
    by_row: Segments,
}

impl Gradient {
    pub(super) fn new(gpu: &Gpu, rows: usize, dim: usize) -> Result<Self> {
        Ok(Self { rows, dim, values: gpu.zeros(rows * dim)?, touched: gpu.zeros(rows)?, totals: gpu.zeros(rows)? })
    }

    /// Where sums by row are put.
    pub(super) fn sums(&mut self) -> Sums<'_> {
        Sums { out: &mut self.values, touched: &mut self.touched, totals: &mut self.totals }
    }

    /// Begins to add up the gradients of all ranks: row by row where there is an exchange, else as whole tables. `own` are the rows that this rank has
    /// touched, and how many.
    pub(super) fn give(
        &mut self,
        gpu: &Gpu,
        collective: &Collective,
        what: &'static str,
        own: Rows,
        exchange: Option<&mut Exchange>,
    ) -> Result<[Pending; 2]> {
        let Self { rows, dim, values, touched, totals } = self;
        let Some(Exchange { room, keys: [own_keys, keys], values: [own_values, all_values], .. }) = exchange else {
            marks::write_zeros(gpu, touched, values, totals, [*rows, *dim])?;
            // The totals tell how many ranks have touched a row: some optimizers leave the others alone.
            return Ok([collective.sum_buffer(what, gpu, values)?, collective.sum_buffer(what, gpu, totals)?]);
        };
        marks::pack_rows(gpu, own, values, [*room, *dim], (own_keys, own_values))?;
        Ok([collective.gather_buffers(what, gpu, own_keys, keys)?, collective.gather_buffers(what, gpu, own_values, all_values)?])
    }

    /// Ends it: rows are added up in the order of the ranks.
    pub(super) fn take(
        &mut self,
        gpu: &Gpu,
        collective: &Collective,
        what: &'static str,
        pending: &[Pending; 2],
        exchange: Option<&mut Exchange>,
    ) -> Result<()> {
        pending.iter().try_for_each(|pending| collective.join_buffers(what, pending))?;
        let Some(Exchange { keys: [_, keys], values: [_, values], ones, by_row, .. }) = exchange else {
            return Ok(marks::of_numbers(gpu, &self.totals, &mut self.touched)?);
        };
        by_row.sort(gpu, keys, keys.len())?;
        let dim = self.dim;
        Ok(by_row.sum(gpu, Terms { weights: ones, vectors: values, width: 1, dim }, self.sums())?)
    }
}

impl Exchange {
    /// Of a table with so many rows of `dim`, of which each of `ranks` touches at most `room` in a step.
    pub(super) fn new(gpu: &Gpu, [rows, dim]: [usize; 2], room: usize, ranks: usize) -> Result<Self> {
        let all = room * ranks;
        Ok(Self {
            room,
            keys: [gpu.zeros(room)?, gpu.zeros(all)?],
            values: [gpu.zeros(room * dim)?, gpu.zeros(all * dim)?],
            ones: gpu.upload(&vec![1.0; all])?,
            by_row: Segments::new(gpu, all, rows)?,
        })
    }

    /// The rows that any rank has touched, ascending, and how many.
    pub(super) fn touched(&self) -> (&Buffer<u32>, &Buffer<u32>) {
        self.by_row.rows()
    }
}
