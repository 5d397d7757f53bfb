//! InfoNCE between the rows of two views, and its derivatives.
//!
//! ```text
//! weight / sum_k n_k * sum_k n_k (log sum_j exp(cos(v_k, w_j) / τ) - cos(v_k, w_own(k)) / τ)
//! ```
//! n_k is how often v_k counts. B rows v meet M rows w in tiles that fit into the second-level cache: a product makes the cosines, which become exponentials relative to the largest
//! that each row has met so far, and a second product adds up w by them. What was added before a larger cosine is scaled when it comes, as in
//! FlashAttention (Dao et al. 2022). The exponentials stay for a third product, which adds up v. Tiles have fixed sizes and are added in a fixed order:
//! the bits do not depend on the number of threads.

use embeddings::product::{View, multiply};
use losses::fused::{exponentials_below, scale};
use rayon::prelude::*;
use vectors::Matrix;

/// Rows of v in a tile.
const ROWS: usize = 96;
/// Rows of w in a tile.
const COLUMNS: usize = 256;
/// Rows shorter than this have a cosine of less than one.
const SHORTEST: f32 = 1e-12;

/// Some rows of a view.
#[derive(Clone, Copy)]
pub(super) struct ViewRows<'a> {
    pub(super) view: &'a Matrix,
    pub(super) ids: &'a [u32],
}

/// What is held against what.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'a> {
    /// v, `[B, dim]`
    pub(super) one: ViewRows<'a>,
    /// How often each row of v counts, `[B]`.
    pub(super) counts: &'a [u32],
    /// w, `[M, dim]`
    pub(super) other: ViewRows<'a>,
    /// The row of w that belongs to each row of v, `[B]`.
    pub(super) own: &'a [u32],
    pub(super) temperature: f64,
    pub(super) weight: f64,
}

/// The loss, and its derivatives by both rows.
pub(super) struct InfoNce {
    pub(super) loss: f64,
    /// `[B, dim]`
    pub(super) one: Vec<f32>,
    /// `[M, dim]`
    pub(super) other: Vec<f32>,
}

/// Bytes that hold against each other so many rows of two views: a number of each tile's rows, the rows, and their gradients.
pub(super) fn memory([rows, others]: [u64; 2], dim: u64) -> u64 {
    let of_tiles = rows.saturating_mul(others.div_ceil(COLUMNS as u64)).saturating_mul(4);
    of_tiles.saturating_add(2 * (rows + others) * (dim + 1) * 4)
}

/// The loss of at least one row, by a buffer of `[B, M]`.
pub(super) fn info_nce(comparison: Comparison, exponentials: &mut [f32]) -> InfoNce {
    let Comparison { own, counts, temperature, weight, .. } = comparison;
    let (one, other) = (Units::new(comparison.one), Units::new(comparison.other));
    let (dim, rows, others) = (one.dim, own.len(), other.lengths.len());
    let all: f64 = counts.iter().copied().map(f64::from).sum();
    let (tiles, share) = (others.div_ceil(COLUMNS), weight / temperature / all);
    let (mut of_one, mut factors) = (vec![0.0f32; rows * dim], vec![0.0f32; rows * tiles]);
    let parts = exponentials.par_chunks_mut(ROWS * others).zip(factors.par_chunks_mut(ROWS * tiles));
    let blocks = parts.zip(of_one.par_chunks_mut(ROWS * dim)).zip(own.par_chunks(ROWS).zip(counts.par_chunks(ROWS))).enumerate();
    let losses: Vec<f64> = blocks
        .map(|(block, (((exponentials, factors), of_one), (own, counts)))| {
            let mut softmax = Softmax { inverse_temperature: 1.0 / temperature, exponentials, factors, sums: of_one, dim };
            let first = block * ROWS * dim;
            let tops = softmax.tiles(&one.values[first..first + own.len() * dim], &other, own);
            softmax.finish(&tops, share, &other, own, counts)
        })
        .collect();
    let mut of_other = sums_of_v(&one, others, exponentials, &factors);
    for ((&own, &count), unit) in own.iter().zip(counts).zip(one.values.chunks_exact(dim)) {
        subtract(&mut of_other[own as usize * dim..][..dim], unit, (share * f64::from(count)) as f32);
    }
    one.backward(&mut of_one);
    other.backward(&mut of_other);
    InfoNce { loss: losses.iter().sum::<f64>() * weight / all, one: of_one, other: of_other }
}

/// Sums of v by the exponentials of all tiles, times what each is multiplied by: `[M, dim]`.
fn sums_of_v(one: &Units, others: usize, exponentials: &[f32], factors: &[f32]) -> Vec<f32> {
    let (dim, tiles) = (one.dim, others.div_ceil(COLUMNS));
    let mut sums = vec![0.0f32; others * dim];
    let add = |room: &mut Vec<f32>, (tile, sums): (usize, &mut [f32])| {
        let width = sums.len() / dim;
        for (block, units) in one.values.chunks(ROWS * dim).enumerate() {
            let (count, scaled) = (units.len() / dim, &mut room[..units.len()]);
            let factors = &factors[block * ROWS * tiles + tile * count..][..count];
            for ((scaled, unit), &factor) in scaled.chunks_exact_mut(dim).zip(units.chunks_exact(dim)).zip(factors) {
                scaled.iter_mut().zip(unit).for_each(|(scaled, value)| *scaled = value * factor);
            }
            let exponentials = &exponentials[block * ROWS * others + tile * COLUMNS * count..][..count * width];
            let left = View { values: exponentials, row: 1, column: width };
            multiply([width, count, dim], sums, true, left, View { values: scaled, row: dim, column: 1 });
        }
    };
    sums.par_chunks_mut(COLUMNS * dim).enumerate().for_each_init(|| vec![0.0f32; ROWS * dim], add);
    sums
}

/// `target -= share * unit`
fn subtract(target: &mut [f32], unit: &[f32], share: f32) {
    target.iter_mut().zip(unit).for_each(|(target, value)| *target -= share * value);
}

/// The softmax of some rows v over all w.
struct Softmax<'a> {
    inverse_temperature: f64,
    /// Cosines of a tile, then their exponentials: `[count, width]` tile after tile.
    exponentials: &'a mut [f32],
    /// Of each tile the largest cosines so far, then what its exponentials are multiplied by: `[tiles, count]`.
    factors: &'a mut [f32],
    /// Sums of w by exponentials, then derivatives by v: `[count, dim]`.
    sums: &'a mut [f32],
    dim: usize,
}

/// What a row v has met.
#[derive(Clone, Copy)]
struct Top {
    /// The largest cosine.
    most: f32,
    /// The exponentials relative to it.
    sum: f64,
    /// The cosine with the row of w that belongs to v.
    own: f32,
}

impl Softmax<'_> {
    /// Meets all w, tile by tile.
    fn tiles(&mut self, units: &[f32], other: &Units, own: &[u32]) -> Vec<Top> {
        let (dim, count) = (self.dim, own.len());
        let mut tops = vec![Top { most: f32::NEG_INFINITY, sum: 0.0, own: 0.0 }; count];
        let tiles = self.exponentials.chunks_mut(COLUMNS * count).zip(self.factors.chunks_exact_mut(count)).enumerate();
        for (tile, (exponentials, factors)) in tiles {
            let (width, others) = (exponentials.len() / count, &other.values[tile * COLUMNS * dim..]);
            let left = View { values: units, row: dim, column: 1 };
            multiply([count, dim, width], exponentials, false, left, View { values: others, row: 1, column: dim });
            let rows = exponentials.chunks_exact_mut(width).zip(self.sums.chunks_exact_mut(dim)).zip(factors).zip(own);
            for ((((exponentials, sums), most), &own), top) in rows.zip(&mut tops) {
                if own as usize / COLUMNS == tile {
                    top.own = exponentials[own as usize % COLUMNS];
                }
                let (largest, sum) = exponentials_below(top.most, exponentials, self.inverse_temperature as f32);
                if largest > top.most {
                    let shrink = (f64::from(top.most - largest) * self.inverse_temperature).exp();
                    scale(sums, shrink as f32);
                    (top.most, top.sum) = (largest, top.sum * shrink);
                }
                (*most, top.sum) = (largest, top.sum + sum);
            }
            let left = View { values: exponentials, row: width, column: 1 };
            multiply([count, width, dim], self.sums, true, left, View { values: others, row: dim, column: 1 });
        }
        tops
    }

    /// The losses, as often as each row counts, once all w were met.
    fn finish(&mut self, tops: &[Top], share: f64, other: &Units, own: &[u32], counts: &[u32]) -> f64 {
        let dim = self.dim;
        for (((sums, top), &own), &count) in self.sums.chunks_exact_mut(dim).zip(tops).zip(own).zip(counts) {
            let share = share * f64::from(count);
            scale(sums, (share / top.sum) as f32);
            subtract(sums, &other.values[own as usize * dim..][..dim], share as f32);
        }
        for most in self.factors.chunks_exact_mut(tops.len()) {
            for ((most, top), &count) in most.iter_mut().zip(tops).zip(counts) {
                let share = share * f64::from(count);
                *most = (share / top.sum * (f64::from(*most - top.most) * self.inverse_temperature).exp()) as f32;
            }
        }
        let losses = tops.iter().map(|top| f64::from(top.most - top.own) * self.inverse_temperature + top.sum.ln());
        losses.zip(counts).map(|(loss, &count)| loss * f64::from(count)).sum()
    }
}

/// Rows at length one.
struct Units {
    dim: usize,
    values: Vec<f32>,
    /// Lengths of the rows before.
    lengths: Vec<f32>,
}

impl Units {
    fn new(ViewRows { view, ids }: ViewRows) -> Self {
        let mut values = vec![0.0; ids.len() * view.dim];
        let lengths = values.par_chunks_exact_mut(view.dim).zip(ids).with_min_len(64).map(|(unit, &id)| {
            let row = view.row(id as usize);
            let length = (row.iter().map(|value| value * value).sum::<f32>() + SHORTEST * SHORTEST).sqrt();
            unit.iter_mut().zip(row).for_each(|(unit, value)| *unit = value / length);
            length
        });
        let lengths = lengths.collect();
        Self { dim: view.dim, values, lengths }
    }

    /// From derivatives by the units to those by the rows, in place: what points along a unit goes, and the rest is as much longer as the row was
    /// shorter.
    fn backward(&self, gradients: &mut [f32]) {
        let rows = gradients.par_chunks_exact_mut(self.dim).zip(self.values.par_chunks_exact(self.dim)).zip(&self.lengths);
        rows.with_min_len(64).for_each(|((gradient, unit), length)| {
            let along: f32 = gradient.iter().zip(unit).map(|(gradient, unit)| gradient * unit).sum();
            gradient.iter_mut().zip(unit).for_each(|(gradient, unit)| *gradient = (*gradient - along * unit) / length);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{super::formula, *};
    use candle_core::{Device, Tensor, Var};
    use proptest::prelude::*;

    const DIM: usize = 5;

    fn found(one: &[f32], other: &[f32], own: &[u32]) -> InfoNce {
        at_temperature(0.3, one, other, own)
    }

    fn at_temperature(temperature: f64, one: &[f32], other: &[f32], own: &[u32]) -> InfoNce {
        counting(temperature, one, other, own, &vec![1; own.len()])
    }

    fn counting(temperature: f64, one: &[f32], other: &[f32], own: &[u32], counts: &[u32]) -> InfoNce {
        let view = |rows: &[f32]| Matrix { rows: rows.len() / DIM, dim: DIM, values: rows.to_vec() };
        let (one, other) = (view(one), view(other));
        let ids = |view: &Matrix| (0..view.rows as u32).collect::<Vec<u32>>();
        let (one, other) = (ViewRows { view: &one, ids: &ids(&one) }, ViewRows { view: &other, ids: &ids(&other) });
        let comparison = Comparison { one, counts, other, own, temperature, weight: 0.7 };
        info_nce(comparison, &mut vec![f32::NAN; own.len() * other.ids.len()])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Candle's derivatives of the formula, in f64; several tiles either way.
        #[test]
        fn the_loss_and_its_derivatives_are_those_of_the_formula(
            one in prop::collection::vec(-2.0f32..2.0, (ROWS + 34) * DIM), other in prop::collection::vec(-2.0f32..2.0, (2 * COLUMNS + 7) * DIM),
            shift in 0u32..500, temperature in prop::sample::select(vec![0.3, 0.02])
        ) {
            let own: Vec<u32> = (0..(ROWS + 34) as u32).map(|row| (7 * row + shift) % (2 * COLUMNS + 7) as u32).collect();
            let variable = |rows: &[f32]| {
                let values: Vec<f64> = rows.iter().copied().map(f64::from).collect();
                Var::from_tensor(&Tensor::from_vec(values, (rows.len() / DIM, DIM), &Device::Cpu).unwrap()).unwrap()
            };
            let variables = [variable(&one), variable(&other)];
            let loss = formula::info_nce(variables.each_ref().map(|variable| variable.as_tensor()), &own, temperature).unwrap();
            let loss = (loss * 0.7).unwrap();
            let gradients = loss.backward().unwrap();
            let InfoNce { loss: value, one: of_one, other: of_other } = at_temperature(temperature, &one, &other, &own);
            let (expected, error): (f64, f64) = (loss.to_scalar().unwrap(), 3e-6 / temperature);
            prop_assert!((value - expected).abs() < error * expected.abs().max(1.0), "{value} {expected}");
            for (variable, found) in variables.iter().zip([of_one, of_other]) {
                let expected: Vec<f64> = gradients.get(variable).unwrap().flatten_all().unwrap().to_vec1().unwrap();
                let largest = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
                for (found, expected) in found.into_iter().zip(expected) {
                    prop_assert!((f64::from(found) - expected).abs() < error * largest.max(0.1), "{found} {expected}");
                }
            }
        }
    }

    /// Row k stands n_k times, or once and counts n_k.
    #[test]
    fn a_row_that_counts_twice_is_two_rows() {
        let rows = |count: usize, salt: f32| (0..count * DIM).map(|number| (salt + 0.7 * number as f32).sin()).collect::<Vec<f32>>();
        let (one, other, own, counts) = (rows(ROWS + 9, 0.1), rows(COLUMNS + 4, 0.5), [3u32, 250, 17], [1u32, 3, 2, 5]);
        let own: Vec<u32> = (0..ROWS + 9).map(|row| own[row % 3]).collect();
        let counts: Vec<u32> = (0..ROWS + 9).map(|row| counts[row % 4]).collect();
        let repeats = || counts.iter().enumerate().flat_map(|(row, &count)| std::iter::repeat_n(row, count as usize));
        let listed: Vec<f32> = repeats().flat_map(|row| one[row * DIM..][..DIM].to_vec()).collect();
        let expected = found(&listed, &other, &repeats().map(|row| own[row]).collect::<Vec<_>>());
        let weighed = counting(0.3, &one, &other, &own, &counts);
        assert!((weighed.loss - expected.loss).abs() < 1e-6 * expected.loss, "{} {}", weighed.loss, expected.loss);
        let mut sums = vec![0.0f32; one.len()];
        for (row, gradient) in repeats().zip(expected.one.chunks_exact(DIM)) {
            sums[row * DIM..][..DIM].iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value);
        }
        for (found, expected) in weighed.one.iter().chain(&weighed.other).zip(sums.iter().chain(&expected.other)) {
            assert!((found - expected).abs() < 2e-6, "{found} {expected}");
        }
    }

    #[test]
    fn a_row_of_zeros_gives_numbers() {
        let InfoNce { loss, one, other } = found(&[0.0; DIM], &[0.0; 2 * DIM], &[1]);
        assert!((loss - 0.7 * 2.0f64.ln()).abs() < 1e-6, "{loss}");
        assert!(one.iter().chain(&other).all(|value| value.is_finite()));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let rows = |salt: f32| (0..600 * DIM).map(|number| (salt + 0.37 * number as f32).sin()).collect::<Vec<f32>>();
        let (one, other, own) = (rows(0.0), rows(1.0), (0..600).collect::<Vec<u32>>());
        let bits = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let InfoNce { loss, one, other } = pool.install(|| found(&one, &other, &own));
            (loss.to_bits(), [one, other].concat().iter().map(|value| value.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(bits(1), bits(3));
    }
}
