//! Some rows of a table, whose way back is quick on any device.
//!
//! candle's own adds the gradients of rows one after another, in one thread of a GPU for each column. Here those of one row are joined two by two
//! ([`Segments`]), and each row of the table takes its sum: no row waits for another. On a CPU candle's own is the quicker.

use super::{given, is_ours};
use crate::segments::Segments;
use candle_core::{Result, Tensor};
use std::sync::Arc;

/// Rows `ids` of `table [rows, dim]`, in the order of the ids, of which any may repeat: `[ids, dim]`.
///
/// # Errors
/// When there is no such row.
pub fn select_rows(table: &Tensor, ids: &[u32]) -> Result<Tensor> {
    if is_ours(table) || ids.is_empty() {
        return table.index_select(&Tensor::from_slice(ids, ids.len(), table.device())?, 0);
    }
    select_elsewhere(table, ids)
}

fn select_elsewhere(table: &Tensor, ids: &[u32]) -> Result<Tensor> {
    let selected = table.detach().index_select(&Tensor::from_slice(ids, ids.len(), table.device())?, 0)?;
    let (ids, rows): (Arc<[u32]>, usize) = (ids.into(), table.dim(0)?);
    given(table, &selected, move |gradient| sums_of_rows(gradient, &ids, rows))
}

/// The sum of the rows of each id, `[rows, dim]` of `[ids, dim]`; zeros of those that are no id.
///
/// # Errors
/// When the shapes do not fit.
pub fn sum_rows(values: &Tensor, ids: &[u32], rows: usize) -> Result<Tensor> {
    let nothing = || Tensor::zeros((rows, values.dim(1)?), values.dtype(), values.device());
    match (ids, is_ours(values)) {
        ([], _) => nothing(),
        (_, true) => nothing()?.index_add(&Tensor::from_slice(ids, ids.len(), values.device())?, values, 0),
        (_, false) => sums_of_rows(values, ids, rows),
    }
}

fn sums_of_rows(gradient: &Tensor, ids: &[u32], rows: usize) -> Result<Tensor> {
    let mut counts = vec![0u32; rows];
    ids.iter().for_each(|&id| counts[id as usize] += 1);
    // Of a row: where its gradients begin, and the place of its sum, the last of which is of rows without any.
    let distinct = counts.iter().filter(|&&count| count > 0).count();
    let (mut starts, mut next, mut places) = (Vec::with_capacity(distinct + 1), vec![0u32; rows], vec![distinct as u32; rows]);
    let mut start = 0;
    for (row, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        places[row] = starts.len() as u32;
        starts.push(start as usize);
        next[row] = start;
        start += count;
    }
    starts.push(start as usize);
    let mut order = vec![0u32; ids.len()];
    for (place, &id) in (0..).zip(ids) {
        let to = &mut next[id as usize];
        order[*to as usize] = place;
        *to += 1;
    }
    let on_device = |ids: &[u32]| Tensor::from_slice(ids, ids.len(), gradient.device());
    let sums = Segments::new(&starts, gradient.device(), gradient.dtype())?.sum(&gradient.index_select(&on_device(&order)?, 0)?)?;
    let nothing = Tensor::zeros((1, gradient.dim(1)?), gradient.dtype(), gradient.device())?;
    Tensor::cat(&[sums, nothing], 0)?.index_select(&on_device(&places)?, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_same, matrix};
    use candle_core::Device;

    /// Rows that are none of the ids, that are one of them and that are several; against candle's own.
    #[test]
    fn values_and_derivatives_are_candles_own() {
        let table = [matrix([6, 3], |number| (0.3 + 1.7 * number).sin())];
        for ids in [&[4u32, 1, 4, 0, 4, 4, 1][..], &[5], &[2, 2, 2]] {
            let ids_of = Tensor::from_slice(ids, ids.len(), &Device::Cpu).unwrap();
            assert_same(|given| select_elsewhere(&given[0], ids), |given| given[0].index_select(&ids_of, 0), &table);
            let rows = matrix([ids.len(), 3], |number| (0.7 - 1.3 * number).cos());
            let numbers = |sums: Result<Tensor>| sums.unwrap().flatten_all().unwrap().to_vec1::<f64>().unwrap();
            let both = numbers(sums_of_rows(&rows, ids, 6)).into_iter().zip(numbers(sum_rows(&rows, ids, 6)));
            both.for_each(|(elsewhere, ours)| assert!((elsewhere - ours).abs() < 1e-12, "{elsewhere} {ours}"));
        }
    }
}
