//! Linear maps and what stands between them, each one operation forward and few back.

use super::{
    elementwise::{Operation, each_pair, run, run_with_constants},
    real::{Loop, Real, vectorized},
};
use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor};
use embeddings::product::{View, multiply};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of one parallel task: as many as make what a product does before it begins small.
const ROWS: usize = 256;

/// `x W^T` or `x W^T + b` for some columns of x, with `W [out, columns]` and `b [1, out]`.
pub(super) struct Linear {
    pub(super) columns: Range<usize>,
}

/// The derivative by x `[rows, width]` from that by the result and from W.
struct ByInput {
    columns: Range<usize>,
    width: usize,
}

/// The derivative by W from that by the result and from x.
struct ByWeights {
    columns: Range<usize>,
}

/// The sum of each column: the derivative by a bias from that by the result.
pub(super) struct ColumnSums;

/// The sum of each column of `values [_, columns]`.
pub(crate) fn column_sums<T: Real>(values: &[T], columns: usize) -> Vec<T> {
    let mut sums = vec![T::zero(); columns];
    values.chunks_exact(columns).for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value));
    sums
}

/// Some columns of `values [_, width]`, from its first row on.
fn view<'a, T>(values: &'a [T], width: usize, columns: &Range<usize>) -> View<'a, T> {
    View { values: &values[columns.start.min(values.len())..], row: width, column: 1 }
}

impl Operation for Linear {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let ((rows, width), inputs) = (shape.dims2()?, self.columns.len());
        let outputs = from[1].len() / inputs;
        let weights = View { values: from[1], row: 1, column: inputs };
        let mut result = from.get(2).map_or_else(|| vec![T::zero(); rows * outputs], |bias| bias.repeat(rows));
        result.par_chunks_mut(ROWS * outputs).zip(from[0].par_chunks(ROWS * width)).for_each(|(result, x)| {
            let shape = [result.len() / outputs, inputs, outputs];
            multiply(shape, result, from.len() > 2, view(x, width, &self.columns), weights);
        });
        Ok(result)
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((shapes[0].dims2()?.0, shapes[1].dims2()?.0)))
    }
}

impl Operation for ByInput {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let ((rows, outputs), inputs) = (shape.dims2()?, self.columns.len());
        let mut result = vec![T::zero(); rows * inputs];
        let weights = View { values: from[1], row: inputs, column: 1 };
        result.par_chunks_mut(ROWS * inputs).zip(from[0].par_chunks(ROWS * outputs)).for_each(|(result, derivatives)| {
            let derivatives = View { values: derivatives, row: outputs, column: 1 };
            multiply([result.len() / inputs, outputs, inputs], result, false, derivatives, weights);
        });
        if inputs == self.width {
            return Ok(result);
        }
        let mut wide = vec![T::zero(); rows * self.width];
        let rows = wide.chunks_exact_mut(self.width).zip(result.chunks_exact(inputs));
        rows.for_each(|(wide, row)| wide[self.columns.clone()].copy_from_slice(row));
        Ok(wide)
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((shapes[0].dims2()?.0, self.width)))
    }
}

impl Operation for ByWeights {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let ((rows, outputs), inputs) = (shape.dims2()?, self.columns.len());
        let mut result = vec![T::zero(); outputs * inputs];
        let x = view(from[1], from[1].len() / rows.max(1), &self.columns);
        multiply([outputs, rows, inputs], &mut result, false, View { values: from[0], row: 1, column: outputs }, x);
        Ok(result)
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((shapes[0].dims2()?.1, self.columns.len())))
    }
}

impl Operation for ColumnSums {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        Ok(column_sums(from[0], shape.dims2()?.1))
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((1, shapes[0].dims2()?.1)))
    }
}

impl CustomOp3 for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        of_x: &Layout,
        weights: &CpuStorage,
        of_weights: &Layout,
        bias: &CpuStorage,
        of_bias: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x), (weights, of_weights), (bias, of_bias)])
    }

    fn bwd(
        &self,
        x: &Tensor,
        weights: &Tensor,
        _bias: &Tensor,
        result: &Tensor,
        derivative: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (by_x, by_weights) = CustomOp2::bwd(self, x, weights, result, derivative)?;
        Ok((by_x, by_weights, Some(derivative.contiguous()?.apply_op1_no_bwd(&ColumnSums)?)))
    }
}

impl CustomOp2 for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout, weights: &CpuStorage, of_weights: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x), (weights, of_weights)])
    }

    fn bwd(&self, x: &Tensor, weights: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (columns, derivative) = (&self.columns, derivative.contiguous()?);
        let by_input = ByInput { columns: columns.clone(), width: x.dim(1)? };
        let by_weights = ByWeights { columns: columns.clone() };
        Ok((Some(derivative.apply_op2_no_bwd(weights, &by_input)?), Some(derivative.apply_op2_no_bwd(x, &by_weights)?)))
    }
}

impl CustomOp2 for ByInput {
    fn name(&self) -> &'static str {
        "linear-by-input"
    }

    fn cpu_fwd(
        &self,
        derivative: &CpuStorage,
        of_derivative: &Layout,
        weights: &CpuStorage,
        of_weights: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        run(self, &[(derivative, of_derivative), (weights, of_weights)])
    }
}

impl CustomOp2 for ByWeights {
    fn name(&self) -> &'static str {
        "linear-by-weights"
    }

    fn cpu_fwd(&self, derivative: &CpuStorage, of_derivative: &Layout, x: &CpuStorage, of_x: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(derivative, of_derivative), (x, of_x)])
    }
}

impl CustomOp1 for ColumnSums {
    fn name(&self) -> &'static str {
        "column-sums"
    }

    fn cpu_fwd(&self, values: &CpuStorage, of_values: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(values, of_values)])
    }
}

/// `x` times the normal distribution function of x.
pub(super) struct Gelu;

/// The derivative by x from x and the derivative by the result.
struct GeluBackward;

impl Operation for Gelu {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let mut values = from[0].to_vec();
        vectorized(GeluOf { values: &mut values });
        Ok(values)
    }
}

impl Operation for GeluBackward {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let mut derivatives = from[1].to_vec();
        vectorized(GeluDerivative { x: from[0], derivatives: &mut derivatives });
        Ok(derivatives)
    }
}

/// Numbers to be replaced by their function.
struct GeluOf<'a, T> {
    values: &'a mut [T],
}

impl<T: Real> Loop for GeluOf<'_, T> {
    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value *= value.normal().0;
        }
    }
}

/// Derivatives by the function, to be replaced by those by x.
struct GeluDerivative<'a, T> {
    x: &'a [T],
    derivatives: &'a mut [T],
}

impl<T: Real> Loop for GeluDerivative<'_, T> {
    /// `distribution(x) + x density(x)`
    #[inline(always)]
    fn run(self) {
        let of_density = T::from_f64(std::f64::consts::TAU.sqrt().recip());
        for (&x, derivative) in self.x.iter().zip(self.derivatives) {
            let (distribution, small) = x.normal();
            *derivative *= distribution + x * of_density * small;
        }
    }
}

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x)])
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        x.apply_op2_no_bwd(&derivative.contiguous()?, &GeluBackward).map(Some)
    }
}

impl CustomOp2 for GeluBackward {
    fn name(&self) -> &'static str {
        "gelu-backward"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout, derivative: &CpuStorage, of_derivative: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x), (derivative, of_derivative)])
    }
}

/// Numbers times constants of the same shape.
pub(super) struct Times(pub(super) Tensor);

/// The product of two tensors.
struct Product;

impl Operation for Product {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        Ok(each_pair(from[0], from[1], |one, other| one * other))
    }
}

impl CustomOp2 for Product {
    fn name(&self) -> &'static str {
        "product"
    }

    fn cpu_fwd(&self, one: &CpuStorage, of_one: &Layout, other: &CpuStorage, of_other: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(one, of_one), (other, of_other)])
    }
}

impl CustomOp1 for Times {
    fn name(&self) -> &'static str {
        "times-constants"
    }

    fn cpu_fwd(&self, values: &CpuStorage, of_values: &Layout) -> Result<(CpuStorage, Shape)> {
        run_with_constants(&Product, &[(values, of_values)], [&self.0])
    }

    fn bwd(&self, _values: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        derivative.contiguous()?.apply_op2_no_bwd(&self.0, &Product).map(Some)
    }
}
