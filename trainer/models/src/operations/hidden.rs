//! The numbers of a hidden layer, behind its linear map.

use super::{
    elementwise::{Operation, run_with_constants},
    linear::ColumnSums,
    real::Real,
};
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};

/// `relu(x + bias)` for `x [rows, n]` and `bias [1, n]`, times constants of the shape of x; the derivative of relu at 0 is 1, as candle's.
pub(super) struct Hidden {
    pub(super) factors: Option<Tensor>,
}

/// The derivative by `x` from x and that by the result.
struct ByNumbers {
    bias: Tensor,
    factors: Option<Tensor>,
}

impl Operation for Hidden {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, width) = shape.dims2()?;
        let mut result = Vec::with_capacity(from[0].len());
        let relu = |(&x, &bias): (&T, &T)| if x + bias > T::zero() { x + bias } else { T::zero() };
        for row in from[0].chunks_exact(width) {
            result.extend(row.iter().zip(from[1]).map(relu));
        }
        if let Some(&factors) = from.get(2) {
            result.iter_mut().zip(factors).for_each(|(value, &factor)| *value *= factor);
        }
        Ok(result)
    }
}

impl Operation for ByNumbers {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, width) = shape.dims2()?;
        let mut result = Vec::with_capacity(from[0].len());
        let by = |((&x, &derivative), &bias): ((&T, &T), &T)| if x + bias >= T::zero() { derivative } else { T::zero() };
        for (row, derivatives) in from[0].chunks_exact(width).zip(from[1].chunks_exact(width)) {
            result.extend(row.iter().zip(derivatives).zip(from[2]).map(by));
        }
        if let Some(&factors) = from.get(3) {
            result.iter_mut().zip(factors).for_each(|(value, &factor)| *value *= factor);
        }
        Ok(result)
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
