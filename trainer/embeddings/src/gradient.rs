//! The gradient of a table in which most rows may have none.

use rayon::prelude::*;
use vectors::Matrix;

/// Gradients by row. Rows that are not touched have gradient zero, whatever stands in their place.
pub struct RowGradients {
    dim: usize,
    values: Vec<f32>,
    touched: Vec<bool>,
}

impl RowGradients {
    /// No row has a gradient.
    pub fn new(rows: usize, dim: usize) -> Self {
        Self { dim, values: vec![0.0; rows * dim], touched: vec![false; rows] }
    }

    /// The gradient of a table whose every row has one.
    pub fn whole(table: Matrix) -> Self {
        Self { dim: table.dim, values: table.values, touched: vec![true; table.rows] }
    }

    /// The gradient of a table of which these rows, `[rows]`, have one.
    pub fn marked(table: Matrix, touched: Vec<bool>) -> Self {
        Self { dim: table.dim, values: table.values, touched }
    }

    /// The length of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Has so many rows, which are forgotten where that is another number.
    pub fn resize(&mut self, rows: usize) {
        if rows != self.touched.len() {
            self.touched.clear();
            self.touched.resize(rows, false);
            self.values.resize(rows * self.dim, 0.0);
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.touched.fill(false);
    }

    /// Adds to one row.
    pub fn add(&mut self, row: usize, gradient: &[f32]) {
        let target = &mut self.values[row * self.dim..][..self.dim];
        if std::mem::replace(&mut self.touched[row], true) {
            for (target, gradient) in target.iter_mut().zip(gradient) {
                *target += gradient;
            }
        } else {
            target.copy_from_slice(gradient);
        }
    }

    /// Adds the gradients of another.
    pub fn add_all(&mut self, other: &Self) {
        let dim = self.dim;
        let targets = self.values.par_chunks_exact_mut(dim).zip(&mut self.touched);
        targets.zip(other.values.par_chunks_exact(dim).zip(&other.touched)).with_min_len(256).for_each(
            |((target, touched), (row, is_touched))| match (*is_touched, std::mem::replace(touched, *touched || *is_touched)) {
                (false, _) => {}
                (true, true) => target.iter_mut().zip(row).for_each(|(target, value)| *target += value),
                (true, false) => target.copy_from_slice(row),
            },
        );
    }

    /// Values and marks, for those who fill many rows at once.
    pub fn parts(&mut self) -> (&mut [f32], &mut [bool]) {
        (&mut self.values, &mut self.touched)
    }

    /// `[rows * dim]`; rows without a mark hold leftovers.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Which rows have a gradient.
    pub fn touched(&self) -> &[bool] {
        &self.touched
    }

    /// Writes out the zeros, so that the values are the whole gradient.
    pub fn fill(&mut self) -> &mut [f32] {
        for (row, touched) in self.values.chunks_exact_mut(self.dim).zip(&mut self.touched) {
            if !std::mem::replace(touched, true) {
                row.fill(0.0);
            }
        }
        &mut self.values
    }
}
