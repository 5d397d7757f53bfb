//! Tables as tensors of a file, and back, checked.

use super::{Matrix, SparseMatrix};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

/// Numbers of this type and shape.
///
/// # Panics
/// When there are more or fewer numbers.
pub(super) fn view<'a, T: bytemuck::NoUninit>(name: &str, dtype: Dtype, shape: Vec<usize>, values: &'a [T]) -> (String, TensorView<'a>) {
    (name.to_owned(), TensorView::new(dtype, shape, bytemuck::cast_slice(values)).expect("the shape is that of the values"))
}

/// A table as it is stored.
pub(super) fn dense<'a>(name: &str, matrix: &'a Matrix) -> (String, TensorView<'a>) {
    view(name, Dtype::F32, vec![matrix.rows, matrix.dim], &matrix.values)
}

/// A sparse table as it is stored.
pub(super) fn sparse(weights: &SparseMatrix) -> Vec<(String, TensorView<'_>)> {
    vec![
        view("starts", Dtype::U64, vec![weights.rows() + 1], weights.starts()),
        view("columns", Dtype::U32, vec![weights.entries()], weights.columns()),
        view("values", Dtype::F32, vec![weights.entries()], weights.values()),
    ]
}

/// Checks that tables have the numbers that they say, all of them finite.
///
/// # Errors
/// In words.
pub(super) fn check_finite(matrices: &[(&str, &Matrix)]) -> Result<(), String> {
    for (name, matrix) in matrices {
        let Matrix { rows, dim, values } = matrix;
        if *dim == 0 || values.len() != rows * dim {
            return Err(format!("tensor `{name}` holds {} values where [{rows}, {dim}] are expected", values.len()));
        }
        if let Some((row, column, value)) = matrix.first_non_finite() {
            return Err(not_finite(name, row, column, value));
        }
    }
    Ok(())
}

/// Checks that a sparse table is square and its values finite.
///
/// # Errors
/// In words.
pub(super) fn check_square(weights: &SparseMatrix) -> Result<(), String> {
    if let Some((row, column, value)) = weights.first_non_finite() {
        return Err(not_finite("values", row, column, value));
    }
    if weights.rows() != weights.dim() {
        return Err(format!("sparse weights are [{}, {}]; they must be square", weights.rows(), weights.dim()));
    }
    Ok(())
}

fn not_finite(name: &str, row: usize, column: usize, value: f32) -> String {
    format!("tensor `{name}` holds {value} in row {row}, column {column}; every value must be finite")
}

/// The tensors of a file.
pub(super) struct Tensors<'a>(SafeTensors<'a>);

impl<'a> Tensors<'a> {
    /// Reads where the tensors of a file stand.
    ///
    /// # Errors
    /// In words.
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self, String> {
        SafeTensors::deserialize(bytes).map(Self).map_err(|error| error.to_string())
    }

    /// The table of this name and shape.
    pub(super) fn matrix(&self, name: &str, rows: usize, dim: usize) -> Result<Matrix, String> {
        Ok(Matrix { rows, dim, values: self.numbers(name, Dtype::F32, &[rows, dim], f32::from_le_bytes)? })
    }

    /// The square sparse table of so many rows and entries.
    pub(super) fn sparse_matrix(&self, rows: usize, entries: usize) -> Result<SparseMatrix, String> {
        let starts = rows.checked_add(1).ok_or("the number of its rows is too large")?;
        let starts = self.numbers("starts", Dtype::U64, &[starts], u64::from_le_bytes)?;
        let columns = self.numbers("columns", Dtype::U32, &[entries], u32::from_le_bytes)?;
        SparseMatrix::from_parts(rows, starts, columns, self.numbers("values", Dtype::F32, &[entries], f32::from_le_bytes)?)
    }

    /// The numbers of a tensor, which must have this type and shape.
    pub(super) fn numbers<T, const BYTES: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        shape: &[usize],
        number: fn([u8; BYTES]) -> T,
    ) -> Result<Vec<T>, String> {
        let tensor = self.0.tensor(name).map_err(|_| format!("tensor `{name}` is missing"))?;
        if tensor.dtype() != dtype || tensor.shape() != shape {
            let (found, of_shape) = (tensor.dtype(), tensor.shape());
            return Err(format!("tensor `{name}` is {found:?} {of_shape:?} where scorer.json says {dtype:?} {shape:?}"));
        }
        Ok(tensor.data().as_chunks().0.iter().map(|&bytes| number(bytes)).collect())
    }
}
