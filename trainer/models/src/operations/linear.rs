//! Linear maps and what stands between them, each one operation forward and few back.

use super::{
    elementwise::{Operation, run},
    real::Real,
};
use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor};
use embeddings::product::{View, multiply};

/// `x W^T + b` for `x [rows, in]`, `W [out, in]` and `b [1, out]`.
pub(super) struct Linear;

/// The derivative by x from that by the result and from W.
struct ByInput;

/// The derivative by W from that by the result and from x.
struct ByWeights;

/// The sum of each column: the derivative by a bias from that by the result.
pub(super) struct ColumnSums;

impl Operation for Linear {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let ((rows, inputs), outputs) = (shape.dims2()?, from[2].len());
        let mut result = from[2].repeat(rows);
        let (x, weights) = (View { values: from[0], row: inputs, column: 1 }, View { values: from[1], row: 1, column: inputs });
        multiply([rows, inputs, outputs], &mut result, true, x, weights);
        Ok(result)
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((shapes[0].dims2()?.0, shapes[1].dims2()?.0)))
    }
}

impl Operation for ByInput {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (rows, outputs) = shape.dims2()?;
        let inputs = from[1].len() / outputs;
        let mut result = vec![T::zero(); rows * inputs];
        let (derivative, weights) = (View { values: from[0], row: outputs, column: 1 }, View { values: from[1], row: inputs, column: 1 });
        multiply([rows, outputs, inputs], &mut result, false, derivative, weights);
        Ok(result)
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((shapes[0].dims2()?.0, shapes[1].dims2()?.1)))
    }
}

impl Operation for ByWeights {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (rows, outputs) = shape.dims2()?;
        let inputs = from[1].len() / rows;
        let mut result = vec![T::zero(); outputs * inputs];
        let (derivative, x) = (View { values: from[0], row: 1, column: outputs }, View { values: from[1], row: inputs, column: 1 });
        multiply([outputs, rows, inputs], &mut result, false, derivative, x);
        Ok(result)
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((shapes[0].dims2()?.1, shapes[1].dims2()?.1)))
    }
}

impl Operation for ColumnSums {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, columns) = shape.dims2()?;
        let mut sums = vec![T::zero(); columns];
        for row in from[0].chunks_exact(columns) {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
        }
        Ok(sums)
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
        _result: &Tensor,
        derivative: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let derivative = derivative.contiguous()?;
        Ok((
            Some(derivative.apply_op2_no_bwd(weights, &ByInput)?),
            Some(derivative.apply_op2_no_bwd(x, &ByWeights)?),
            Some(derivative.apply_op1_no_bwd(&ColumnSums)?),
        ))
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

/// The derivative by x from x, the result and the derivative by it.
struct GeluBackward;

impl Operation for Gelu {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        Ok(from[0].iter().map(|&x| x * x.normal()).collect())
    }
}

impl Operation for GeluBackward {
    /// `distribution(x) + x density(x)`, with the distribution function as the result divided by x.
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let (half, density) = (T::from_f64(0.5), T::from_f64((std::f64::consts::TAU).sqrt().recip()));
        let derivative = |((&x, &result), &derivative): ((&T, &T), &T)| {
            let distribution = if x == T::zero() { half } else { result / x };
            derivative * (distribution + x * density * (T::zero() - half * x * x).exp())
        };
        Ok(from[0].iter().zip(from[1]).zip(from[2]).map(derivative).collect())
    }
}

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x)])
    }

    fn bwd(&self, x: &Tensor, result: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        x.apply_op3_no_bwd(result, &derivative.contiguous()?, &GeluBackward).map(Some)
    }
}

impl CustomOp3 for GeluBackward {
    fn name(&self) -> &'static str {
        "gelu-backward"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        of_x: &Layout,
        result: &CpuStorage,
        of_result: &Layout,
        derivative: &CpuStorage,
        of_derivative: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x), (result, of_result), (derivative, of_derivative)])
    }
}

/// Numbers times constants of the same shape.
pub(super) struct Times(pub(super) Tensor);

/// The product of two tensors.
struct Product;

impl Operation for Product {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        Ok(from[0].iter().zip(from[1]).map(|(&one, &other)| one * other).collect())
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
        let (constants, of_constants) = self.0.storage_and_layout();
        match &*constants {
            candle_core::Storage::Cpu(constants) => run(&Product, &[(values, of_values), (constants, of_constants)]),
            _ => candle_core::bail!("constants are on the CPU"),
        }
    }

    fn bwd(&self, _values: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        derivative.contiguous()?.apply_op2_no_bwd(&self.0, &Product).map(Some)
    }
}
