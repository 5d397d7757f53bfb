//! InfoNCE between the rows of two views, and its derivatives.
//!
//! ```text
//! weight / B * sum_k (log sum_j exp(cos(v_k, w_j) / τ) - cos(v_k, w_own(k)) / τ)
//! ```
//! B rows v meet M rows w in one product of matrices. The cosines, `[B, M]`, become their derivatives in place, from which two more products
//! make those of the rows. Blocks of rows are parallel tasks of fixed sizes: the bits do not depend on the number of threads.

use embeddings::product::{View, multiply};
use losses::fused::{exponentials, scale};
use rayon::prelude::*;

/// Rows of one parallel task.
const BLOCK: usize = 32;
/// Rows shorter than this have a cosine of less than one.
const SHORTEST: f32 = 1e-12;

/// What is held against what.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'a> {
    /// Length of a row.
    pub(super) dim: usize,
    /// v, `[B, dim]`
    pub(super) one: &'a [f32],
    /// w, `[M, dim]`
    pub(super) other: &'a [f32],
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

/// The loss of at least one row, by a buffer of `[B, M]`.
pub(super) fn info_nce(comparison: Comparison, cosines: &mut [f32]) -> InfoNce {
    let Comparison { dim, own, temperature, weight, .. } = comparison;
    let (one, other) = (Units::new(comparison.one, dim), Units::new(comparison.other, dim));
    let (rows, others, inverse_temperature) = (own.len(), other.lengths.len(), 1.0 / temperature);
    let share = weight * inverse_temperature / rows as f64;
    let mut of_one = vec![0.0f32; rows * dim];
    let blocks = cosines.par_chunks_mut(BLOCK * others).zip(of_one.par_chunks_mut(BLOCK * dim)).zip(own.par_chunks(BLOCK)).enumerate();
    let losses: Vec<f64> = blocks
        .map(|(block, ((cosines, of_one), own))| {
            let units = View { values: &one.values[block * BLOCK * dim..], row: dim, column: 1 };
            multiply([own.len(), dim, others], cosines, false, units, View { values: &other.values, row: 1, column: dim });
            let loss = cosines.chunks_exact_mut(others).zip(own).map(|(cosines, &own)| {
                let positive = cosines[own as usize];
                let (largest, sum) = exponentials(cosines, inverse_temperature as f32);
                scale(cosines, (share / sum) as f32);
                cosines[own as usize] -= share as f32;
                f64::from(largest - positive) * inverse_temperature + sum.ln()
            });
            let loss = loss.sum();
            let (derivatives, others_view) =
                (View { values: cosines, row: others, column: 1 }, View { values: &other.values, row: dim, column: 1 });
            multiply([own.len(), others, dim], of_one, false, derivatives, others_view);
            loss
        })
        .collect();
    let mut of_other = vec![0.0f32; others * dim];
    of_other.par_chunks_mut(BLOCK * dim).enumerate().for_each(|(block, of_other)| {
        let derivatives = View { values: &cosines[block * BLOCK..], row: 1, column: others };
        multiply([of_other.len() / dim, rows, dim], of_other, false, derivatives, View { values: &one.values, row: dim, column: 1 });
    });
    one.backward(&mut of_one);
    other.backward(&mut of_other);
    InfoNce { loss: losses.iter().sum::<f64>() * weight / rows as f64, one: of_one, other: of_other }
}

/// Rows at length one.
struct Units {
    dim: usize,
    values: Vec<f32>,
    /// Lengths of the rows before.
    lengths: Vec<f32>,
}

impl Units {
    fn new(rows: &[f32], dim: usize) -> Self {
        let mut values = rows.to_vec();
        let lengths = values.par_chunks_exact_mut(dim).map(|row| {
            let length = (row.iter().map(|value| value * value).sum::<f32>() + SHORTEST * SHORTEST).sqrt();
            row.iter_mut().for_each(|value| *value /= length);
            length
        });
        let lengths = lengths.collect();
        Self { dim, values, lengths }
    }

    /// From derivatives by the units to those by the rows, in place: what points along a unit goes, and the rest is as much longer as the row was
    /// shorter.
    fn backward(&self, gradients: &mut [f32]) {
        let rows = gradients.par_chunks_exact_mut(self.dim).zip(self.values.par_chunks_exact(self.dim)).zip(&self.lengths);
        rows.for_each(|((gradient, unit), length)| {
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
        let comparison = Comparison { dim: DIM, one, other, own, temperature: 0.3, weight: 0.7 };
        info_nce(comparison, &mut vec![f32::NAN; own.len() * other.len() / DIM])
    }

    proptest! {
        /// Candle's derivatives of the formula, in f64.
        #[test]
        fn the_loss_and_its_derivatives_are_those_of_the_formula(
            one in prop::collection::vec(-2.0f32..2.0, 70 * DIM), other in prop::collection::vec(-2.0f32..2.0, 40 * DIM), shift in 0u32..40
        ) {
            let own: Vec<u32> = (0..70).map(|row| (row + shift) % 40).collect();
            let variable = |rows: &[f32]| {
                let values: Vec<f64> = rows.iter().copied().map(f64::from).collect();
                Var::from_tensor(&Tensor::from_vec(values, (rows.len() / DIM, DIM), &Device::Cpu).unwrap()).unwrap()
            };
            let variables = [variable(&one), variable(&other)];
            let loss = (formula::info_nce(variables.each_ref().map(|variable| variable.as_tensor()), &own, 0.3).unwrap() * 0.7).unwrap();
            let gradients = loss.backward().unwrap();
            let InfoNce { loss: value, one: of_one, other: of_other } = found(&one, &other, &own);
            let expected: f64 = loss.to_scalar().unwrap();
            prop_assert!((value - expected).abs() < 1e-5 * expected.abs().max(1.0), "{value} {expected}");
            for (variable, found) in variables.iter().zip([of_one, of_other]) {
                let expected: Vec<f64> = gradients.get(variable).unwrap().flatten_all().unwrap().to_vec1().unwrap();
                let largest = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
                for (found, expected) in found.into_iter().zip(expected) {
                    prop_assert!((f64::from(found) - expected).abs() < 1e-5 * largest.max(0.1), "{found} {expected}");
                }
            }
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
        let rows = |salt: f32| (0..200 * DIM).map(|number| (salt + 0.37 * number as f32).sin()).collect::<Vec<f32>>();
        let (one, other, own) = (rows(0.0), rows(1.0), (0..200).collect::<Vec<u32>>());
        let bits = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let InfoNce { loss, one, other } = pool.install(|| found(&one, &other, &own));
            (loss.to_bits(), [one, other].concat().iter().map(|value| value.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(bits(1), bits(3));
    }
}
