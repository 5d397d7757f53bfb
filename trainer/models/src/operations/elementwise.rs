//! Operations that go once over their numbers, in parallel, forward and back: candle's own have one thread and a pass for each part of a formula.

use super::real::{Loop, Real, dot, vectorized};
use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Storage, Tensor, bail};
use rayon::prelude::*;

/// Rows of one parallel task.
pub(super) const ROWS: usize = 64;
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

/// A function of each number.
fn each<T: Real>(from: &[T], function: impl Fn(T) -> T + Sync) -> Vec<T> {
    let mut to = vec![T::zero(); from.len()];
    let parts = to.par_chunks_mut(NUMBERS).zip(from.par_chunks(NUMBERS));
    parts.for_each(|(to, from)| to.iter_mut().zip(from).for_each(|(to, &from)| *to = function(from)));
    to
}

/// A function of each pair of numbers.
pub(super) fn each_pair<T: Real>(one: &[T], other: &[T], function: impl Fn(T, T) -> T + Sync) -> Vec<T> {
    let mut to = vec![T::zero(); one.len()];
    let parts = to.par_chunks_mut(NUMBERS).zip(one.par_chunks(NUMBERS).zip(other.par_chunks(NUMBERS)));
    parts.for_each(|(to, (one, other))| {
        to.iter_mut().zip(one.iter().zip(other)).for_each(|(to, (&one, &other))| *to = function(one, other));
    });
    to
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
        Ok(each(from[0], |x| if x > T::zero() { x } else { slope * x }))
    }
}

impl Operation for LeakyReluBackward {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let slope = T::from_f64(self.slope);
        Ok(each_pair(from[0], from[1], |x, derivative| if x > T::zero() { derivative } else { slope * derivative }))
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
        Ok(each_pair(from[0], from[1], |y, derivative| derivative * (T::one() - y * y)))
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

/// `1 / sqrt(|x|² + 1e-24)`
fn inverse_length<T: Real>(row: &[T]) -> T {
    T::from_f64(1.0 / (dot(row, row).to_f64() + SHORTEST * SHORTEST).sqrt())
}

impl Operation for UnitRows {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, dim) = shape.dims2()?;
        let mut units = from[0].to_vec();
        units.par_chunks_exact_mut(dim).with_min_len(ROWS).for_each(|row| {
            let scale = inverse_length(row);
            row.iter_mut().for_each(|value| *value *= scale);
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
            let scale = inverse_length(row);
            let along = dot(derivative, row) * scale * scale;
            derivative.iter_mut().zip(row).for_each(|(derivative, &value)| *derivative = (*derivative - along * value) * scale);
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
