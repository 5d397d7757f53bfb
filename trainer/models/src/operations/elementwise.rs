//! Operations that go once over their numbers, in parallel, forward and back: candle's own have one thread and a pass for each part of a formula.

use super::real::{Loop, Real, vectorized};
use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Storage, Tensor, bail};
use rayon::prelude::*;

/// Rows of one parallel task.
const ROWS: usize = 64;
/// Numbers of one parallel task.
const NUMBERS: usize = 4096;
/// Rows shorter than this are brought to less than length one, and zeros stay zeros.
const SHORTEST: f64 = 1e-12;

/// The numbers of a tensor that lies as one piece.
fn numbers<'a, T: Real>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [T]> {
    let Some((start, end)) = layout.contiguous_offsets() else { bail!("the numbers of a tensor lie as one piece") };
    Ok(&storage.as_slice::<T>()?[start..end])
}

/// What a generic operation makes of tensors of one type.
pub(super) trait Operation {
    /// Makes the result from the numbers of all tensors, and the shape of the first.
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>>;

    /// The shape of the result, by those of the tensors.
    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(shapes[0].clone())
    }
}

/// Runs an operation for the type of its numbers.
pub(super) fn run(operation: &impl Operation, tensors: &[(&CpuStorage, &Layout)]) -> Result<(CpuStorage, Shape)> {
    fn of<T: Real>(operation: &impl Operation, tensors: &[(&CpuStorage, &Layout)], shape: &Shape) -> Result<CpuStorage> {
        let from: Vec<&[T]> = tensors.iter().map(|&(storage, layout)| numbers(storage, layout)).collect::<Result<_>>()?;
        Ok(T::to_cpu_storage_owned(operation.run(&from, shape)?))
    }
    let shape = tensors[0].1.shape();
    let result = match tensors[0].0 {
        CpuStorage::F32(_) => of::<f32>(operation, tensors, shape)?,
        CpuStorage::F64(_) => of::<f64>(operation, tensors, shape)?,
        _ => bail!("the numbers are no floats, expected f32 or f64"),
    };
    let shapes: Vec<&Shape> = tensors.iter().map(|(_, layout)| layout.shape()).collect();
    Ok((result, operation.shape(&shapes)?))
}

/// Runs an operation on tensors and, behind them, on constants, which have no derivative.
pub(super) fn run_with_constants<'a>(
    operation: &impl Operation,
    tensors: &[(&CpuStorage, &Layout)],
    constants: impl IntoIterator<Item = &'a Tensor>,
) -> Result<(CpuStorage, Shape)> {
    let constants: Vec<_> = constants.into_iter().map(Tensor::storage_and_layout).collect();
    let mut all = tensors.to_vec();
    for (storage, layout) in &constants {
        let Storage::Cpu(storage) = &**storage else { bail!("constants are on the CPU") };
        all.push((storage, layout));
    }
    run(operation, &all)
}

/// `max(x, slope x)`
pub(super) struct LeakyRelu {
    pub(super) slope: f64,
}

/// The derivative by x from x and the derivative by the result.
struct LeakyReluBackward {
    slope: f64,
}

impl Operation for LeakyRelu {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let slope = T::from_f64(self.slope);
        let x = from[0].par_iter().with_min_len(NUMBERS);
        Ok(x.map(|&x| if x > T::zero() { x } else { slope * x }).collect())
    }
}

impl Operation for LeakyReluBackward {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let slope = T::from_f64(self.slope);
        let both = from[0].par_iter().zip(from[1]).with_min_len(NUMBERS);
        Ok(both.map(|(&x, &derivative)| if x > T::zero() { derivative } else { slope * derivative }).collect())
    }
}

impl CustomOp1 for LeakyRelu {
    fn name(&self) -> &'static str {
        "leaky-relu"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(storage, layout)])
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        x.apply_op2_no_bwd(&derivative.contiguous()?, &LeakyReluBackward { slope: self.slope }).map(Some)
    }
}

impl CustomOp2 for LeakyReluBackward {
    fn name(&self) -> &'static str {
        "leaky-relu-backward"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout, derivative: &CpuStorage, of_derivative: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(x, of_x), (derivative, of_derivative)])
    }
}

/// `tanh(x)`
pub(super) struct Tanh;

/// The derivative by x from `y = tanh(x)` and the derivative by y: `dL/dy (1 - y²)`.
struct TanhBackward;

/// tanh of each number, in its place.
pub(crate) fn tanh_in_place<T: Real>(values: &mut [T]) {
    struct Each<'a, T>(&'a mut [T]);
    impl<T: Real> Loop for Each<'_, T> {
        #[inline(always)]
        fn run(self) {
            self.0.iter_mut().for_each(|value| *value = Real::tanh(*value));
        }
    }
    vectorized(Each(values));
}

impl Operation for Tanh {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let mut values = from[0].to_vec();
        values.par_chunks_mut(NUMBERS).for_each(tanh_in_place);
        Ok(values)
    }
}

impl Operation for TanhBackward {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let both = from[0].par_iter().zip(from[1]).with_min_len(NUMBERS);
        Ok(both.map(|(&y, &derivative)| derivative * (T::one() - y * y)).collect())
    }
}

impl CustomOp1 for Tanh {
    fn name(&self) -> &'static str {
        "tanh"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(storage, layout)])
    }

    fn bwd(&self, _x: &Tensor, y: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        y.apply_op2_no_bwd(&derivative.contiguous()?, &TanhBackward).map(Some)
    }
}

impl CustomOp2 for TanhBackward {
    fn name(&self) -> &'static str {
        "tanh-backward"
    }

    fn cpu_fwd(&self, y: &CpuStorage, of_y: &Layout, derivative: &CpuStorage, of_derivative: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(y, of_y), (derivative, of_derivative)])
    }
}

/// `x / sqrt(|x|² + 1e-24)` of each row.
pub(super) struct UnitRows;

/// The derivative by rows from the rows and the derivative by the result.
struct UnitRowsBackward;

fn length<T: Real>(row: &[T]) -> T {
    let squares = row.iter().fold(T::zero(), |sum, &value| sum + value * value);
    T::from_f64((squares.to_f64() + SHORTEST * SHORTEST).sqrt())
}

impl Operation for UnitRows {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, dim) = shape.dims2()?;
        let mut units = from[0].to_vec();
        units.par_chunks_exact_mut(dim).with_min_len(ROWS).for_each(|row| {
            let length = length(row);
            row.iter_mut().for_each(|value| *value /= length);
        });
        Ok(units)
    }
}

impl Operation for UnitRowsBackward {
    /// With the unit u of a row and the derivative g by it: `(g - (g . u) u) / length`.
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, dim) = shape.dims2()?;
        let mut derivatives = from[1].to_vec();
        derivatives.par_chunks_exact_mut(dim).zip(from[0].par_chunks_exact(dim)).with_min_len(ROWS).for_each(|(derivative, row)| {
            let length = length(row);
            let product = derivative.iter().zip(row).fold(T::zero(), |sum, (&derivative, &value)| sum + derivative * value);
            let along = product / length / length;
            derivative.iter_mut().zip(row).for_each(|(derivative, &value)| *derivative = (*derivative - along * value) / length);
        });
        Ok(derivatives)
    }
}

impl CustomOp1 for UnitRows {
    fn name(&self) -> &'static str {
        "unit-rows"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(storage, layout)])
    }

    fn bwd(&self, rows: &Tensor, _units: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        rows.apply_op2_no_bwd(&derivative.contiguous()?, &UnitRowsBackward).map(Some)
    }
}

impl CustomOp2 for UnitRowsBackward {
    fn name(&self) -> &'static str {
        "unit-rows-backward"
    }

    fn cpu_fwd(&self, rows: &CpuStorage, of_rows: &Layout, derivative: &CpuStorage, of_derivative: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(rows, of_rows), (derivative, of_derivative)])
    }
}
