//! Operations of candle that models share: on the vectors of all nodes of the train graph, users before items, on rows, and linear maps.
//!
//! Those of candle-nn hold variables of their own; here all parameters are the optimizer's, and an operation is given them.
//! On a CPU they are our own, which go over their numbers once; on other devices they are candle's (`plain`), which tests hold against ours.

mod bias;
mod elementwise;
mod given;
mod linear;
mod pairs;
mod plain;
mod real;
mod rows;
mod select;

use bias::{AddBias, Hidden};
use candle_core::{Result, Tensor};
pub(crate) use elementwise::tanh_in_place;
use elementwise::{LeakyRelu, Tanh, UnitRows};
pub(crate) use given::given;
pub(crate) use linear::column_sums;
use linear::{Gelu, Linear, Times};
use pairs::{Combine, PairRows};
pub use plain::as_elsewhere;
pub(crate) use plain::{is_ours, sigmoid};
pub(crate) use real::{Loop, Real, dot, vectorized};
use rows::{CausalSoftmax, LayerNorm};
pub use select::{select_rows, sum_rows};
use std::ops::Range;

/// `[users + items, dim]` of the tables of users and items.
///
/// # Errors
/// When their rows are not of one length.
pub(crate) fn together(tables: &[Tensor]) -> Result<Tensor> {
    Tensor::cat(tables, 0)
}

/// The users' rows and the items' of all nodes, as many as the tables have.
///
/// # Errors
/// When there are not as many.
pub(crate) fn apart(nodes: &Tensor, tables: &[Tensor]) -> Result<(Tensor, Tensor)> {
    let [users, items] = [tables[0].dim(0)?, tables[1].dim(0)?];
    Ok((nodes.narrow(0, 0, users)?, nodes.narrow(0, users, items)?))
}

/// The sum of at least one layer.
///
/// # Errors
/// When the shapes differ.
pub(crate) fn sum(layers: &[Tensor]) -> Result<Tensor> {
    let (first, others) = layers.split_first().expect("`check` refuses models without layers");
    others.iter().try_fold(first.clone(), |sum, layer| sum + layer)
}

/// The mean of at least one layer.
///
/// # Errors
/// When the shapes differ.
pub(crate) fn mean(layers: &[Tensor]) -> Result<Tensor> {
    sum(layers)? / layers.len() as f64
}

/// Rows at length one: `x / sqrt(|x|² + 1e-24)`.
///
/// # Errors
/// When the values are no floats.
pub(crate) fn unit_rows(rows: &Tensor) -> Result<Tensor> {
    if is_ours(rows) { rows.contiguous()?.apply_op1(UnitRows) } else { plain::unit_rows(rows) }
}

/// `max(x, slope x)`, with the derivative `slope` at zero.
///
/// # Errors
/// When the values are no floats.
pub(crate) fn leaky_relu(values: &Tensor, slope: f64) -> Result<Tensor> {
    if is_ours(values) { values.contiguous()?.apply_op1(LeakyRelu { slope }) } else { plain::leaky_relu(values, slope) }
}

/// The hyperbolic tangent of each number.
///
/// # Errors
/// When the values are no floats.
pub(crate) fn tanh(values: &Tensor) -> Result<Tensor> {
    if is_ours(values) { values.contiguous()?.apply_op1(Tanh) } else { values.tanh() }
}

/// Rows with mean 0 and variance 1, times a gain, plus a bias, both `[1, dim]`: `(x - mean) / sqrt(variance + 1e-12) * gain + bias`.
///
/// # Errors
/// When the values are no floats, or the shapes differ.
pub(crate) fn layer_norm(rows: &Tensor, gain: &Tensor, bias: &Tensor) -> Result<Tensor> {
    if is_ours(rows) { rows.contiguous()?.apply_op3(gain, bias, LayerNorm) } else { plain::layer_norm(rows, gain, bias) }
}

/// `x + bias` for `x [rows, n]` and `bias [1, n]`.
///
/// # Errors
/// When the values are no floats, or the shapes do not fit.
pub(crate) fn add_bias(x: &Tensor, bias: &Tensor) -> Result<Tensor> {
    if is_ours(x) { x.contiguous()?.apply_op2(bias, AddBias) } else { x.broadcast_add(bias) }
}

/// `x W^T + b` for `x [rows, in]`, `W [out, in]` and `b [1, out]`.
///
/// # Errors
/// When the values are no floats, or the shapes do not fit.
pub(crate) fn linear(x: &Tensor, weights: &Tensor, bias: &Tensor) -> Result<Tensor> {
    if !is_ours(x) {
        return plain::linear(x, weights, bias);
    }
    x.contiguous()?.apply_op3(weights, bias, Linear { columns: 0..x.dim(1)? })
}

/// `x W^T` for `x [rows, in]` and `W [out, in]`.
///
/// # Errors
/// When the values are no floats, or the shapes do not fit.
pub(crate) fn linear_without_bias(x: &Tensor, weights: &Tensor) -> Result<Tensor> {
    linear_of_columns(x, 0..x.dim(1)?, weights)
}

/// `x[:, columns] W^T` for `x [rows, width]` and `W [out, columns]`.
///
/// # Errors
/// When the values are no floats, or the shapes do not fit.
pub(crate) fn linear_of_columns(x: &Tensor, columns: Range<usize>, weights: &Tensor) -> Result<Tensor> {
    if is_ours(x) { x.contiguous()?.apply_op2(weights, Linear { columns }) } else { plain::linear_of_columns(x, columns, weights) }
}

/// `relu(x + bias)` for `x [rows, n]` and `bias [1, n]`, times constants of the shape of x, none below 0: a hidden layer behind its linear map, with the factors of
/// [`dropout`](crate::noise::dropout).
///
/// # Errors
/// When the values are no floats, or the shapes do not fit.
pub(crate) fn hidden(x: &Tensor, bias: &Tensor, factors: Option<Tensor>) -> Result<Tensor> {
    if is_ours(x) { x.contiguous()?.apply_op2(bias, Hidden { factors }) } else { plain::hidden(x, bias, factors) }
}

/// The sums of a row of users and a row of items for each pair, `[R, dim]`; `places` are those of either row, `[R]` of `u32`.
///
/// # Errors
/// When the values are no floats, or the shapes do not fit.
pub(crate) fn sums_of_pairs(users: &Tensor, items: &Tensor, places: [&Tensor; 2]) -> Result<Tensor> {
    rows_of_pairs([users, items], places, 0..users.dim(1)?, Combine::Sum)
}

/// The products, number by number, of some columns of a row of users and of a row of items for each pair, `[R, columns]`; `places` are those of
/// either row, `[R]` of `u32`.
///
/// # Errors
/// When the values are no floats, or the shapes do not fit.
pub(crate) fn products_of_pairs(users: &Tensor, items: &Tensor, places: [&Tensor; 2], columns: Range<usize>) -> Result<Tensor> {
    rows_of_pairs([users, items], places, columns, Combine::Product)
}

fn rows_of_pairs([users, items]: [&Tensor; 2], places: [&Tensor; 2], columns: Range<usize>, combine: Combine) -> Result<Tensor> {
    if !is_ours(users) {
        return plain::rows_of_pairs([users, items], places, columns, combine);
    }
    users.contiguous()?.apply_op2(&items.contiguous()?, PairRows::new(places, columns, combine)?)
}

/// `x` times the normal distribution function of x (Hendrycks and Gimpel 2016).
///
/// # Errors
/// When the values are no floats.
pub(crate) fn gelu(x: &Tensor) -> Result<Tensor> {
    if is_ours(x) { x.contiguous()?.apply_op1(Gelu) } else { plain::gelu(x) }
}

/// Numbers times constants of the same shape, which have no derivative.
///
/// # Errors
/// When the values are no floats, or of two types.
pub(crate) fn times_constants(values: &Tensor, constants: Tensor) -> Result<Tensor> {
    if is_ours(values) { values.contiguous()?.apply_op1(Times(constants)) } else { values * constants }
}

/// The softmax of square matrices `[matrices * n, n]`, one below the other, each row over its places up to the diagonal; zeros behind it.
///
/// # Errors
/// When the values are no floats.
pub(crate) fn causal_softmax(scores: &Tensor) -> Result<Tensor> {
    if is_ours(scores) { scores.contiguous()?.apply_op1(CausalSoftmax) } else { plain::causal_softmax(scores) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_derivatives, assert_single_precision, matrix};
    use candle_core::{DType, Device, Var};

    #[test]
    fn rows_have_length_one_and_zeros_stay() {
        let rows = Tensor::new(&[[3.0f32, 4.0], [0.0, 0.0], [0.0, -1e-20]], &Device::Cpu).unwrap();
        let found: Vec<Vec<f32>> = unit_rows(&rows).unwrap().to_vec2().unwrap();
        assert_eq!((&found[0], &found[1]), (&vec![0.6, 0.8], &vec![0.0, 0.0]));
        assert!(found[2][1].is_finite());
    }

    #[test]
    fn negative_numbers_leak() {
        let values = Tensor::new(&[2.0f64, -5.0, 0.0], &Device::Cpu).unwrap();
        assert_eq!(leaky_relu(&values, 0.2).unwrap().to_vec1::<f64>().unwrap(), [2.0, -1.0, 0.0]);
    }

    #[test]
    fn rows_are_normalised() {
        let rows = Tensor::new(&[[1.0f64, 3.0], [2.0, 2.0]], &Device::Cpu).unwrap();
        let row = |values: [f64; 2]| Tensor::new(&[values], &Device::Cpu).unwrap();
        let found: Vec<Vec<f64>> = layer_norm(&rows, &row([2.0, 3.0]), &row([0.5, -1.0])).unwrap().to_vec2().unwrap();
        assert!((found[0][0] + 1.5).abs() < 1e-9 && (found[0][1] - 2.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found[1], [0.5, -1.0]);
    }

    /// By candle's operations.
    #[test]
    fn maps_are_those_of_candle() {
        let (x, weights, bias) =
            (matrix([7, 3], |number| number.sin()), matrix([5, 3], |number| (2.0 * number).cos()), matrix([1, 5], |number| number));
        let expected = x.matmul(&weights.t().unwrap()).unwrap().broadcast_add(&bias).unwrap();
        let close = |found: &Tensor, expected: &Tensor| {
            let [found, expected] = [found, expected].map(|tensor| tensor.to_vec2::<f64>().unwrap().concat());
            assert!(
                found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12),
                "{found:?} {expected:?}"
            );
        };
        close(&linear(&x, &weights, &bias).unwrap(), &expected);
        close(&gelu(&x).unwrap(), &x.gelu_erf().unwrap());
        close(&tanh(&x).unwrap(), &x.tanh().unwrap());
        let row = bias.narrow(1, 0, 3).unwrap().contiguous().unwrap();
        close(&add_bias(&x, &row).unwrap(), &x.broadcast_add(&row).unwrap());
        let zero = Var::from_tensor(&Tensor::zeros((1, 1), DType::F64, &Device::Cpu).unwrap()).unwrap();
        let gradients = gelu(&zero).unwrap().sum_all().unwrap().backward().unwrap();
        assert_eq!(gradients.get(&zero).unwrap().to_vec2::<f64>().unwrap(), [[0.5]]);
    }

    /// Two matrices; what stands behind the diagonal counts for nothing, however large.
    #[test]
    fn attention_looks_at_nothing_that_comes_later() {
        let scores = Tensor::new(&[[7.0f64, 1e9], [0.0, 3.0f64.ln()], [-2.0, f64::INFINITY], [500.0, 500.0]], &Device::Cpu).unwrap();
        let found: Vec<Vec<f64>> = causal_softmax(&scores).unwrap().to_vec2().unwrap();
        assert_eq!((&found[0], &found[2], &found[3]), (&vec![1.0, 0.0], &vec![1.0, 0.0], &vec![0.5, 0.5]));
        assert!((found[1][0] - 0.25).abs() < 1e-12 && (found[1][1] - 0.75).abs() < 1e-12);
    }

    #[test]
    fn single_precision_is_double_precision_rounded() {
        let square = [matrix([40, 20], |number| 4.0 * (0.3 + 1.7 * number).sin())];
        assert_single_precision(|given| gelu(&given[0]), &square);
        assert_single_precision(|given| tanh(&given[0]), &square);
        assert_single_precision(|given| causal_softmax(&given[0]), &square);
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let (rows, weights) = (matrix([4, 3], |number| (0.3 + 1.7 * number).sin()), matrix([4, 3], |number| (0.8 + 1.3 * number).cos()));
        let weigh = |tensor: Tensor| (tensor * &weights).unwrap().sum_all().unwrap();
        assert_derivatives(|given| weigh(unit_rows(&given[0]).unwrap()), std::slice::from_ref(&rows));
        assert_derivatives(|given| weigh(leaky_relu(&given[0], 0.2).unwrap()), std::slice::from_ref(&rows));
        let square = |given: &[Tensor]| {
            weigh(
                causal_softmax(&Tensor::cat(&[&given[0], &given[0].narrow(0, 0, 2).unwrap()], 0).unwrap())
                    .unwrap()
                    .narrow(0, 1, 4)
                    .unwrap(),
            )
        };
        assert_derivatives(square, std::slice::from_ref(&rows));
        let of_map = [rows.clone(), matrix([3, 3], |number| (0.2 * number).cos()), matrix([1, 3], |number| 0.3 - number)];
        assert_derivatives(|given| weigh(linear(&given[0], &given[1], &given[2]).unwrap()), &of_map);
        let with_bias = [rows.clone(), matrix([1, 3], |number| 0.3 - number)];
        assert_derivatives(|given| weigh(add_bias(&given[0], &given[1]).unwrap()), &with_bias);
        assert_derivatives(|given| weigh(gelu(&given[0]).unwrap()), std::slice::from_ref(&rows));
        assert_derivatives(|given| weigh(tanh(&given[0]).unwrap()), std::slice::from_ref(&rows));
        assert_derivatives(|given| weigh(times_constants(&given[0], weights.clone()).unwrap()), std::slice::from_ref(&rows));
        let of_norm = [rows.clone(), matrix([1, 3], |number| 0.5 + number), matrix([1, 3], |number| 0.1 * number)];
        assert_derivatives(|given| weigh(layer_norm(&given[0], &given[1], &given[2]).unwrap()), &of_norm);
        let zero = Var::from_tensor(&Tensor::zeros((1, 3), DType::F64, &Device::Cpu).unwrap()).unwrap();
        let gradients = leaky_relu(&zero, 0.2).unwrap().sum_all().unwrap().backward().unwrap();
        assert_eq!(gradients.get(&zero).unwrap().to_vec2::<f64>().unwrap(), [[0.2; 3]]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let message = unit_rows(&Tensor::new(&[[1u32, 2]], &Device::Cpu).unwrap()).unwrap_err().to_string();
        assert!(message.contains("no floats, expected f32 or f64"), "{message}");
        let message = add_bias(&matrix([2, 3], |number| number), &matrix([1, 2], |number| number)).unwrap_err().to_string();
        assert!(message.contains("a bias of 2 numbers where rows have 3"), "{message}");
    }
}
