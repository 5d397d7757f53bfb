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

use super::super::{InitialValue, Learned, Per, StateSpec, Update};
use candle_core::{Result, Tensor};

/// Inputs and outputs of each layer, for rows of `length` items.
pub(in super::super) fn layers(length: usize) -> [(usize, usize); 6] {
    let wide = 2 * length;
    [(wide, wide), (wide, wide), (2, wide), (length, wide), (wide, 8), (8, 1)]
}

/// How many parameters the network of rows of `length` items has.
pub fn parameters(length: usize) -> usize {
    layers(length).iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
}

/// A column for each layer, for rows of `length` items.
pub(in super::super) fn columns(length: usize) -> Vec<StateSpec> {
    let names = ["surrogate.flat", "surrogate.flatter", "surrogate.items", "surrogate.pairs", "surrogate.hidden", "surrogate.out"];
    let column = |(name, (inputs, outputs)): (&'static str, (usize, usize))| StateSpec {
        name,
        per: Per::Whole((inputs + 1) * outputs),
        initial: InitialValue::Uniform(1.0 / (inputs as f32).sqrt()),
        update: Update::Learned(Learned::default()),
    };
    names.into_iter().zip(layers(length)).map(column).collect()
}

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

    /// 2 * 20 * 21 + 20 * 3 + 20 * 11 + 8 * 21 + 9
    #[test]
    fn the_network_of_ten_items_has_1297_parameters() {
        let of = |column: &StateSpec| if let Per::Whole(length) = column.per { length } else { 0 };
        assert_eq!((parameters(10), columns(10).iter().map(of).sum()), (1297, 1297));
        assert_eq!(columns(10)[5].initial, InitialValue::Uniform(0.35355338));
    }
}
