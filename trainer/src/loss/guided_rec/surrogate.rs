//! The network that learns the DCG of a row.
//!
//! ```text
//! row [L, 2] of (probability, label)
//!   flat:   [2 L] -> tanh [2 L] -> tanh [2 L]
//!   pairs:  each item [2] -> tanh [2 L];  dot products of all pairs [L, L];  their mean over one side [L] -> tanh [2 L]
//! product of both [2 L] -> tanh [8] -> tanh [1]
//! ```
//! Every arrow is a linear layer with a bias. The parameters are one list, layer after layer: the matrix, one row for each output, then the
//! bias. They start uniform within one over the square root of the layer's inputs.

use crate::sampler::{Purpose, Stream};
use candle_core::{Result, Tensor};

/// Inputs and outputs of each layer, for rows of `length` items.
fn layers(length: usize) -> [(usize, usize); 6] {
    let wide = 2 * length;
    [(wide, wide), (wide, wide), (2, wide), (length, wide), (wide, 8), (8, 1)]
}

/// How many parameters the network of rows of `length` items has.
pub fn parameters(length: usize) -> usize {
    layers(length).iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
}

/// The parameters before the first step, for rows of `length` items.
pub fn initial(length: usize, seed: u64) -> Vec<f32> {
    let layer = |(at, (inputs, outputs)): (usize, (usize, usize))| {
        let mut stream = Stream::new(seed, Purpose::Parameters, 0, STEP, at as u32);
        let bound = 1.0 / (inputs as f64).sqrt();
        (0..(inputs + 1) * outputs).map(move |_| (bound * (2.0 * stream.fraction() - 1.0)) as f32)
    };
    layers(length).into_iter().enumerate().flat_map(layer).collect()
}

/// Streams of parameters have the number of their table in the place of the step: 0 users, 1 items.
const STEP: u32 = 2;

/// One estimate per row, `[B]`, from `rows [B, L, 2]` and `parameters`.
pub fn surrogate(rows: &Tensor, parameters: &Tensor) -> Result<Tensor> {
    let (count, length, _) = rows.dims3()?;
    let layer = |at: usize, x: &Tensor| layer(at, length, parameters, x);
    let flat = layer(1, &layer(0, &rows.reshape((count, 2 * length))?)?)?;
    let items = layer(2, &rows.reshape((count * length, 2))?)?.reshape((count, length, 2 * length))?;
    let products = items.matmul(&items.transpose(1, 2)?)?; // [B, L, L]
    let pairs = layer(3, &products.mean(1)?)?;
    layer(5, &layer(4, &(flat * pairs)?)?)?.squeeze(1)
}

/// What layer number `at` makes of `x [rows, inputs]`: `[rows, outputs]`.
fn layer(at: usize, length: usize, parameters: &Tensor, x: &Tensor) -> Result<Tensor> {
    let layers = layers(length);
    let start: usize = layers[..at].iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum();
    let (inputs, outputs) = layers[at];
    let weights = parameters.narrow(0, start, inputs * outputs)?.reshape((outputs, inputs))?;
    let bias = parameters.narrow(0, start + inputs * outputs, outputs)?;
    x.matmul(&weights.t()?)?.broadcast_add(&bias)?.tanh()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_of_ten_items_has_1297_parameters() {
        // 2 * 20 * 21 + 20 * 3 + 20 * 11 + 8 * 21 + 9
        assert_eq!(parameters(10), 1297);
        assert_eq!(initial(10, 1).len(), 1297);
    }

    #[test]
    fn layers_start_within_their_bounds_and_keyed_by_the_seed() {
        let first = initial(10, 1);
        let bounds = layers(10).map(|(inputs, _)| 1.0 / (inputs as f32).sqrt());
        assert!(first[..420].iter().all(|value| value.abs() <= bounds[0]));
        assert!(first[..420].iter().any(|value| value.abs() > 0.9 * bounds[0]));
        assert!(first[1288..].iter().all(|value| value.abs() <= bounds[5]));
        let mean = first.iter().sum::<f32>() / 1297.0;
        assert!(mean.abs() < 0.03, "{mean}"); // a standard error is 0.005
        assert_eq!(first, initial(10, 1));
        assert_ne!(first, initial(10, 2));
    }
}
