//! Operations on rows, each by itself, of layers of attention.

use super::{
    elementwise::{Operation, run},
    linear::ColumnSums,
    real::{Loop, Real, vectorized},
};
use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor};

/// What is added to a variance, so that rows of one number stay finite.
const EPSILON: f64 = 1e-12;

/// The mean of a row, and what its numbers are multiplied by.
fn moments<T: Real>(row: &[T]) -> (T, T) {
    let count = T::from_f64(row.len() as f64);
    let mean = row.iter().fold(T::zero(), |sum, &value| sum + value) / count;
    let variance = row.iter().fold(T::zero(), |sum, &value| sum + (value - mean) * (value - mean)) / count;
    (mean, T::from_f64(1.0 / (variance.to_f64() + EPSILON).sqrt()))
}

/// `(x - mean) / sqrt(variance + 1e-12) * gain + bias` of each row.
pub(super) struct LayerNorm;

/// The derivative by rows from the rows, the gain and the derivative by the result.
struct ByRows;

/// The derivative by the gain from the rows and the derivative by the result.
struct ByGain;

impl Operation for LayerNorm {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, dim) = shape.dims2()?;
        let mut rows = from[0].to_vec();
        for row in rows.chunks_exact_mut(dim) {
            let (mean, scale) = moments(row);
            let values = row.iter_mut().zip(from[1]).zip(from[2]);
            values.for_each(|((value, &gain), &bias)| *value = (*value - mean) * scale * gain + bias);
        }
        Ok(rows)
    }
}

impl Operation for ByRows {
    /// With the normalised row y and the derivative g by it: `(g - mean(g) - y mean(g y)) scale`.
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, dim) = shape.dims2()?;
        let count = T::from_f64(dim as f64);
        let mut derivatives = from[2].to_vec();
        for (derivative, row) in derivatives.chunks_exact_mut(dim).zip(from[0].chunks_exact(dim)) {
            let (mean, scale) = moments(row);
            derivative.iter_mut().zip(from[1]).for_each(|(derivative, &gain)| *derivative *= gain);
            let of_mean = derivative.iter().fold(T::zero(), |sum, &value| sum + value) / count;
            let both = derivative.iter().zip(row);
            let along = both.fold(T::zero(), |sum, (&derivative, &value)| sum + derivative * (value - mean) * scale) / count;
            let values = derivative.iter_mut().zip(row);
            values.for_each(|(derivative, &value)| *derivative = (*derivative - of_mean - (value - mean) * scale * along) * scale);
        }
        Ok(derivatives)
    }
}

impl Operation for ByGain {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, dim) = shape.dims2()?;
        let mut sums = vec![T::zero(); dim];
        for (derivative, row) in from[1].chunks_exact(dim).zip(from[0].chunks_exact(dim)) {
            let (mean, scale) = moments(row);
            let values = sums.iter_mut().zip(derivative).zip(row);
            values.for_each(|((sum, &derivative), &value)| *sum += derivative * (value - mean) * scale);
        }
        Ok(sums)
    }

    fn shape(&self, shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((1, shapes[0].dims2()?.1)))
    }
}

impl CustomOp3 for LayerNorm {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(
        &self,
        rows: &CpuStorage,
        of_rows: &Layout,
        gain: &CpuStorage,
        of_gain: &Layout,
        bias: &CpuStorage,
        of_bias: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        run(self, &[(rows, of_rows), (gain, of_gain), (bias, of_bias)])
    }

    fn bwd(
        &self,
        rows: &Tensor,
        gain: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        derivative: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let derivative = derivative.contiguous()?;
        let by_rows = rows.apply_op3_no_bwd(gain, &derivative, &ByRows)?;
        Ok((Some(by_rows), Some(rows.apply_op2_no_bwd(&derivative, &ByGain)?), Some(derivative.apply_op1_no_bwd(&ColumnSums)?)))
    }
}

impl CustomOp3 for ByRows {
    fn name(&self) -> &'static str {
        "layer-norm-by-rows"
    }

    fn cpu_fwd(
        &self,
        rows: &CpuStorage,
        of_rows: &Layout,
        gain: &CpuStorage,
        of_gain: &Layout,
        derivative: &CpuStorage,
        of_derivative: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        run(self, &[(rows, of_rows), (gain, of_gain), (derivative, of_derivative)])
    }
}

impl CustomOp2 for ByGain {
    fn name(&self) -> &'static str {
        "layer-norm-by-gain"
    }

    fn cpu_fwd(&self, rows: &CpuStorage, of_rows: &Layout, derivative: &CpuStorage, of_derivative: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(rows, of_rows), (derivative, of_derivative)])
    }
}

/// The softmax of row t of each square matrix over its first t + 1 numbers.
pub(super) struct CausalSoftmax;

/// The derivative by scores from the shares and the derivative by them.
struct CausalSoftmaxBackward;

impl Operation for CausalSoftmax {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, length) = shape.dims2()?;
        let mut shares = from[0].to_vec();
        vectorized(SoftmaxRows { shares: &mut shares, length });
        Ok(shares)
    }
}

/// Rows of square matrices of scores, to be replaced by their shares.
struct SoftmaxRows<'a, T> {
    shares: &'a mut [T],
    length: usize,
}

impl<T: Real> Loop for SoftmaxRows<'_, T> {
    #[inline(always)]
    fn run(self) {
        for (at, row) in self.shares.chunks_exact_mut(self.length).enumerate() {
            let (seen, later) = row.split_at_mut(at % self.length + 1);
            later.fill(T::zero());
            let highest = seen.iter().fold(seen[0], |highest, &score| if score > highest { score } else { highest });
            for score in &mut *seen {
                *score = (*score - highest).exp_of_negative();
            }
            let total = seen.iter().fold(T::zero(), |sum, &share| sum + share);
            for share in seen {
                *share /= total;
            }
        }
    }
}

impl Operation for CausalSoftmaxBackward {
    /// With the shares p and the derivative g by them: `p (g - p . g)`.
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, length) = shape.dims2()?;
        let mut derivatives = from[1].to_vec();
        for (derivative, shares) in derivatives.chunks_exact_mut(length).zip(from[0].chunks_exact(length)) {
            let mean = derivative.iter().zip(shares).fold(T::zero(), |sum, (&derivative, &share)| sum + derivative * share);
            derivative.iter_mut().zip(shares).for_each(|(derivative, &share)| *derivative = share * (*derivative - mean));
        }
        Ok(derivatives)
    }
}

impl CustomOp1 for CausalSoftmax {
    fn name(&self) -> &'static str {
        "causal-softmax"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(storage, layout)])
    }

    fn bwd(&self, _scores: &Tensor, shares: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        shares.apply_op2_no_bwd(&derivative.contiguous()?, &CausalSoftmaxBackward).map(Some)
    }
}

impl CustomOp2 for CausalSoftmaxBackward {
    fn name(&self) -> &'static str {
        "causal-softmax-backward"
    }

    fn cpu_fwd(
        &self,
        shares: &CpuStorage,
        of_shares: &Layout,
        derivative: &CpuStorage,
        of_derivative: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        run(self, &[(shares, of_shares), (derivative, of_derivative)])
    }
}
