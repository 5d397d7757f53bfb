//! A sparse table of numbers.

use std::ops::Range;

/// A table of `f32` by rows, of which only some entries are stored; the others are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    dim: usize,
    starts: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl SparseMatrix {
    /// Makes a matrix of the (column, value) entries of each row, whose length is `dim`.
    ///
    /// # Panics
    /// When a row's columns do not ascend, or one is not below `dim`.
    pub fn from_rows(dim: usize, rows: &[Vec<(u32, f32)>]) -> Self {
        let entries = rows.iter().map(Vec::len).sum();
        let mut starts = Vec::with_capacity(rows.len() + 1);
        let (mut columns, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        starts.push(0);
        for row in rows {
            columns.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            starts.push(columns.len() as u64);
        }
        Self::from_parts(dim, starts, columns, values).expect("columns ascend below `dim`")
    }

    /// Makes a matrix of what is stored: where each row starts, `[rows + 1]`, and the columns and values of the entries.
    pub(super) fn from_parts(dim: usize, starts: Vec<u64>, columns: Vec<u32>, values: Vec<f32>) -> Result<Self, String> {
        let (first, last) = (starts.first().copied(), starts.last().copied());
        if columns.len() != values.len() || (first, last) != (Some(0), Some(columns.len() as u64)) {
            let (first, last, columns, values) = (first.unwrap_or(0), last.unwrap_or(0), columns.len(), values.len());
            return Err(format!("tensor `starts` goes from {first} to {last} where there are {columns} columns and {values} values"));
        }
        if let Some(row) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(format!(
                "tensor `starts` holds {} after {} in row {row}; rows must follow each other",
                starts[row + 1],
                starts[row]
            ));
        }
        let matrix = Self { dim, starts, columns, values };
        for row in 0..matrix.rows() {
            let columns = &matrix.columns[matrix.range(row)];
            if let Some(pair) = columns.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Err(format!("tensor `columns` holds {} after {} in row {row}; a row's columns must ascend", pair[1], pair[0]));
            }
            if let Some(column) = columns.last().filter(|&&column| column as usize >= dim) {
                return Err(format!("tensor `columns` holds {column} in row {row}, outside its {dim} columns"));
            }
        }
        Ok(matrix)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Length of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// The columns and values of a row's entries, by ascending column.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, f32)> {
        let range = self.range(row);
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Columns as rows.
    pub fn transpose(&self) -> Self {
        let mut starts = vec![0u64; self.dim + 1];
        self.columns.iter().for_each(|&column| starts[column as usize + 1] += 1);
        (0..self.dim).for_each(|column| starts[column + 1] += starts[column]);
        let mut next = starts.clone();
        let (mut columns, mut values) = (vec![0; self.entries()], vec![0.0; self.entries()]);
        for row in 0..self.rows() {
            for (column, value) in self.row(row) {
                let at = next[column as usize] as usize;
                (columns[at], values[at]) = (row as u32, value);
                next[column as usize] += 1;
            }
        }
        Self { dim: self.rows(), starts, columns, values }
    }

    /// Where each row starts among the entries, and after the last where it ends: `[rows + 1]`.
    pub(super) fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// The columns of all entries, row after row: `[entries]`.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The values of all entries, row after row: `[entries]`.
    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// The first value that is NaN or infinite: its row, its column and itself.
    pub(super) fn first_non_finite(&self) -> Option<(usize, usize, f32)> {
        let at = self.values.iter().position(|value| !value.is_finite())?;
        let row = self.starts.partition_point(|&start| start <= at as u64) - 1;
        Some((row, self.columns[at] as usize, self.values[at]))
    }

    fn range(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `[[0, 1.5, 0, -2], [0, 0, 0, 0], [3, 0, 0, 0]]`
    fn small() -> SparseMatrix {
        SparseMatrix::from_rows(4, &[vec![(1, 1.5), (3, -2.0)], vec![], vec![(0, 3.0)]])
    }

    #[test]
    fn rows_are_read_as_they_were_given() {
        let matrix = small();
        assert_eq!((matrix.rows(), matrix.dim(), matrix.entries()), (3, 4, 3));
        assert!(matrix.row(0).eq([(1, 1.5), (3, -2.0)]) && matrix.row(1).len() == 0 && matrix.row(2).eq([(0, 3.0)]));
        let transposed = SparseMatrix::from_rows(3, &[vec![(2, 3.0)], vec![(0, 1.5)], vec![], vec![(0, -2.0)]]);
        assert_eq!(matrix.transpose(), transposed);
    }

    #[test]
    fn parts_that_are_no_table_are_refused() {
        let refused = |starts: &[u64], columns: &[u32], values: &[f32]| {
            SparseMatrix::from_parts(4, starts.to_vec(), columns.to_vec(), values.to_vec()).unwrap_err()
        };
        assert!(refused(&[0, 1], &[1, 2], &[0.5, 0.5]).contains("goes from 0 to 1 where there are 2 columns and 2 values"));
        assert!(refused(&[0, 2], &[1, 2], &[0.5]).contains("goes from 0 to 2 where there are 2 columns and 1 values"));
        assert!(refused(&[1, 2], &[1, 2], &[0.5, 0.5]).contains("goes from 1 to 2"));
        assert!(refused(&[], &[], &[]).contains("goes from 0 to 0"));
        assert!(refused(&[0, 2, 1, 2], &[1, 2], &[0.5, 0.5]).contains("holds 1 after 2 in row 1; rows must follow each other"));
        assert!(refused(&[0, 0, 2], &[2, 1], &[0.5, 0.5]).contains("holds 1 after 2 in row 1; a row's columns must ascend"));
        assert!(refused(&[0, 2], &[2, 2], &[0.5, 0.5]).contains("holds 2 after 2 in row 0; a row's columns must ascend"));
        assert!(refused(&[0, 1, 2], &[2, 4], &[0.5, 0.5]).contains("holds 4 in row 1, outside its 4 columns"));
    }

    #[test]
    #[should_panic(expected = "columns ascend below `dim`")]
    fn a_row_that_does_not_ascend_is_a_slip_of_the_caller() {
        SparseMatrix::from_rows(4, &[vec![(3, 1.0), (1, 1.0)]]);
    }

    proptest! {
        #[test]
        fn any_numbers_make_a_table_or_an_error(
            starts in prop::collection::vec(0u64..5, 0..5),
            columns in prop::collection::vec(0u32..5, 0..5),
            values in 0usize..5,
        ) {
            if let Ok(matrix) = SparseMatrix::from_parts(4, starts, columns, vec![1.0; values]) {
                prop_assert_eq!((0..matrix.rows()).map(|row| matrix.row(row).len()).sum::<usize>(), matrix.entries());
                prop_assert_eq!(&matrix.transpose().transpose(), &matrix);
            }
        }
    }
}
