//! The means of many rows of values over resampled users: what the bootstrap and the joint distribution of all comparisons are made of.
//!
//! Each resample draws as many users as there are, with replacement, and takes every row's mean over the same draws: a product of the
//! matrices `counts [resamples, users]` and `values [users, rows]`. It is taken in blocks of users in `f32`, of values less their row's mean,
//! and blocks are added up in `f64`. A resample's draws depend on (seed, resample) alone.

use super::stream::stream;
use crate::scorer::scores::{PANEL, product};
use rand::Rng;
use rayon::prelude::*;
use std::ops::Deref;

/// Resamples that one task makes.
const CHUNK: usize = 64;
/// Users whose counts and values meet at a time.
const BLOCK: usize = 2048;

/// For each resample the mean of every row over the drawn users, less the row's own mean: `[resamples, rows]`.
pub(crate) struct Resampled {
    rows: usize,
    deviations: Vec<f32>,
}

impl Resampled {
    /// Resamples the users of rows, which are values of the same users in the same order.
    pub(crate) fn new<T: Deref<Target = [f64]> + Sync>(rows: &[T], resamples: u32, seed: u64) -> Self {
        let (count, users) = (rows.len(), rows.first().map_or(0, |row| row.len()));
        let width = count.div_ceil(PANEL) * PANEL;
        let blocks: Vec<Block> = (0..users).step_by(BLOCK).map(|start| Block::new(rows, start, users.min(start + BLOCK))).collect();
        let mut deviations = vec![0.0f32; resamples as usize * count];
        deviations.par_chunks_mut((CHUNK * count).max(1)).enumerate().for_each(|(chunk, out)| {
            let first = chunk * CHUNK;
            let counts: Vec<Vec<f32>> = (first..first + out.len() / count).map(|resample| draw(users, seed, resample as u32)).collect();
            let sums = sums(&counts, &blocks, width);
            for (sums, out) in sums.chunks_exact(width).zip(out.chunks_exact_mut(count)) {
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = (sum / users as f64) as f32);
            }
        });
        Self { rows: count, deviations }
    }

    /// The means of groups of rows, so many in each, in every resample. Of equal rows the mean is the row itself, to the bit: their sum has no rounding in f64.
    pub(crate) fn averaged(&self, groups: impl Iterator<Item = usize> + Clone + Sync) -> Self {
        let of_resample = |rows: &[f32]| {
            let mut rows = rows.iter();
            let mut sum = |count: usize| rows.by_ref().take(count).map(|&row| f64::from(row)).sum::<f64>();
            groups.clone().map(|count| (sum(count) / count as f64) as f32).collect::<Vec<f32>>()
        };
        let deviations = self.deviations.chunks_exact(self.rows.max(1)).flat_map(of_resample).collect();
        Self { rows: groups.clone().count(), deviations }
    }

    /// The rows' deviations in a resample.
    pub(crate) fn of(&self, resample: u32) -> &[f32] {
        let start = resample as usize * self.rows;
        &self.deviations[start..start + self.rows]
    }
}

/// The values of some users, less their row's mean, in the order that [`product`] reads: `[panels, users, PANEL]`.
struct Block {
    start: usize,
    users: usize,
    panels: Vec<f32>,
}

impl Block {
    fn new<T: Deref<Target = [f64]> + Sync>(rows: &[T], start: usize, end: usize) -> Self {
        let users = end - start;
        let mut panels = vec![0.0f32; rows.len().div_ceil(PANEL) * users * PANEL];
        panels.par_chunks_mut(users * PANEL).zip(rows.par_chunks(PANEL)).for_each(|(panel, rows)| {
            for (column, row) in rows.iter().enumerate() {
                let mean = row.iter().sum::<f64>() / row.len() as f64;
                for (user, value) in row[start..end].iter().enumerate() {
                    panel[user * PANEL + column] = (value - mean) as f32;
                }
            }
        });
        Self { start, users, panels }
    }
}

/// `counts [resamples, users]` times the values of all blocks: `[resamples, width]`.
fn sums(counts: &[Vec<f32>], blocks: &[Block], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0f64; counts.len() * width];
    let mut out = vec![0.0f32; counts.len() * width];
    for block in blocks {
        let rows: Vec<f32> = counts.iter().flat_map(|counts| &counts[block.start..block.start + block.users]).copied().collect();
        product(&rows, block.users, &block.panels, &mut out, width);
        sums.iter_mut().zip(&out).for_each(|(sum, part)| *sum += f64::from(*part));
    }
    sums
}

/// How often each user is drawn. An index is a 32-bit number scaled to the number of users, two from each word: no user's probability is off
/// by more than 2^-32.
fn draw(users: usize, seed: u64, resample: u32) -> Vec<f32> {
    let mut stream = stream(seed, resample);
    let mut counts = vec![0.0; users];
    let index = |word: u64| (((word & 0xffff_ffff) * users as u64) >> 32) as usize;
    for _ in 0..users / 2 {
        let word = stream.next_u64();
        counts[index(word)] += 1.0;
        counts[index(word >> 32)] += 1.0;
    }
    if users % 2 == 1 {
        counts[index(stream.next_u64())] += 1.0;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::{in_threads, users};

    #[test]
    fn draws_as_many_users_as_there_are() {
        for users in [0, 1, 2, 7, 100] {
            assert_eq!(draw(users, 1, 3).iter().sum::<f32>(), users as f32);
        }
    }

    #[test]
    fn the_mean_of_equal_rows_is_the_row_to_the_bit() {
        let row = users(300, 8);
        let found = Resampled::new(&[&row[..]; 16], 200, 3);
        let means = found.averaged([1, 3, 5, 7].into_iter());
        assert!((0..200).all(|resample| means.of(resample).iter().all(|mean| *mean == found.of(resample)[0])));
    }

    #[test]
    fn means_are_those_of_the_drawn_users() {
        let rows: Vec<Vec<f64>> = (0..50).map(|row| users(5000, row)).collect();
        let found = Resampled::new(&rows, 70, 9);
        for resample in [0, 1, 63, 64, 69] {
            let counts = draw(5000, 9, resample);
            for (row, deviation) in rows.iter().zip(found.of(resample)) {
                let drawn: f64 = counts.iter().zip(row).map(|(count, value)| f64::from(*count) * value).sum::<f64>() / 5000.0;
                let expected = drawn - row.iter().sum::<f64>() / 5000.0;
                assert!((f64::from(*deviation) - expected).abs() < 1e-7, "{deviation} {expected}");
            }
        }
    }

    #[test]
    fn threads_and_other_rows_change_nothing() {
        let rows: Vec<Vec<f64>> = (0..60).map(|row| users(300, row)).collect();
        let one = in_threads(1, || Resampled::new(&rows, 200, 1).deviations);
        assert_eq!(one, in_threads(2, || Resampled::new(&rows, 200, 1).deviations));
        let few = Resampled::new(&rows[..3], 200, 1);
        assert!((0..200).all(|resample| few.of(resample) == &one[resample as usize * 60..][..3]));
    }
}
