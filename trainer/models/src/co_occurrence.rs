//! How many columns two rows of a binary matrix share: users of two items, or items of two users.

use dataset::Interactions;

/// A binary matrix, by rows and by columns.
#[derive(Clone, Copy)]
pub(super) struct Binary<'a> {
    pub(super) by_row: &'a Interactions,
    pub(super) by_column: &'a Interactions,
}

/// Counts for one row at a time.
pub(super) struct Counter {
    /// Zeros between two rows. `[rows]`
    counts: Vec<u32>,
    /// The rows that were met.
    met: Vec<u32>,
}

impl Counter {
    /// Bytes for a matrix of so many rows; the list of rows grows by doubling.
    pub(super) const fn bytes(rows: u64) -> u64 {
        rows * 3 * size_of::<u32>() as u64
    }

    pub(super) fn new(rows: usize) -> Self {
        Self { counts: vec![0; rows], met: Vec::new() }
    }

    /// Gives every row that shares a column with this one, itself too, and how many it shares, in an order that follows from the matrix.
    pub(super) fn of_row(&mut self, row: usize, matrix: Binary<'_>, mut give: impl FnMut(u32, u32)) {
        for &column in matrix.by_row.row(row) {
            for &other in matrix.by_column.row(column as usize) {
                let count = &mut self.counts[other as usize];
                if *count == 0 {
                    self.met.push(other);
                }
                *count += 1;
            }
        }
        self.met.drain(..).for_each(|other| give(other, std::mem::take(&mut self.counts[other as usize])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows {0, 1}, {1, 2}, {3} and {0, 1, 2}.
    #[test]
    fn shared_columns_are_counted_row_by_row() {
        let rows = Interactions::from_pairs(4, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 3), (3, 0), (3, 1), (3, 2)].into_iter());
        let columns = rows.transpose(4);
        let (matrix, mut counter) = (Binary { by_row: &rows, by_column: &columns }, Counter::new(4));
        let mut counts = |row: usize| {
            let mut all = Vec::new();
            counter.of_row(row, matrix, |other, count| all.push((other, count)));
            all.sort_unstable();
            all
        };
        assert_eq!(counts(0), [(0, 2), (1, 1), (3, 2)]);
        assert_eq!(counts(2), [(2, 1)]);
        assert_eq!(counts(3), [(0, 2), (1, 2), (3, 3)]);
    }
}
