//! A dense table of numbers.

/// A row-major table of `f32`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Length of a row.
    pub dim: usize,
    /// `[rows * dim]`
    pub values: Vec<f32>,
}

impl Matrix {
    /// The row of this number.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.dim..(row + 1) * self.dim]
    }

    /// The first value that is NaN or infinite: its row, its column and itself.
    pub fn first_non_finite(&self) -> Option<(usize, usize, f32)> {
        let at = self.values.iter().position(|value| !value.is_finite())?;
        Some((at / self.dim, at % self.dim, self.values[at]))
    }
}
