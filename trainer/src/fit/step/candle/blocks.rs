//! Functions of rows, block by block: their values on the host, and the gradients of what they are made of.

use crate::Result;
use candle_core::{Device, Tensor, Var};
use std::ops::Range;

/// Numbers that a block holds at once, about.
pub(crate) const BLOCK: usize = 1 << 22;

/// Tensors of the rows of a batch, as functions of other tensors.
pub(super) trait Scoring {
    /// Rows of the batch.
    fn rows(&self) -> usize;

    /// Numbers that a row needs at once, about.
    fn size_of_row(&self) -> usize;

    /// Tensors of some rows, `[rows, any]` each, from what they are made of.
    fn score(&self, from: &[Tensor], rows: Range<usize>) -> Result<Vec<Tensor>>;
}

/// The rows of a function in blocks: of a size that depends on the function alone.
fn blocks(scoring: &dyn Scoring) -> impl Iterator<Item = Range<usize>> {
    let (all, of_block) = (scoring.rows(), (BLOCK / scoring.size_of_row().max(1)).max(1));
    (0..all).step_by(of_block).map(move |first| first..all.min(first + of_block))
}

/// The values of all rows, of each of the tensors.
pub(super) fn values(scoring: &dyn Scoring, from: &[Tensor]) -> Result<Vec<Vec<f32>>> {
    let fixed: Vec<Tensor> = from.iter().map(Tensor::detach).collect();
    let mut values: Vec<Vec<f32>> = Vec::new();
    for rows in blocks(scoring) {
        let found = scoring.score(&fixed, rows)?;
        values.resize_with(found.len(), Vec::new);
        for (values, found) in values.iter_mut().zip(found) {
            values.extend(found.flatten_all()?.to_vec1::<f32>()?);
        }
    }
    Ok(values)
}

/// Gradients of what rows are made of, where each of their numbers weighs as much as its number in `weights` says.
pub(super) struct Backward {
    variables: Vec<Var>,
    gradients: Vec<Option<Tensor>>,
}

impl Backward {
    /// No gradient yet.
    pub(super) fn new(from: &[Tensor]) -> Result<Self> {
        let variables: Vec<Var> = from.iter().map(|from| Ok(Var::from_tensor(&from.detach())?)).collect::<Result<_>>()?;
        Ok(Self { gradients: vec![None; variables.len()], variables })
    }

    /// Adds those of all rows; `weights` has a list for each of the tensors, or fewer where the last ones have none.
    pub(super) fn add(&mut self, scoring: &dyn Scoring, weights: &[&[f32]], device: &Device) -> Result<()> {
        let from: Vec<Tensor> = self.variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        for rows in blocks(scoring) {
            let mut total = Tensor::zeros((), candle_core::DType::F32, device)?;
            for (tensor, weights) in scoring.score(&from, rows.clone())?.iter().zip(weights) {
                let width = weights.len() / scoring.rows();
                let weights = Tensor::from_slice(&weights[rows.start * width..rows.end * width], tensor.shape(), device)?;
                total = (total + (tensor * weights)?.sum_all()?)?;
            }
            let mut found = total.backward()?;
            for (gradient, variable) in self.gradients.iter_mut().zip(&self.variables) {
                if let Some(found) = found.remove(variable) {
                    *gradient = Some(gradient.take().map_or(Ok(found.clone()), |gradient| gradient + found)?);
                }
            }
        }
        Ok(())
    }

    /// Adds gradients that were made elsewhere, of the first of what rows are made of.
    pub(super) fn add_gradients(&mut self, gradients: Vec<Tensor>) -> Result<()> {
        for (gradient, found) in self.gradients.iter_mut().zip(gradients) {
            *gradient = Some(gradient.take().map_or(Ok(found.clone()), |gradient| gradient + found)?);
        }
        Ok(())
    }

    /// The gradients, zeros where there are none.
    pub(super) fn finish(self) -> Result<Vec<Tensor>> {
        let all = self.gradients.into_iter().zip(&self.variables);
        all.map(|(gradient, variable)| Ok(gradient.map_or_else(|| variable.zeros_like(), Ok)?)).collect()
    }
}
