//! Which rows have a gradient, and what ranks have of it together.

use super::parameters::Gradient;
use crate::{Result, collective::Collective, fit::distributed::all_reduce::all_reduce};
use candle_core::{Device, Tensor};
use embeddings::RowGradients;

/// A mark of each row; `None` where all are marked.
pub(crate) type Marks = Option<Vec<bool>>;

/// The gradients of what was scored, matrix by matrix, with marks of the rows that have one.
pub(crate) type Gradients = Vec<(Tensor, Marks)>;

/// How many rows of a matrix a batch reaches at most: so many for each of its own rows, of which ranks have like parts.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    /// Rows of the batch, those of all ranks.
    pub(crate) batch: usize,
    pub(crate) of_row: usize,
}

impl Reach {
    /// Rows that all ranks reach together.
    pub(crate) fn all(self) -> usize {
        self.batch.saturating_mul(self.of_row)
    }
}

/// Marks of the listed rows, among so many.
pub(super) fn marks(rows: impl IntoIterator<Item = u32>, count: usize) -> Vec<bool> {
    let mut marks = vec![false; count];
    rows.into_iter().for_each(|row| marks[row as usize] = true);
    marks
}

/// Adds up the gradients of all ranks on the host, and joins their marks; without `reach` all rows are reached.
pub(super) fn all_reduce_on_host(collective: &Collective, gradient: Tensor, own: Marks, reach: Option<Reach>) -> Result<(Tensor, Marks)> {
    if collective.ranks() == 1 || gradient.elem_count() == 0 {
        return Ok((gradient, own));
    }
    let (rows, dim) = gradient.dims2()?;
    let mut on_host = RowGradients::new(rows, dim);
    let (values, touched) = on_host.parts();
    values.copy_from_slice(&gradient.flatten_all()?.to_vec1::<f32>()?);
    match &own {
        Some(marks) => touched.copy_from_slice(marks),
        None => touched.fill(true),
    }
    all_reduce(collective, "the gradient of the vectors", &mut on_host, reach.map_or(usize::MAX, Reach::all))?;
    let marks = own.map(|_| on_host.touched().to_vec());
    Ok((Tensor::from_slice(on_host.fill(), (rows, dim), gradient.device())?, marks))
}

/// The gradient of a matrix with its marks, which stay where every row moves anyway.
pub(super) fn gradient(values: Option<Tensor>, marks: &Marks, moves_all_rows: bool, device: &Device) -> Result<Gradient> {
    let marks = marks.as_ref().filter(|_| !moves_all_rows).map(|marks| marks.iter().map(|&mark| u8::from(mark)).collect::<Vec<u8>>());
    let touched = marks.map(|marks| Tensor::from_slice(&marks, (marks.len(), 1), device)).transpose()?;
    Ok(Gradient { values, touched })
}
