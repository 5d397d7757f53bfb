//! The rows of a binary matrix that are most similar to each, by the cosine with a shrinkage.
//!
//! ```text
//! S_ij = c_ij / (|r_i| |r_j| + shrink)
//! ```
//! c counts shared columns. Similarities are compared as the floats that are kept; equal ones by the lower row.

use super::{
    Sizes,
    co_occurrence::{Binary, Counter},
    stored::entries,
};
use crate::{Error, Result};
use evaluator::SparseMatrix;
use rayon::prelude::*;
use std::cmp::Ordering;

/// Rows that one parallel task takes at least.
const ROWS: usize = 64;

/// How many of the most similar rows are kept, and by which similarity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub(super) neighbours: u32,
    pub(super) shrink: f64,
}

impl Nearest {
    /// Whether the values make sense.
    pub(super) fn check(self) -> std::result::Result<(), String> {
        if self.neighbours == 0 {
            return Err("neighbours is 0, expected at least 1".to_owned());
        }
        match self.shrink >= 0.0 && self.shrink.is_finite() {
            true => Ok(()),
            false => Err(format!("shrink is {}, expected a number of at least 0", self.shrink)),
        }
    }

    /// For each row the similarities of the rows that are kept for it; none of them is zero, and the row itself is not among them.
    pub(super) fn of_rows(self, matrix: Binary<'_>) -> SparseMatrix {
        let rows = matrix.by_row.users();
        let lengths: Vec<u32> = (0..rows).map(|row| matrix.by_row.row(row).len() as u32).collect();
        let scratch = || (Counter::new(rows), Vec::new());
        let kept: Vec<Vec<(u32, f32)>> = (0..rows)
            .into_par_iter()
            .with_min_len(ROWS)
            .map_init(scratch, |(counter, found), row| {
                found.clear();
                counter.of_row(row, matrix, |other, shared| {
                    let similarity = self.similarity(shared, lengths[row], lengths[other as usize]);
                    if other as usize != row && similarity > 0.0 {
                        found.push((other, similarity));
                    }
                });
                self.keep(found);
                found.to_vec()
            })
            .collect();
        SparseMatrix::from_rows(rows, &kept)
    }

    fn similarity(self, shared: u32, one: u32, other: u32) -> f32 {
        (f64::from(shared) / ((f64::from(one) * f64::from(other)).sqrt() + self.shrink)) as f32
    }

    /// Drops all but the most similar, which then ascend by row.
    fn keep(self, found: &mut Vec<(u32, f32)>) {
        let neighbours = self.neighbours as usize;
        if found.len() > neighbours {
            found.select_nth_unstable_by(neighbours - 1, more_similar);
            found.truncate(neighbours);
        }
        found.sort_unstable_by_key(|&(row, _)| row);
    }

    /// Bytes of a fit at its peak, for a matrix of so many `rows`: the interactions by items; of each thread its counts and what it finds; and
    /// the kept rows twice, as lists and joined, or by rows and by columns.
    pub(super) fn peak(self, rows: u64, Sizes { items, train, .. }: Sizes) -> u64 {
        let transposed = 4 * train + 3 * 8 * (items + 1);
        let of_thread = Counter::bytes(rows) + 2 * rows * 8;
        let kept = 8 * entries(rows, u64::from(self.neighbours)) + 24 * rows;
        transposed + rayon::current_num_threads() as u64 * of_thread + 2 * kept
    }

    /// Refuses a fit that needs more than so much memory; `what` names it.
    pub(super) fn fits(self, rows: u64, sizes: Sizes, memory: usize, what: impl FnOnce() -> String) -> Result<()> {
        match usize::try_from(self.peak(rows, sizes)).unwrap_or(usize::MAX) {
            needed if needed > memory => Err(Error::Memory { what: what(), needed, limit: memory }),
            _ => Ok(()),
        }
    }
}

/// Whether the first comes before the second: the higher similarity, or the lower row.
fn more_similar(one: &(u32, f32), other: &(u32, f32)) -> Ordering {
    other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
}

/// The definition on dense matrices in `f64`, for tests.
#[cfg(test)]
pub(super) mod dense {
    use super::Nearest;
    use proptest::prelude::*;

    /// `S [rows, rows]`, zero where row j is not kept for row i, of a binary matrix.
    pub(in super::super) fn kept(nearest: Nearest, rows: &[Vec<bool>]) -> Vec<Vec<f64>> {
        let dot = |one: &[bool], other: &[bool]| one.iter().zip(other).filter(|(one, other)| **one && **other).count() as f64;
        let similarity = |one: &Vec<bool>, other: &Vec<bool>| match dot(one, other) {
            0.0 => 0.0,
            shared => shared / ((dot(one, one) * dot(other, other)).sqrt() + nearest.shrink),
        };
        let kept_for = |at: usize| {
            let mut row: Vec<f64> = rows.iter().map(|other| similarity(&rows[at], other)).collect();
            row[at] = 0.0;
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&one, &other| (row[other] as f32).total_cmp(&(row[one] as f32))); // stable: the lower row first
            order.into_iter().skip(nearest.neighbours as usize).for_each(|dropped| row[dropped] = 0.0);
            row
        };
        (0..rows.len()).map(kept_for).collect()
    }

    /// The pairs of the entries.
    pub(in super::super) fn pairs(rows: &[Vec<bool>]) -> Vec<(u32, u32)> {
        let of_row = |(row, entries): (usize, &Vec<bool>)| {
            let set = entries.iter().enumerate().filter(|(_, set)| **set);
            set.map(|(column, _)| (row as u32, column as u32)).collect::<Vec<_>>()
        };
        rows.iter().enumerate().flat_map(of_row).collect()
    }

    prop_compose! {
        /// A binary matrix, and what is kept of it.
        pub(in super::super) fn case()(columns in 1usize..12)(
            rows in prop::collection::vec(prop::collection::vec(any::<bool>(), columns), 1..12),
            neighbours in 1u32..13,
            shrink in prop_oneof![Just(0.0), 0.0f64..20.0],
        ) -> (Vec<Vec<bool>>, Nearest) {
            (rows, Nearest { neighbours, shrink })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Interactions;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn kept_are_those_of_the_definition((rows, nearest) in dense::case()) {
            let by_row = Interactions::from_pairs(rows.len(), dense::pairs(&rows).into_iter());
            let by_column = by_row.transpose(rows[0].len());
            let found = nearest.of_rows(Binary { by_row: &by_row, by_column: &by_column });
            for (at, expected) in dense::kept(nearest, &rows).iter().enumerate() {
                let expected = expected.iter().zip(0..).filter(|(similarity, _)| **similarity > 0.0);
                let expected: Vec<(u32, f32)> = expected.map(|(&similarity, row)| (row, similarity as f32)).collect();
                prop_assert_eq!(found.row(at).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn impossible_values_are_named() {
        let refused = |neighbours: u32, shrink: f64| Nearest { neighbours, shrink }.check().unwrap_err();
        assert_eq!(refused(0, 0.0), "neighbours is 0, expected at least 1");
        assert_eq!(refused(1, -1.0), "shrink is -1, expected a number of at least 0");
        assert_eq!(refused(1, f64::NAN), "shrink is NaN, expected a number of at least 0");
        assert_eq!(Nearest { neighbours: 1, shrink: 0.0 }.check(), Ok(()));
    }
}
