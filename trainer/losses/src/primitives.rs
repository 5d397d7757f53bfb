//! Logarithms and exponentials that neither overflow nor lose their gradient.
//!
//! candle has no softplus, and its `binary_cross_entropy_with_logit` takes the logarithm of a sigmoid that may be 0.

use candle_core::{CpuStorage, CustomOp1, D, Device, Layout, Result, Shape, Tensor, cpu_backend::unary_map};

/// Scores below this stand for no item.
pub const MASKED_BELOW: f64 = -1e29;

/// `log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))`, elementwise.
pub fn softplus(x: &Tensor) -> Result<Tensor> {
    x.relu()? + (x.abs()?.neg()?.exp()? + 1.0)?.log()?
}

/// `log sigmoid(x) = -softplus(-x)`, elementwise.
pub fn log_sigmoid(x: &Tensor) -> Result<Tensor> {
    softplus(&x.neg()?)?.neg()
}

/// `1 / (1 + exp(-x))`, elementwise.
pub fn sigmoid(x: &Tensor) -> Result<Tensor> {
    log_sigmoid(x)?.exp()
}

/// `log sum_j exp(x_j)` along the last dimension: `[B]` from `[B, N]`, `[B, M]` from `[B, M, N]`.
///
/// The maximum that is taken out is a constant of the gradient, which is then the softmax alone.
pub fn log_sum_exp(x: &Tensor) -> Result<Tensor> {
    let max = x.max_keepdim(D::Minus1)?.detach();
    x.broadcast_sub(&max)?.exp()?.sum(D::Minus1)?.log()? + max.squeeze(D::Minus1)?
}

/// `exp(x_j) / sum_k exp(x_k)` along the last dimension, of the shape of `x`.
pub fn softmax(x: &Tensor) -> Result<Tensor> {
    x.broadcast_sub(&log_sum_exp(x)?.unsqueeze(D::Minus1)?)?.exp()
}

/// `s_j - s_i`: `[B, N]` from `positives [B]` and `negatives [B, N]`.
pub fn margins(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    negatives.broadcast_sub(&positives.unsqueeze(1)?)
}

/// What the negatives cost together, `[B]`, from what each costs, `[B, N]`: the sum, or by their weights.
pub fn sum_over_negatives(costs: &Tensor, weights: Option<&Tensor>) -> Result<Tensor> {
    match weights {
        Some(weights) => (costs * weights.detach())?.sum(D::Minus1),
        None => costs.sum(D::Minus1),
    }
}

/// 1 where an entry stands for an item and 0 where it is masked, as `u8`: `[B, N]` from `negatives [B, N]`.
pub fn is_item(negatives: &Tensor) -> Result<Tensor> {
    negatives.ge(MASKED_BELOW)
}

/// The scores with 0 in the place of masked ones, and 1 where an entry stands for an item and 0 where it is masked.
///
/// A score that is no number stays one.
pub fn unmask(scores: &Tensor) -> Result<(Tensor, Tensor)> {
    let is_masked = scores.lt(MASKED_BELOW)?;
    let is_item = (is_masked.to_dtype(scores.dtype())?.neg()? + 1.0)?;
    Ok((is_masked.where_cond(&scores.zeros_like()?, scores)?, is_item))
}

/// `x` where an entry stands for an item and `value` where it is masked, without a gradient: `[B, N]` from `x [B, N]` and `negatives [B, N]`.
/// A score that is not a number is not masked.
pub fn fill_masked(x: &Tensor, negatives: &Tensor, value: f64) -> Result<Tensor> {
    negatives.lt(MASKED_BELOW)?.where_cond(&(x.zeros_like()? + value)?, x)
}

/// Items of each row, at least 1: `[B]` from `negatives [B, N]`.
pub fn count_items(negatives: &Tensor) -> Result<Tensor> {
    is_item(negatives)?.to_dtype(negatives.dtype())?.sum(D::Minus1)?.maximum(1.0)
}

/// `atan(x)`, elementwise; computed on the CPU, wherever x is.
pub fn arctan(x: &Tensor) -> Result<Tensor> {
    x.to_device(&Device::Cpu)?.apply_op1(Arctan)?.to_device(x.device())
}

/// candle has no inverse of the tangent.
struct Arctan;

impl CustomOp1 for Arctan {
    fn name(&self) -> &'static str {
        "arctan"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let values = match x {
            CpuStorage::F32(x) => CpuStorage::F32(unary_map(x, layout, f32::atan)),
            CpuStorage::F64(x) => CpuStorage::F64(unary_map(x, layout, f64::atan)),
            _ => candle_core::bail!("arctan is of f32 and f64"),
        };
        Ok((values, layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _value: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        (gradient / (x.sqr()? + 1.0)?).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Var;

    fn values_and_gradient(f: fn(&Tensor) -> Result<Tensor>, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let x = Var::new(x, &Device::Cpu).unwrap();
        let y = f(&x).unwrap();
        let gradients = y.sum_all().unwrap().backward().unwrap();
        (y.to_vec1().unwrap(), gradients.get(&x).unwrap().to_vec1().unwrap())
    }

    #[track_caller]
    fn assert_close(found: &[f64], expected: &[f64]) {
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
    }

    #[test]
    fn softplus_at_zero_and_far_away() {
        let (values, gradient) = values_and_gradient(softplus, &[0.0, 800.0, -800.0, -1e30, 1.0]);
        assert_close(&values, &[std::f64::consts::LN_2, 800.0, 0.0, 0.0, 1.313261687518223]);
        assert_close(&gradient, &[0.5, 1.0, 0.0, 0.0, 0.7310585786300049]);
    }

    #[test]
    fn sigmoid_at_zero_and_far_away() {
        let (values, gradient) = values_and_gradient(sigmoid, &[0.0, 800.0, -800.0, 1.0]);
        assert_close(&values, &[0.5, 1.0, 0.0, 0.7310585786300049]);
        assert_close(&gradient, &[0.25, 0.0, 0.0, 0.19661193324148185]);
    }

    #[test]
    fn unmasking_leaves_items_and_numbers_that_are_none() {
        let scores = Var::new(&[0.5f64, -1e30, f64::NAN, -1e4], &Device::Cpu).unwrap();
        let (unmasked, is_item) = unmask(&scores).unwrap();
        let gradients = unmasked.sum_all().unwrap().backward().unwrap();
        let found: Vec<f64> = unmasked.to_vec1().unwrap();
        assert!(found[2].is_nan());
        assert_eq!([found[0], found[1], found[3]], [0.5, 0.0, -1e4]);
        assert_eq!(is_item.to_vec1::<f64>().unwrap(), [1.0, 0.0, 1.0, 1.0]);
        assert_eq!(gradients.get(&scores).unwrap().to_vec1::<f64>().unwrap(), [1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn arctan_at_zero_and_far_away() {
        let (values, gradient) = values_and_gradient(arctan, &[0.0, 1.0, -1.0, 1e30]);
        let quarter = std::f64::consts::FRAC_PI_4;
        assert_close(&values, &[0.0, quarter, -quarter, 2.0 * quarter]);
        assert_close(&gradient, &[1.0, 0.5, 0.5, 0.0]);
    }

    #[test]
    fn log_sum_exp_of_equal_and_huge_entries() {
        let x = Var::new(&[[1000.0f64, 1000.0, -1e30]], &Device::Cpu).unwrap();
        let y = log_sum_exp(&x).unwrap();
        let gradients = y.sum_all().unwrap().backward().unwrap();
        assert_close(&y.to_vec1().unwrap(), &[1000.0 + std::f64::consts::LN_2]);
        assert_close(&gradients.get(&x).unwrap().flatten_all().unwrap().to_vec1().unwrap(), &[0.5, 0.5, 0.0]);
    }
}
