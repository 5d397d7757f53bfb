//! Rows of some columns of a table, on whole cache lines.
//!
//! A propagation takes a strip of at most 64 columns at a time: a row is then up to four cache lines, whose sums stay in the registers
//! of a machine with AVX2 or more.

use rayon::prelude::*;
use std::ops::Range;

/// Floats of a cache line.
pub(super) const WIDTH: usize = 16;

/// Rows of one parallel task.
pub(super) const BLOCK: usize = 64;

/// A cache line of a row; what lies beyond the table's columns is zero.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(super) struct CacheLine(pub(super) [f32; WIDTH]);

/// A row of `V` lines.
pub(super) type Row<const V: usize> = [CacheLine; V];

/// A row of zeros.
pub(super) const fn zero<const V: usize>() -> Row<V> {
    [CacheLine([0.0; WIDTH]); V]
}

/// Columns of a strip, at most.
const STRIP: usize = 4 * WIDTH;

/// The columns of each strip: four lines of them, or what is left.
pub(super) fn strips(dim: usize) -> impl Iterator<Item = Range<usize>> {
    (0..dim).step_by(STRIP).map(move |first| first..dim.min(first + STRIP))
}

/// Bytes of a strip of a table `[rows, dim]`.
pub(super) fn strip_memory(rows: u64, dim: u64) -> u64 {
    rows * dim.min(STRIP as u64).next_multiple_of(WIDTH as u64) * 4
}

/// Calls a method of a strip, `method::<V>(columns, ..)`, with as many lines as hold its columns.
macro_rules! on_lines {
    ($of:ident.$method:ident($columns:ident $(, $argument:expr)*)) => {
        match $columns.len().div_ceil($crate::graph::rows::WIDTH) {
            1 => $of.$method::<1>($columns $(, $argument)*),
            2 => $of.$method::<2>($columns $(, $argument)*),
            3 => $of.$method::<3>($columns $(, $argument)*),
            4 => $of.$method::<4>($columns $(, $argument)*),
            lines => unreachable!("a strip has up to 4 lines, and not {lines}"),
        }
    };
}

/// Calls a method, `method::<S, N>(simd)`, with the number N of vectors of a machine that a line is.
macro_rules! on_lanes {
    ($of:ident.$method:ident::<$simd:ident>($value:ident)) => {
        match $crate::graph::rows::WIDTH / $simd::F32_LANES {
            1 => $of.$method::<$simd, 1>($value),
            2 => $of.$method::<$simd, 2>($value),
            4 => $of.$method::<$simd, 4>($value),
            _ => $of.$method::<$simd, { $crate::graph::rows::WIDTH }>($value),
        }
    };
}
pub(super) use {on_lanes, on_lines};

/// Rows of one side of the graph.
#[derive(Default)]
pub(super) struct Rows(Vec<CacheLine>);

impl Rows {
    pub(super) fn resize<const V: usize>(&mut self, rows: usize) {
        self.0.resize(rows * V, CacheLine([0.0; WIDTH]));
    }

    pub(super) fn get<const V: usize>(&self) -> &[Row<V>] {
        self.0.as_chunks().0
    }

    /// `write(first, rows)` for each block of rows, in parallel.
    pub(super) fn par_blocks<const V: usize>(&mut self, write: impl Fn(usize, &mut [Row<V>]) + Sync + Send) {
        let (rows, _) = self.0.as_chunks_mut();
        rows.par_chunks_mut(BLOCK).enumerate().for_each(|(block, rows)| write(block * BLOCK, rows));
    }
}

/// `scale * values`, then zeros.
#[inline(always)]
pub(super) fn load<const V: usize>(values: &[f32], scale: f32) -> Row<V> {
    let mut row = zero();
    let (whole, rest) = values.as_chunks::<WIDTH>();
    for (line, values) in row.iter_mut().zip(whole) {
        line.0 = values.map(|value| scale * value);
    }
    if let Some(line) = row.get_mut(whole.len()) {
        for (own, value) in line.0.iter_mut().zip(rest) {
            *own = scale * value;
        }
    }
    row
}

/// `values = scale * row`, as far as the values go.
#[inline(always)]
pub(super) fn store<const V: usize>(row: &Row<V>, scale: f32, values: &mut [f32]) {
    let (whole, rest) = values.as_chunks_mut::<WIDTH>();
    for (values, line) in whole.iter_mut().zip(row) {
        *values = line.0.map(|value| scale * value);
    }
    if let Some(line) = row.get(whole.len()) {
        for (value, own) in rest.iter_mut().zip(line.0) {
            *value = scale * own;
        }
    }
}
