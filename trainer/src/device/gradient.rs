//! The gradient of a table on the device, and how those of several ranks meet.

use crate::{
    Result,
    collective::{Collective, Lent, Pending},
};
use gpu::{
    Buffer, CollectiveCall, Gpu,
    adam::Rows,
    marks,
    segments::{Segments, Sums, Terms},
};

/// The gradient of a table in a step.
#[derive(Debug)]
pub(crate) struct DeviceGradient {
    pub(crate) rows: usize,
    pub(crate) dim: usize,
    /// `[rows, dim]`; rows without a mark hold leftovers.
    pub(crate) values: Lent<Buffer<f32>>,
    /// `[rows]`: which have a gradient.
    pub(crate) touched: Buffer<u8>,
    /// `[rows]`: sums of the weights that the gradients are made of.
    pub(crate) totals: Lent<Buffer<f32>>,
}

/// Room for the rows of all ranks, where they are exchanged one by one.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Rows of one rank at most.
    room: usize,
    /// This rank's, and those of all.
    keys: Lent<[Buffer<u32>; 2]>,
    values: Lent<[Buffer<f32>; 2]>,
    ones: Buffer<f32>,
    by_row: Segments,
}

/// What the ranks are adding up: whole tables with their totals, or rows with their keys.
pub(crate) type UnderWay = Pending<[CollectiveCall; 2]>;

impl DeviceGradient {
    pub(crate) fn new(gpu: &Gpu, rows: usize, dim: usize) -> Result<Self> {
        let [values, totals] = [gpu.zeros(rows * dim)?, gpu.zeros(rows)?].map(Lent::new);
        Ok(Self { rows, dim, values, touched: gpu.zeros(rows)?, totals })
    }

    /// Where sums by row are put.
    pub(crate) fn sums(&mut self) -> Sums<'_> {
        Sums { out: self.values.get_mut(), touched: &mut self.touched, totals: self.totals.get_mut() }
    }

    /// Begins to add up the gradients of all ranks: row by row where there is an exchange, else as whole tables. `own` are the rows that this rank has
    /// touched, and how many.
    pub(crate) fn give(
        &mut self,
        gpu: &Gpu,
        collective: &Collective,
        what: &str,
        own: Rows,
        exchange: Option<&mut Exchange>,
    ) -> Result<UnderWay> {
        let Self { rows, dim, values, touched, totals } = self;
        let Some(Exchange { room, keys, values: of_rows, .. }) = exchange else {
            marks::write_zeros(gpu, touched, values.get_mut(), totals.get_mut(), [*rows, *dim])?;
            // The totals tell how many ranks have touched a row: some optimizers leave the others alone.
            let calls = [CollectiveCall::AllReduce(values.lend()), CollectiveCall::AllReduce(totals.lend())];
            return collective.exchange_buffers(what, gpu, calls);
        };
        let ([own_keys, _], [own_values, _]) = (keys.get_mut(), of_rows.get_mut());
        marks::pack_rows(gpu, own, values.get(), [*room, *dim], own_keys, own_values)?;
        collective.exchange_buffers(what, gpu, [CollectiveCall::AllGatherIds(keys.lend()), CollectiveCall::AllGather(of_rows.lend())])
    }

    /// Ends the exchange of gradients: rows are added up in the order of the ranks.
    pub(crate) fn take(
        &mut self,
        gpu: &Gpu,
        collective: &Collective,
        what: &str,
        under_way: UnderWay,
        exchange: Option<&mut Exchange>,
    ) -> Result<()> {
        let (keys, values) = match collective.join_buffers(what, under_way)? {
            [CollectiveCall::AllReduce(values), CollectiveCall::AllReduce(totals)] => {
                self.values.put(values);
                return Ok(marks::of_numbers(gpu, self.totals.put(totals), &mut self.touched)?);
            }
            [CollectiveCall::AllGatherIds(keys), CollectiveCall::AllGather(values)] => (keys, values),
            _ => unreachable!("calls come back as they were made"),
        };
        let Exchange { keys: of_keys, values: of_values, ones, by_row, .. } = exchange.expect("rows are given by an exchange");
        let ([_, keys], [_, values]) = (of_keys.put(keys), of_values.put(values));
        by_row.sort(gpu, keys, keys.len())?;
        let dim = self.dim;
        Ok(by_row.sum(gpu, Terms { weights: ones, vectors: values, width: 1, dim }, self.sums())?)
    }
}

impl Exchange {
    /// Makes room for a table with so many rows of `dim`, of which each of `ranks` touches at most `room` in a step.
    pub(crate) fn new(gpu: &Gpu, [rows, dim]: [usize; 2], room: usize, ranks: usize) -> Result<Self> {
        let all = room * ranks;
        Ok(Self {
            room,
            keys: Lent::new([gpu.zeros(room)?, gpu.zeros(all)?]),
            values: Lent::new([gpu.zeros(room * dim)?, gpu.zeros(all * dim)?]),
            ones: gpu.upload(&vec![1.0; all])?,
            by_row: Segments::new(gpu, all, rows)?,
        })
    }

    /// The rows that any rank has touched, ascending, and how many.
    pub(crate) fn touched(&self) -> (&Buffer<u32>, &Buffer<u32>) {
        self.by_row.rows()
    }
}
