//! What ranks leave of the gradients of candle's steps, whole and row by row, against the same by hand.

use super::{Comparison, wave};
use crate::{
    Result,
    collective::Collective,
    fit::{self, Reach},
};
use candle_core::Tensor;
use gpu::Gpu;

/// Rows of a matrix and numbers of each.
const SHAPE: [usize; 2] = [1_003, 17];
/// A rank touches a row of so many, from its own number on.
const ONE_OF: usize = 31;

/// What this rank finds, in which all ranks agree.
pub(super) fn check(gpu: &Gpu, collective: &Collective) -> Result<Vec<Comparison>> {
    let (rank, ranks, [rows, dim]) = (collective.rank(), collective.ranks(), SHAPE);
    let is_touched = |rank: u32, row: usize| row % ONE_OF == rank as usize % ONE_OF || row == 0;
    let own = |rank: u32| {
        let mut values = wave(rows * dim, 2.0, 60 + rank);
        let rows = values.chunks_exact_mut(dim).enumerate();
        rows.filter(|(row, _)| !is_touched(rank, *row)).for_each(|(_, values)| values.fill(0.0));
        values
    };
    let marks = |rank: u32| (0..rows).map(|row| is_touched(rank, row)).collect::<Vec<bool>>();
    let gradient = || Ok::<_, crate::Error>((Tensor::from_vec(own(rank), (rows, dim), &gpu.candle())?, Some(marks(rank))));
    let reach = [Some(Reach { batch: ranks as usize, of_row: rows.div_ceil(ONE_OF) + 1 }), None];
    let found = fit::all_reduce(gpu, collective, vec![gradient()?, gradient()?], &reach)?;
    let mut expected = vec![0.0f32; rows * dim];
    for rank in 0..ranks {
        expected.iter_mut().zip(own(rank)).for_each(|(sum, value)| *sum += value);
    }
    let of_any: Vec<u32> = (0..rows).map(|row| u32::from((0..ranks).any(|rank| is_touched(rank, row)))).collect();
    let mut comparisons = Vec::new();
    for (how, (gradient, marks)) in ["row by row", "as whole matrices"].into_iter().zip(found) {
        let what = |what: &str| format!("{what} of candle's steps, {how}, {ranks} ranks on devices");
        let values: Vec<f32> = gradient.flatten_all()?.to_vec1()?;
        comparisons.push(Comparison::new(what("gradients"), &values, &expected, 1e-6));
        let marks: Vec<u32> = marks.iter().flatten().map(|&mark| u32::from(mark)).collect();
        comparisons.push(Comparison::of_ids(what("touched rows"), &marks, &of_any));
    }
    Ok(comparisons)
}
