//! Sums by key, in an order that the entries alone decide: `kernels/segments.cu`.
//!
//! An entry is a place in a list of keys; it has a weight, and a vector. The entries of a row of a table (those whose key it is) are a segment.
//! A row's sum adds them in the order of their places, by fused multiply-adds, from zero. More than [`PIECE`] entries are cut into pieces of
//! that many by their place in the segment: each is summed from zero, and the sums are added in order. So a row's bits depend on its own
//! entries and on nothing else.

use crate::{
    Buffer, Gpu, Result,
    launch::{Grid, count, read, write},
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
    /// Of each tile: how many segments begin there, and where the last of them does.
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

/// What is added up: `weights[e] * vectors[e / width]` for each entry e.
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

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    struct Case {
        rows: usize,
        keys: Vec<u32>,
        weights: Vec<f32>,
        vectors: Vec<f32>,
        width: usize,
        dim: usize,
    }

    impl Case {
        /// The places of each row's entries, ascending.
        fn entries(&self) -> BTreeMap<usize, Vec<usize>> {
            let mut entries = BTreeMap::<usize, Vec<usize>>::new();
            for (place, &key) in self.keys.iter().enumerate().filter(|&(_, &key)| key != u32::MAX) {
                entries.entry(key as usize).or_default().push(place);
            }
            entries
        }

        fn vector(&self, entry: usize) -> &[f32] {
            &self.vectors[entry / self.width * self.dim..][..self.dim]
        }

        /// The sums of a row in the order that is promised, and of its weights.
        fn in_order(&self, entries: &[usize]) -> (Vec<f32>, f32) {
            let piece = |piece: &[usize]| {
                let (mut sum, mut total) = (vec![0.0f32; self.dim], 0.0);
                for &entry in piece {
                    total += self.weights[entry];
                    sum.iter_mut().zip(self.vector(entry)).for_each(|(sum, &value)| *sum = self.weights[entry].mul_add(value, *sum));
                }
                (sum, total)
            };
            let add = |(mut sum, total): (Vec<f32>, f32), (next, more): (Vec<f32>, f32)| {
                sum.iter_mut().zip(next).for_each(|(sum, next)| *sum += next);
                (sum, total + more)
            };
            entries.chunks(PIECE).map(piece).reduce(add).unwrap()
        }

        /// What the kernels make of it, where rows that are not touched have 7.
        fn sums(&self, segments: &mut Segments) -> (Vec<f32>, Vec<u8>, Vec<f32>) {
            let gpu = Gpu::emulated();
            let [weights, vectors] = [&self.weights, &self.vectors].map(|values| gpu.upload(values).unwrap());
            let mut out = gpu.upload(&vec![7.0f32; self.rows * self.dim]).unwrap();
            let (mut touched, mut totals) = (gpu.upload(&vec![3u8; self.rows]).unwrap(), gpu.upload(&vec![7.0f32; self.rows]).unwrap());
            let terms = Terms { weights: &weights, vectors: &vectors, width: self.width, dim: self.dim };
            segments.sort(&gpu, &gpu.upload(&self.keys).unwrap(), self.keys.len()).unwrap();
            segments.sum(&gpu, terms, Sums { out: &mut out, touched: &mut touched, totals: &mut totals }).unwrap();
            (gpu.read(&out).unwrap(), gpu.read(&touched).unwrap(), gpu.read(&totals).unwrap())
        }

        fn check(&self, segments: &mut Segments) {
            let ((out, touched, totals), entries) = (self.sums(segments), self.entries());
            let (distinct, number) = segments.rows();
            let gpu = Gpu::emulated();
            let number = gpu.read(number).unwrap()[0] as usize;
            assert!(gpu.read(distinct).unwrap()[..number].iter().map(|&row| row as usize).eq(entries.keys().copied()));
            for (row, found) in out.chunks_exact(self.dim).enumerate() {
                let (sum, total) = entries.get(&row).map_or((vec![7.0; self.dim], 7.0), |entries| self.in_order(entries));
                assert_eq!(touched[row], u8::from(entries.contains_key(&row)), "row {row}");
                assert_eq!((found, totals[row]), (&sum[..], total), "row {row}");
            }
            for (row, entries) in entries {
                for column in 0..self.dim {
                    let terms = || entries.iter().map(|&entry| f64::from(self.weights[entry]) * f64::from(self.vector(entry)[column]));
                    let (sum, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                    assert!((f64::from(out[row * self.dim + column]) - sum).abs() <= 1e-5 * size);
                }
            }
        }
    }

    fn case(keys: Vec<u32>, rows: usize, width: usize, dim: usize) -> Case {
        let value = |at: usize| (at.wrapping_mul(2_654_435_761) % 2_003) as f32 / 1_001.5 - 1.0;
        let vectors = keys.len().div_ceil(width) * dim;
        Case {
            rows,
            weights: (0..keys.len()).map(|at| value(at + 5)).collect(),
            vectors: (0..vectors).map(value).collect(),
            keys,
            width,
            dim,
        }
    }

    /// Keys of few or many rows, some of them popular and some left out.
    fn cases() -> impl Strategy<Value = Case> {
        let dims = prop_oneof![Just(1usize), Just(5), Just(16), Just(32), Just(34), Just(64), Just(67), Just(128), Just(132)];
        (prop_oneof![1usize..9, 200usize..400], 1usize..12, dims, 0usize..900).prop_flat_map(|(rows, width, dim, size)| {
            let key = prop_oneof![8 => 0..rows as u32, 1 => Just(u32::MAX), 4 => Just(rows as u32 / 2)];
            prop::collection::vec(key, size).prop_map(move |keys| case(keys, rows, width, dim))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn rows_have_the_sums_of_their_entries(cases in prop::collection::vec(cases(), 1..3)) {
            let rows = cases[0].rows;
            // The same room for one after another, as from step to step.
            let mut segments = Segments::new(&Gpu::emulated(), 1_000, rows).unwrap();
            cases.iter().filter(|case| case.rows == rows).for_each(|case| case.check(&mut segments));
        }
    }

    #[test]
    fn segments_reach_over_tiles_and_pieces() {
        let keys = |at: usize| match at {
            0..30 => 1,
            30..5_000 => 2,                      // from the first tile into the second
            5_000..9_000 => 3 + at as u32 % 700, // many short ones
            9_000..9_128 => 800,                 // one piece to the last entry
            9_128..9_257 => 801,                 // one more
            9_257..13_000 => u32::MAX,
            _ => 899,
        };
        let case = case((0..13_100).map(keys).collect(), 900, 1_001, 8);
        let mut segments = Segments::new(&Gpu::emulated(), 13_100, 900).unwrap();
        case.check(&mut segments);
    }

    #[test]
    fn entries_that_are_all_left_out_touch_nothing() {
        let mut segments = Segments::new(&Gpu::emulated(), 40, 3).unwrap();
        case(vec![2; 40], 3, 1, 4).check(&mut segments);
        case(vec![u32::MAX; 40], 3, 1, 4).check(&mut segments);
        case(vec![], 3, 1, 4).check(&mut segments);
    }
}
