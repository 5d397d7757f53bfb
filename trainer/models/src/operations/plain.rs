//! The operations beside this file as candle's own make them: for devices that ours have no code for.

use super::{pairs::Combine, select::select_rows};
use candle_core::{D, Result, Tensor};
use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

/// What is added to the squared length of a row, and to the variance of one, as in our own.
const SHORTEST: f64 = 1e-24;
const EPSILON: f64 = 1e-12;
/// Scores that stand for nothing.
const NEVER: f64 = -1e30;

pub(super) fn unit_rows(rows: &Tensor) -> Result<Tensor> {
    rows.broadcast_div(&(rows.sqr()?.sum_keepdim(D::Minus1)? + SHORTEST)?.sqrt()?)
}

pub(super) fn leaky_relu(values: &Tensor, slope: f64) -> Result<Tensor> {
    values.gt(0.0)?.where_cond(values, &(values * slope)?)
}

pub(super) fn layer_norm(rows: &Tensor, gain: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let centered = rows.broadcast_sub(&rows.mean_keepdim(D::Minus1)?)?;
    let scale = (centered.sqr()?.mean_keepdim(D::Minus1)? + EPSILON)?.sqrt()?;
    centered.broadcast_div(&scale)?.broadcast_mul(gain)?.broadcast_add(bias)
}

pub(super) fn linear(x: &Tensor, weights: &Tensor, bias: &Tensor) -> Result<Tensor> {
    x.matmul(&weights.t()?)?.broadcast_add(bias)
}

pub(super) fn linear_of_columns(x: &Tensor, columns: Range<usize>, weights: &Tensor) -> Result<Tensor> {
    x.narrow(1, columns.start, columns.len())?.contiguous()?.matmul(&weights.t()?) // cuBLAS is given no rows with gaps
}

pub(super) fn hidden(x: &Tensor, bias: &Tensor, factors: Option<Tensor>) -> Result<Tensor> {
    let hidden = x.broadcast_add(bias)?.relu()?;
    factors.map_or(Ok(hidden.clone()), |factors| hidden * factors)
}

pub(super) fn rows_of_pairs(tables: [&Tensor; 2], places: [&Tensor; 2], columns: Range<usize>, combine: Combine) -> Result<Tensor> {
    let rows = |side: usize| {
        let columns = tables[side].narrow(1, columns.start, columns.len())?.contiguous()?;
        select_rows(&columns, &places[side].to_vec1::<u32>()?)
    };
    match combine {
        Combine::Sum => rows(0)? + rows(1)?,
        Combine::Product => rows(0)? * rows(1)?,
    }
}

/// candle's own `gelu_erf` has a derivative of fewer digits.
pub(super) fn gelu(x: &Tensor) -> Result<Tensor> {
    x * (x * std::f64::consts::FRAC_1_SQRT_2)?.erf()?.affine(0.5, 0.5)?
}

pub(super) fn causal_softmax(scores: &Tensor) -> Result<Tensor> {
    let (rows, length) = scores.dims2()?;
    let is_seen: Vec<u8> = (0..length).flat_map(|row| (0..length).map(move |place| u8::from(place <= row))).collect();
    let is_seen = Tensor::from_vec(is_seen, (1, length, length), scores.device())?;
    let scores = scores.reshape((rows / length, length, length))?;
    let is_seen = is_seen.broadcast_as(scores.shape())?.contiguous()?;
    let seen = is_seen.where_cond(&scores, &(scores.zeros_like()? + NEVER)?)?;
    let exponentials = seen.broadcast_sub(&seen.max_keepdim(D::Minus1)?.detach())?.exp()?;
    exponentials.broadcast_div(&exponentials.sum_keepdim(D::Minus1)?)?.reshape((rows, length))
}

/// `1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2`, whose derivative is a number for every x: that of the first form is none where `exp(-x)` is infinite.
pub(crate) fn sigmoid(x: &Tensor) -> Result<Tensor> {
    (x * 0.5)?.tanh()?.affine(0.5, 0.5)
}

/// How much work is under way that leaves our own code out.
static PLAIN: AtomicUsize = AtomicUsize::new(0);

/// Whether our own code can go over a tensor's numbers: it has none for other devices.
pub(crate) fn is_ours(tensor: &Tensor) -> bool {
    tensor.device().is_cpu() && PLAIN.load(Ordering::Relaxed) == 0
}

/// Does some work while models have candle's own operations alone in this process, as they have on other devices than a CPU: what a GPU is asked for can so be
/// looked at without one.
pub fn as_elsewhere<T>(work: impl FnOnce() -> T) -> T {
    /// Ends with the work, also where that panics.
    struct UnderWay;
    impl Drop for UnderWay {
        fn drop(&mut self) {
            PLAIN.fetch_sub(1, Ordering::Relaxed);
        }
    }
    PLAIN.fetch_add(1, Ordering::Relaxed);
    let _under_way = UnderWay;
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        operations,
        testing::{assert_same, matrix},
    };
    use candle_core::Device;

    #[test]
    fn values_and_derivatives_are_those_of_our_own() {
        let rows = || vec![matrix([6, 3], |number| (0.3 + 1.7 * number).sin())];
        assert_same(|given| unit_rows(&given[0]), |given| operations::unit_rows(&given[0]), &rows());
        assert_same(|given| leaky_relu(&given[0], 0.2), |given| operations::leaky_relu(&given[0], 0.2), &rows());
        assert_same(|given| causal_softmax(&given[0]), |given| operations::causal_softmax(&given[0]), &rows());
        assert_same(|given| gelu(&given[0]), |given| operations::gelu(&given[0]), &rows());
        let row = |at: f64| matrix([1, 3], |number| at + (0.5 * number).cos());
        let of_norm = [rows(), vec![row(0.5), row(-0.1)]].concat();
        let norm = |given: &[Tensor]| layer_norm(&given[0], &given[1], &given[2]);
        assert_same(norm, |given| operations::layer_norm(&given[0], &given[1], &given[2]), &of_norm);
        let of_map = [rows(), vec![matrix([3, 3], |number| (0.2 * number).cos()), row(0.3)]].concat();
        let map = |given: &[Tensor]| linear(&given[0], &given[1], &given[2]);
        assert_same(map, |given| operations::linear(&given[0], &given[1], &given[2]), &of_map);
    }

    /// By PyTorch: 0 and 1 with derivatives of 0 far off, and sigmoid(1) with sigmoid(1) (1 - sigmoid(1)).
    #[test]
    fn the_sigmoid_of_large_numbers_has_a_derivative() {
        let x = candle_core::Var::from_slice(&[-100.0f32, 1.0, 100.0], 3, &Device::Cpu).unwrap();
        let y = sigmoid(x.as_tensor()).unwrap();
        let gradient = y.sum_all().unwrap().backward().unwrap().get(&x).unwrap().to_vec1::<f32>().unwrap();
        let value = y.to_vec1::<f32>().unwrap();
        assert_eq!([value[0], value[2], gradient[0], gradient[2]], [0.0, 1.0, 0.0, 0.0]);
        assert!((value[1] - 0.731_058_6).abs() < 1e-6 && (gradient[1] - 0.196_611_9).abs() < 1e-6, "{value:?} {gradient:?}");
    }

    /// Of which some rows are of no pair, and some of several.
    #[test]
    fn those_of_pairs_are_those_of_our_own() {
        let tables = [matrix([4, 3], |number| (0.3 + 1.7 * number).sin()), matrix([5, 3], |number| (0.8 + 1.3 * number).cos())];
        let [users, items] = [[0u32, 3, 3, 1, 0], [4, 4, 0, 1, 2]].map(|places| Tensor::new(&places, &Device::Cpu).unwrap());
        let places = [&users, &items];
        for (columns, combine) in [(0..3, Combine::Sum), (0..3, Combine::Product), (1..3, Combine::Sum), (0..2, Combine::Product)] {
            let plain = |given: &[Tensor]| rows_of_pairs([&given[0], &given[1]], places, columns.clone(), combine);
            assert_same(plain, |given| operations::rows_of_pairs([&given[0], &given[1]], places, columns.clone(), combine), &tables);
        }
        for columns in [0..3, 1..3, 0..1] {
            let given = [tables[0].clone(), matrix([2, columns.len()], |number| (0.2 * number).cos())];
            let map = |given: &[Tensor]| linear_of_columns(&given[0], columns.clone(), &given[1]);
            assert_same(map, |given| operations::linear_of_columns(&given[0], columns.clone(), &given[1]), &given);
        }
        let numbers = [tables[0].clone(), matrix([1, 3], |number| 0.1 - 0.3 * number)];
        for factors in [None, Some(matrix([4, 3], |number| if number % 3.0 == 1.0 { 0.0 } else { 1.25 }))] {
            let plain = |given: &[Tensor]| hidden(&given[0], &given[1], factors.clone());
            assert_same(plain, |given| operations::hidden(&given[0], &given[1], factors.clone()), &numbers);
        }
    }

    /// At zero, where the derivative is the slope, or that of relu; and rows of zeros.
    #[test]
    fn zeros_are_those_of_our_own() {
        let zeros = [matrix([2, 3], |_| 0.0)];
        assert_same(|given| leaky_relu(&given[0], 0.2), |given| operations::leaky_relu(&given[0], 0.2), &zeros);
        assert_same(|given| unit_rows(&given[0]), |given| operations::unit_rows(&given[0]), &zeros);
        let hidden_zeros = [zeros[0].clone(), matrix([1, 3], |_| 0.0)];
        assert_same(|given| hidden(&given[0], &given[1], None), |given| operations::hidden(&given[0], &given[1], None), &hidden_zeros);
    }
}
