//! The uniformity of a batch, as an operation of candle on a CPU: it goes once over the cosines for its value, and once for its gradient.

use super::softmax::{exponentials, scale};
use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

/// What `exp(-2 |x - y|²)` of unit vectors has beside their cosine: it is `exp(4 cos - 4)`.
const SHARPNESS: f32 = 4.0;

/// `log mean_{a != b} exp(4 cos_ab - 4)`, `[]` from cosines `[B, B]` of `f32` with `B >= 2`.
pub struct Uniformity;

/// Replaces the cosines of row `at` by `exp(4 (cos - max))`, with 0 for the row itself; what these lack as a factor, and their sum.
fn row(at: usize, cosines: &mut [f32]) -> (f64, f64) {
    cosines[at] = f32::NEG_INFINITY;
    let (max, sum) = exponentials(cosines, SHARPNESS);
    ((f64::from(SHARPNESS) * (f64::from(max) - 1.0)).exp(), sum)
}

/// Pairs of different rows.
fn pairs(rows: usize) -> f64 {
    (rows * (rows - 1)) as f64
}

impl CustomOp1 for Uniformity {
    fn name(&self) -> &'static str {
        "uniformity"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let ((rows, _), (start, end)) = (layout.shape().dims2()?, layout.contiguous_offsets().expect("the formula hands a matrix over"));
        let mut cosines = storage.as_slice::<f32>()?[start..end].to_vec();
        let sums: Vec<f64> = cosines
            .par_chunks_exact_mut(rows)
            .enumerate()
            .map(|(at, cosines)| {
                let (factor, sum) = row(at, cosines);
                factor * sum
            })
            .collect();
        let value = (sums.iter().sum::<f64>() / pairs(rows)).ln() as f32;
        Ok((CpuStorage::F32(vec![value]), Shape::from(())))
    }

    fn bwd(&self, cosines: &Tensor, value: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        let rows = cosines.dim(0)?;
        let sum = f64::from(value.to_scalar::<f32>()?).exp() * pairs(rows);
        let share = f64::from(SHARPNESS) * f64::from(derivative.to_scalar::<f32>()?) / sum;
        let mut gradient: Vec<f32> = cosines.flatten_all()?.to_vec1()?;
        gradient.par_chunks_exact_mut(rows).enumerate().for_each(|(at, cosines)| {
            let (factor, _) = row(at, cosines);
            scale(cosines, (share * factor) as f32);
        });
        Ok(Some(Tensor::from_vec(gradient, (rows, rows), cosines.device())?))
    }
}
