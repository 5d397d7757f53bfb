//! Tables as tensors of a file, and back, checked.

use super::{Lists, Matrix, SparseMatrix};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

/// Numbers of this type and shape, as their bytes.
///
/// # Panics
/// When there are more or fewer bytes.
pub(super) fn view(dtype: Dtype, shape: Vec<usize>, bytes: &[u8]) -> TensorView<'_> {
    TensorView::new(dtype, shape, bytes).expect("the shape is that of the values")
}

/// The table of this name and shape.
pub(super) fn dense(tensors: &SafeTensors<'_>, name: &str, rows: usize, dim: usize) -> Result<Matrix, String> {
    Ok(Matrix { rows, dim, values: numbers(tensors, name, Dtype::F32, &[rows, dim], f32::from_le_bytes)? })
}

/// The square sparse table of so many rows and entries.
pub(super) fn sparse(tensors: &SafeTensors<'_>, rows: usize, entries: usize) -> Result<SparseMatrix, String> {
    let starts = rows.checked_add(1).ok_or("the number of its rows is too large")?;
    let starts = numbers(tensors, "starts", Dtype::U64, &[starts], u64::from_le_bytes)?;
    let columns = numbers(tensors, "columns", Dtype::U32, &[entries], u32::from_le_bytes)?;
    SparseMatrix::from_parts(rows, starts, columns, numbers(tensors, "values", Dtype::F32, &[entries], f32::from_le_bytes)?)
}

/// The lists of so many users and entries, of a catalogue of so many items.
pub(super) fn lists(tensors: &SafeTensors<'_>, users: usize, catalogue: usize, entries: usize) -> Result<Lists, String> {
    let starts = users.checked_add(1).ok_or("the number of its users is too large")?;
    let starts = numbers(tensors, "starts", Dtype::U64, &[starts], u64::from_le_bytes)?;
    let items = numbers(tensors, "items", Dtype::U32, &[entries], u32::from_le_bytes)?;
    Lists::from_parts(catalogue, starts, items, numbers(tensors, "scores", Dtype::F64, &[entries], f64::from_le_bytes)?)
}

/// The numbers of a tensor, which must have this type and shape.
fn numbers<T, const BYTES: usize>(
    tensors: &SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
    shape: &[usize],
    number: fn([u8; BYTES]) -> T,
) -> Result<Vec<T>, String> {
    let tensor = tensors.tensor(name).map_err(|_| format!("tensor `{name}` is missing"))?;
    if tensor.dtype() != dtype || tensor.shape() != shape {
        let (found, of_shape) = (tensor.dtype(), tensor.shape());
        return Err(format!("tensor `{name}` is {found:?} {of_shape:?} where scorer.json says {dtype:?} {shape:?}"));
    }
    Ok(tensor.data().as_chunks().0.iter().map(|&bytes| number(bytes)).collect())
}
