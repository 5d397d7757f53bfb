//! Sums by key, in an order that the entries alone decide: `kernels/segments.cu`.
//!
//! An entry is a place in a list of keys; it has a weight, and a vector. The entries of a row of a table (those whose key it is) are a segment.
//! A row's sum adds them in the order of their places, by fused multiply-adds, from zero. More than [`PIECE`] entries are cut into pieces of
//! that many by their place in the segment: each is summed from zero, and the sums are added in order. So a row's bits depend on its own
//! entries and on nothing else.

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests;

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, count},
    radix::{Radix, TILE},
};

/// Entries of a piece.
pub const PIECE: usize = 128;

/// Threads of a block that notes segments.
const THREADS: usize = 256;

/// Room for so many entries over so many rows of a table, reused from step to step.
#[derive(Debug)]
pub struct Segments {
    rows: usize,
    entries: usize,
    /// Entries of the last sort.
    size: usize,
    radix: Radix,
    /// For each tile how many segments begin there, and where the last of them does.
    tiles: [Buffer<u32>; 2],
    /// The rows that have entries, ascending, where the segment of each begins, and how many there are.
    distinct: Buffer<u32>,
    starts: Buffer<u32>,
    number: Buffer<u32>,
    long: Long,
}

/// Segments of more than one piece.
#[derive(Debug)]
struct Long {
    /// `[pieces, 2]`, from and to.
    pieces: Buffer<u32>,
    /// `[segments, 3]`: row, first piece, pieces.
    segments: Buffer<u32>,
    /// `[2]`, how many pieces and segments.
    counters: Buffer<u32>,
    /// `[pieces, dim]`, their sums, and `[pieces]`, the sums of their weights.
    sums: Buffer<f32>,
    totals: Buffer<f32>,
}

/// The terms of the sums: `weights[e] * vectors[e / width]` for each entry e.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// `[entries]`
    pub weights: &'a Buffer<f32>,
    /// `[entries / width, dim]`
    pub vectors: &'a Buffer<f32>,
    /// Entries that share a vector.
    pub width: usize,
    /// Numbers of a vector.
    pub dim: usize,
}

/// Where sums are put, by row; rows without an entry are not written, but for their mark.
#[derive(Debug)]
pub struct Sums<'a> {
    /// `[rows, dim]`
    pub out: &'a mut Buffer<f32>,
    /// `[rows]`, 1 where a row has an entry, and 0 elsewhere.
    pub touched: &'a mut Buffer<u8>,
    /// `[rows]`, the sum of the weights.
    pub totals: &'a mut Buffer<f32>,
}

/// The most pieces that so many entries can have, where segments of one piece are not counted.
fn most_pieces(entries: usize) -> usize {
    2 * entries / (PIECE + 1)
}

/// The most segments of more than one piece.
fn most_long(entries: usize) -> usize {
    entries / (PIECE + 1)
}

impl Segments {
    /// Room for `entries` over `rows`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(gpu: &Gpu, entries: usize, rows: usize) -> Result<Self> {
        let (tiles, distinct, pieces) = (entries.div_ceil(TILE).max(1), entries.min(rows), most_pieces(entries));
        let long = Long {
            pieces: gpu.zeros(2 * pieces)?,
            segments: gpu.zeros(3 * most_long(entries))?,
            counters: gpu.zeros(2)?,
            sums: gpu.zeros(0)?,
            totals: gpu.zeros(pieces)?,
        };
        Ok(Self {
            rows,
            entries,
            size: 0,
            radix: Radix::new(gpu, entries)?,
            tiles: [gpu.zeros(tiles)?, gpu.zeros(tiles)?],
            distinct: gpu.zeros(distinct)?,
            starts: gpu.zeros(distinct + 1)?,
            number: gpu.zeros(1)?,
            long,
        })
    }

    /// Takes the first `size` of these keys for the entries' rows. Entries with the key `u32::MAX` belong to no row.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When there are fewer keys, or more than there is room for.
    pub fn sort(&mut self, gpu: &Gpu, keys: &Buffer<u32>, size: usize) -> Result<()> {
        assert!(size <= self.entries, "{size} entries where there is room for {}", self.entries);
        self.size = size;
        self.radix.sort(gpu, keys, size, self.rows)?;
        let (keys, _) = self.radix.sorted();
        let (grid, sorted) = (Grid::blocks(size.div_ceil(TILE).max(1), THREADS), || [read(keys), count(size), count(self.rows)]);
        let ([heads, lasts], Long { pieces, segments, counters, .. }) = (&mut self.tiles, &mut self.long);
        let arguments: Vec<_> = sorted().into_iter().chain([write(heads), write(lasts), write(counters)]).collect();
        gpu.launch("segment_heads", grid, &arguments)?;
        let rows = [write(&mut self.distinct), write(&mut self.starts), write(&mut self.number)];
        let tiles = [read(heads), read(lasts)];
        let long = [write(pieces), write(segments), write(counters)];
        let arguments: Vec<_> = sorted().into_iter().chain(tiles).chain(rows).chain(long).collect();
        gpu.launch("segment_starts", grid, &arguments)
    }

    /// The sum of each row that has entries.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When a buffer is too short, or those of the sums have another length than so many rows need.
    pub fn sum(&mut self, gpu: &Gpu, terms: Terms, sums: Sums) -> Result<()> {
        let (Terms { weights, vectors, width, dim }, Sums { out, touched, totals }) = (terms, sums);
        assert!(weights.len() >= self.size && vectors.len() >= self.size.div_ceil(width) * dim, "each entry has a weight and a vector");
        assert_eq!([out.len(), touched.len(), totals.len()], [self.rows * dim, self.rows, self.rows], "sums by row");
        gpu.clear(touched)?;
        if self.size == 0 {
            return Ok(());
        }
        let (most, Long { pieces, segments, counters, sums, totals: part_totals }) = (most_pieces(self.size), &mut self.long);
        if sums.len() < pieces.len() / 2 * dim {
            *sums = gpu.zeros(pieces.len() / 2 * dim)?;
        }
        let (_, places) = self.radix.sorted();
        let sorted = [read(places), read(&self.distinct), read(&self.starts), read(&self.number)];
        let pieces = [read(pieces), read(counters), count(most)];
        let terms = [read(weights), read(vectors), count(width), count(dim)];
        let targets = [write(sums), write(part_totals), write(out), write(touched), write(totals)];
        let arguments: Vec<_> = sorted.into_iter().chain(pieces).chain(terms).chain(targets).collect();
        gpu.launch("segment_sums", Grid::warps(most + self.size.min(self.rows)), &arguments)?;
        let arguments = [read(segments), read(counters), count(dim), read(sums), read(part_totals), write(out), write(totals)];
        gpu.launch("segment_pieces", Grid::warps(most_long(self.size)), &arguments)
    }

    /// The rows that have entries, ascending, and how many there are (`[1]`), as of the last sort.
    pub fn rows(&self) -> (&Buffer<u32>, &Buffer<u32>) {
        (&self.distinct, &self.number)
    }
}
