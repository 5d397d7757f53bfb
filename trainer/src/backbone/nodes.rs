//! Operations on the vectors of all nodes of the train graph, users before items.

mod elementwise;

use candle_core::{Result, Tensor};
use elementwise::{LeakyRelu, UnitRows};

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
    rows.contiguous()?.apply_op1(UnitRows)
}

/// `max(x, slope x)`, with the derivative `slope` at zero.
///
/// # Errors
/// When the values are no floats.
pub(crate) fn leaky_relu(values: &Tensor, slope: f64) -> Result<Tensor> {
    values.contiguous()?.apply_op1(LeakyRelu { slope })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backbone::testing::{assert_derivatives, matrix};
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
    fn derivatives_are_those_of_differences() {
        let (rows, weights) = (matrix([4, 3], |number| (0.3 + 1.7 * number).sin()), matrix([4, 3], |number| (0.8 + 1.3 * number).cos()));
        let weigh = |tensor: Tensor| (tensor * &weights).unwrap().sum_all().unwrap();
        assert_derivatives(|given| weigh(unit_rows(&given[0]).unwrap()), std::slice::from_ref(&rows));
        assert_derivatives(|given| weigh(leaky_relu(&given[0], 0.2).unwrap()), std::slice::from_ref(&rows));
        let zero = Var::from_tensor(&Tensor::zeros((1, 3), DType::F64, &Device::Cpu).unwrap()).unwrap();
        let gradients = leaky_relu(&zero, 0.2).unwrap().sum_all().unwrap().backward().unwrap();
        assert_eq!(gradients.get(&zero).unwrap().to_vec2::<f64>().unwrap(), [[0.2; 3]]);
    }

    #[test]
    fn what_is_no_float_is_refused() {
        let message = unit_rows(&Tensor::new(&[[1u32, 2]], &Device::Cpu).unwrap()).unwrap_err().to_string();
        assert!(message.contains("no floats, expected f32 or f64"), "{message}");
    }
}
