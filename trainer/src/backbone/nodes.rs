//! Operations on the vectors of all nodes of the train graph, users before items.

use candle_core::{D, Result, Tensor};

/// Rows shorter than this are brought to less than length one, and zeros stay zeros.
const SHORTEST: f64 = 1e-12;

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

/// Rows at length one.
///
/// # Errors
/// Those of tensor operations.
pub(crate) fn unit_rows(rows: &Tensor) -> Result<Tensor> {
    let squares = rows.sqr()?.sum_keepdim(D::Minus1)?;
    rows.broadcast_div(&(squares + SHORTEST * SHORTEST)?.sqrt()?)
}

/// `max(x, slope x)`, with the derivative `slope` at zero.
///
/// # Errors
/// Those of tensor operations.
pub(crate) fn leaky_relu(values: &Tensor, slope: f64) -> Result<Tensor> {
    (values.relu()? * (1.0 - slope))? + (values * slope)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

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
}
