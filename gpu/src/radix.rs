//! A stable sort of places by key: `kernels/radix.cu`.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, count},
};

/// Keys of a block, as the kernels have it.
pub(crate) const TILE: usize = 4_096;

/// Threads of a block, and values of a digit.
const DIGITS: usize = 256;

/// Bits of a digit.
const BITS: u32 = 8;

/// Keys, and the places that they stood at.
#[derive(Debug)]
struct KeyedPlaces {
    keys: Buffer<u32>,
    places: Buffer<u32>,
}

/// What one pass sorts by.
#[derive(Clone, Copy)]
struct Digit {
    /// Keys that are sorted.
    size: usize,
    /// Keys from this one on come last.
    rows: usize,
    /// Bits below the digit.
    shift: u32,
}

/// Room for a sort, reused from one to the next.
#[derive(Debug)]
pub(crate) struct Radix {
    /// The result of a pass and of the one before.
    passes: [KeyedPlaces; 2],
    /// Which of the two passes ran last.
    last: usize,
    /// `[DIGITS, tiles]`
    counts: Buffer<u32>,
    /// `[DIGITS]`
    totals: Buffer<u32>,
}

impl Radix {
    /// Makes room for so many keys at most.
    pub(crate) fn new(gpu: &Gpu, most: usize) -> Result<Self> {
        let room = || Ok(KeyedPlaces { keys: gpu.zeros(most)?, places: gpu.zeros(most)? });
        let counts = gpu.zeros(DIGITS * most.div_ceil(TILE))?;
        Ok(Self { passes: [room()?, room()?], last: 0, counts, totals: gpu.zeros(DIGITS)? })
    }

    /// Sorts the places of the first `size` keys by key; keys of `rows` and more come last, in the order of their places.
    pub(crate) fn sort(&mut self, gpu: &Gpu, keys: &Buffer<u32>, size: usize, rows: usize) -> Result<()> {
        let room = self.passes[0].keys.len();
        assert!(size <= keys.len() && size <= room, "{size} keys of {} for {room}", keys.len());
        let bits = (u32::BITS - u32::try_from(rows).expect("rows are counted in 32 bits").leading_zeros()).max(1);
        for shift in (0..bits).step_by(BITS as usize) {
            let [even, odd] = &mut self.passes;
            let (from, to) = if self.last == 0 { (even, odd) } else { (odd, even) };
            let keys = if shift == 0 { keys } else { &from.keys };
            pass(gpu, keys, &from.places, Digit { size, rows, shift }, &mut self.counts, &mut self.totals, to)?;
            self.last = 1 - self.last;
        }
        Ok(())
    }

    /// The keys, sorted, and where each stood.
    pub(crate) fn sorted(&self) -> (&Buffer<u32>, &Buffer<u32>) {
        let KeyedPlaces { keys, places } = &self.passes[self.last];
        (keys, places)
    }
}

/// Sorts by one digit.
fn pass(
    gpu: &Gpu,
    keys: &Buffer<u32>,
    places: &Buffer<u32>,
    Digit { size, rows, shift }: Digit,
    counts: &mut Buffer<u32>,
    totals: &mut Buffer<u32>,
    to: &mut KeyedPlaces,
) -> Result<()> {
    let tiles = size.div_ceil(TILE);
    let (first, shift) = (count(usize::from(shift == 0)), || count(shift as usize));
    if tiles > 1 {
        let arguments = [read(keys), count(size), count(rows), shift(), write(counts)];
        gpu.launch("radix_count", Grid::blocks(tiles, DIGITS), &arguments)?;
        gpu.launch("radix_scan", Grid::blocks(DIGITS, DIGITS), &[write(counts), count(tiles), write(totals)])?;
    }
    let from = [read(keys), read(places), first, count(size), count(rows), shift(), read(counts), read(totals)];
    let arguments: Vec<_> = from.into_iter().chain([write(&mut to.keys), write(&mut to.places)]).collect();
    gpu.launch("radix_move", Grid::blocks(tiles, DIGITS), &arguments)
}

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(keys: &[u32], rows: usize) -> (Vec<u32>, Vec<u32>) {
        let gpu = Gpu::emulated();
        let mut radix = Radix::new(&gpu, keys.len() + 3).unwrap();
        radix.sort(&gpu, &gpu.upload(keys).unwrap(), keys.len(), rows).unwrap();
        let (found, places) = radix.sorted();
        let [found, places] = [found, places].map(|buffer| gpu.read(buffer).unwrap()[..keys.len()].to_vec());
        (found, places)
    }

    /// The stable sort of the standard library.
    fn expected(keys: &[u32], rows: usize) -> (Vec<u32>, Vec<u32>) {
        let mut pairs: Vec<(u32, u32)> = keys.iter().map(|&key| key.min(rows as u32)).zip(0..).collect();
        pairs.sort_by_key(|&(key, _)| key);
        pairs.into_iter().unzip()
    }

    /// Keys below `rows`, and some that are left out.
    fn keys() -> impl Strategy<Value = (Vec<u32>, usize)> {
        let rows = prop_oneof![Just(1usize), Just(255), Just(256), Just(65_536), 2usize..100_000, Just(20_000_000)];
        let size = prop_oneof![0usize..70, Just(TILE), 0..2 * TILE + 9];
        (rows, size).prop_flat_map(|(rows, size)| {
            let key = prop_oneof![9 => 0..rows as u32, 1 => Just(u32::MAX), 3 => 0..1 + rows as u32 / 50];
            (prop::collection::vec(key, size), Just(rows))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn places_are_sorted_by_key_and_keep_their_order((keys, rows) in keys()) {
            prop_assert_eq!(sorted(&keys, rows), expected(&keys, rows));
        }
    }

    #[test]
    fn more_tiles_than_a_block_scans_at_once_have_their_sums() {
        let (gpu, tiles) = (Gpu::emulated(), DIGITS * 2 + 9);
        let counts: Vec<u32> = (0..3 * tiles as u32).map(|at| at.wrapping_mul(2_654_435_761) >> 20).collect();
        let (mut scanned, mut totals) = (gpu.upload(&counts).unwrap(), gpu.zeros::<u32>(3).unwrap());
        gpu.launch("radix_scan", Grid::blocks(3, DIGITS), &[write(&mut scanned), count(tiles), write(&mut totals)]).unwrap();
        let (scanned, totals) = (gpu.read(&scanned).unwrap(), gpu.read(&totals).unwrap());
        for (digit, counts) in counts.chunks_exact(tiles).enumerate() {
            let mut sum = 0;
            for (tile, count) in counts.iter().enumerate() {
                assert_eq!(scanned[digit * tiles + tile], sum, "digit {digit}, tile {tile}");
                sum += count;
            }
            assert_eq!(totals[digit], sum);
        }
    }
}
