//! Biases behind a linear map, alone and with what makes the sums the numbers of a hidden layer.

use super::{
    elementwise::{Operation, ROWS, run, run_with_constants},
    linear::ColumnSums,
    real::Real,
};
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};
use rayon::prelude::*;
use std::ops::Range;

/// `relu(x + bias)` for `x [rows, n]` and `bias [1, n]`, times constants of the shape of x; the derivative of relu at 0 is 1, as candle's.
pub(super) struct Hidden {
    pub(super) factors: Option<Tensor>,
}

/// The derivative by `x` from x and that by the result.
struct ByNumbers {
    bias: Tensor,
    factors: Option<Tensor>,
}

/// `x + bias` for `x [rows, n]` and `bias [1, n]`.
pub(super) struct AddBias;

/// Changes blocks of rows in place: `change(rows, their range of numbers)`.
fn by_rows<T: Real>(numbers: &mut [T], width: usize, change: impl Fn(&mut [T], Range<usize>) + Sync) {
    numbers.par_chunks_mut(ROWS * width).enumerate().for_each(|(block, rows)| {
        let first = block * ROWS * width;
        let range = first..first + rows.len();
        change(rows, range);
    });
}

/// Numbers of a row, which a bias has as many of.
fn width_with<T: Real>(bias: &[T], shape: &Shape) -> Result<usize> {
    let (_, width) = shape.dims2()?;
    match bias.len() == width {
        true => Ok(width),
        false => bail!("a bias of {} numbers where rows have {width}", bias.len()),
    }
}

fn multiply_by<T: Real>(numbers: &mut [T], factors: &[T]) {
    numbers.iter_mut().zip(factors).for_each(|(number, &factor)| *number *= factor);
}

impl Operation for Hidden {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let width = width_with(from[1], shape)?;
        let mut result = from[0].to_vec();
        by_rows(&mut result, width, |rows, range| {
            for row in rows.chunks_exact_mut(width) {
                row.iter_mut().zip(from[1]).for_each(|(x, &bias)| *x = if *x + bias > T::zero() { *x + bias } else { T::zero() });
            }
            if let Some(factors) = from.get(2) {
                multiply_by(rows, &factors[range]);
            }
        });
        Ok(result)
    }
}

impl Operation for ByNumbers {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let width = width_with(from[2], shape)?;
        let mut result = from[1].to_vec();
        by_rows(&mut result, width, |rows, range| {
            for (row, x) in rows.chunks_exact_mut(width).zip(from[0][range.clone()].chunks_exact(width)) {
                let numbers = row.iter_mut().zip(x.iter().zip(from[2]));
                numbers.for_each(|(derivative, (&x, &bias))| *derivative = if x + bias >= T::zero() { *derivative } else { T::zero() });
            }
            if let Some(factors) = from.get(3) {
                multiply_by(rows, &factors[range]);
            }
        });
        Ok(result)
    }
}

impl Operation for AddBias {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let width = width_with(from[1], shape)?;
        let mut result = from[0].to_vec();
        by_rows(&mut result, width, |rows, _| {
            rows.chunks_exact_mut(width).for_each(|row| row.iter_mut().zip(from[1]).for_each(|(x, &bias)| *x += bias));
        });
        Ok(result)
    }
}

impl CustomOp2 for AddBias {
    fn name(&self) -> &'static str {
        "add-bias"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout, bias: &CpuStorage, of_bias: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x), (bias, of_bias)])
    }

    fn bwd(&self, _x: &Tensor, _bias: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let derivative = derivative.contiguous()?;
        let by_bias = derivative.apply_op1_no_bwd(&ColumnSums)?;
        Ok((Some(derivative), Some(by_bias)))
    }
}

impl CustomOp2 for Hidden {
    fn name(&self) -> &'static str {
        "hidden-layer"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout, bias: &CpuStorage, of_bias: &Layout) -> Result<(CpuStorage, Shape)> {
        run_with_constants(self, &[(x, of_x), (bias, of_bias)], &self.factors)
    }

    fn bwd(&self, x: &Tensor, bias: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let by_numbers = ByNumbers { bias: bias.clone(), factors: self.factors.clone() };
        let by_numbers = x.apply_op2_no_bwd(&derivative.contiguous()?, &by_numbers)?;
        let by_bias = by_numbers.apply_op1_no_bwd(&ColumnSums)?;
        Ok((Some(by_numbers), Some(by_bias)))
    }
}

impl CustomOp2 for ByNumbers {
    fn name(&self) -> &'static str {
        "hidden-layer-by-numbers"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout, derivative: &CpuStorage, of_derivative: &Layout) -> Result<(CpuStorage, Shape)> {
        let constants = std::iter::once(&self.bias).chain(&self.factors);
        run_with_constants(self, &[(x, of_x), (derivative, of_derivative)], constants)
    }
}
