//! Where the gradients of ranks meet: each has those of its rows of the batch, and takes away those of the whole batch.

use crate::{Result, collective::Collective};
use embeddings::RowGradients;

/// Rows are exchanged one by one where all ranks together touch at most one of so many; else whole tables are added up.
const SPARSE: usize = 2;

/// Adds up the gradients of a table in the order of the ranks. `touches` is a bound on how many rows all ranks together touch, of which each
/// knows the same.
pub(crate) fn all_reduce(collective: &Collective, what: &str, gradients: &mut RowGradients, touches: usize) -> Result<()> {
    if collective.ranks() == 1 {
        return Ok(());
    }
    match is_by_row(touches, gradients.touched().len()) {
        true => by_rows(collective, what, gradients),
        false => as_whole(collective, what, gradients),
    }
}

/// Whether gradients are exchanged row by row, where all ranks together touch at most so many of so many rows.
fn is_by_row(touches: usize, rows: usize) -> bool {
    touches.saturating_mul(SPARSE) < rows
}

fn by_rows(collective: &Collective, what: &str, gradients: &mut RowGradients) -> Result<()> {
    let dim = gradients.dim();
    let rows: Vec<u32> = (0..).zip(gradients.touched()).filter_map(|(row, &touched)| touched.then_some(row)).collect();
    let values: Vec<f32> = rows.iter().flat_map(|&row| &gradients.values()[row as usize * dim..][..dim]).copied().collect();
    let most = gradients.touched().len();
    let (rows, values) = (collective.gather(what, &rows, most)?, collective.gather(what, &values, most * dim)?);
    check_rows(collective, what, &rows, &values, [most, dim])?;
    gradients.clear();
    for (&row, gradient) in rows.iter().flatten().zip(values.iter().flat_map(|values| values.chunks_exact(dim))) {
        gradients.add(row as usize, gradient);
    }
    Ok(())
}

/// Refuses rows that a table of so many, of `dim` numbers each, does not have, and rows without their numbers.
fn check_rows(collective: &Collective, what: &str, rows: &[Vec<u32>], values: &[Vec<f32>], [count, dim]: [usize; 2]) -> Result<()> {
    for (rank, (rows, values)) in rows.iter().zip(values).enumerate() {
        if let Some(row) = rows.iter().find(|&&row| row as usize >= count) {
            return Err(collective.error(what, format!("rank {rank} brings row {row} of a table of {count}")));
        }
        if values.len() != rows.len() * dim {
            let reason = format!("rank {rank} brings {} numbers for {} rows: expected {dim} for each", values.len(), rows.len());
            return Err(collective.error(what, reason));
        }
    }
    Ok(())
}

fn as_whole(collective: &Collective, what: &str, gradients: &mut RowGradients) -> Result<()> {
    let touched: Vec<u8> = gradients.touched().iter().map(|&touched| u8::from(touched)).collect();
    let touched = collective.gather_equal(what, &touched)?; // some optimizers leave rows without gradient alone
    collective.sum(what, gradients.fill())?;
    for (row, mark) in gradients.parts().1.iter_mut().enumerate() {
        *mark = touched.iter().any(|touched| touched[row] != 0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective;
    use std::time::Duration;

    /// Three ranks, each with gradients for some of ten rows of two numbers.
    fn meet(touches: usize) -> (Vec<f32>, Vec<bool>) {
        let own: [&[(usize, [f32; 2])]; 3] =
            [&[(1, [1e8, 1.0]), (4, [2.0, 3.0])], &[(1, [1.0, 10.0])], &[(9, [0.0, 0.5]), (1, [-1e8, 100.0])]];
        let work = |collective: Collective| {
            let mut gradients = RowGradients::new(10, 2);
            gradients.fill().fill(77.0); // leftovers, which are no gradient
            gradients.clear();
            own[collective.rank() as usize].iter().for_each(|(row, gradient)| gradients.add(*row, gradient));
            all_reduce(&collective, "a table", &mut gradients, touches)?;
            let touched = gradients.touched().to_vec();
            let all = collective.gather_equal("results", gradients.fill())?;
            assert!(all.iter().all(|values| *values == all[0]), "every rank has the same");
            Ok((all[0].clone(), touched))
        };
        collective::run(collective::threads(3, Duration::from_secs(60)), work, work).unwrap()
    }

    /// `(1e8 + 1) - 1e8` is 0 in `f32`, in this order alone.
    #[test]
    fn rows_and_whole_tables_are_added_up_alike_in_the_order_of_the_ranks() {
        let mut expected = (vec![0.0; 20], vec![false; 10]);
        for (row, gradient) in [(1, [0.0, 111.0]), (4, [2.0, 3.0]), (9, [0.0, 0.5])] {
            expected.0[2 * row..][..2].copy_from_slice(&gradient);
            expected.1[row] = true;
        }
        assert_eq!(meet(4), expected);
        assert_eq!(meet(5), expected);
    }

    /// A rank that is not of this build, or lies.
    #[test]
    fn rows_that_are_none_are_refused() {
        let all_reduce = |lie: (Vec<u32>, Vec<f32>)| {
            let work = |collective: Collective| {
                if collective.leads() {
                    let mut gradients = RowGradients::new(10, 2);
                    return all_reduce(&collective, "a table", &mut gradients, 1);
                }
                collective.gather("a table", &lie.0, 10)?;
                collective.gather("a table", &lie.1, 20)?;
                Ok(())
            };
            collective::run(collective::threads(2, Duration::from_secs(60)), work, work).unwrap_err().to_string()
        };
        let row = all_reduce((vec![10], vec![1.0, 1.0]));
        assert!(row.contains("`a table`): rank 1 brings row 10 of a table of 10"), "{row}");
        let numbers = all_reduce((vec![3, 4], vec![1.0, 1.0]));
        assert!(numbers.contains("rank 1 brings 2 numbers for 2 rows: expected 2 for each"), "{numbers}");
    }
}
