//! A small network that scores a pair of vectors: neural matrix factorisation.
//!
//! ```text
//! s(u, i) = sum of p_k q_k over the first g numbers + n(relu(p + q)) over the others
//! n(h) = W_L relu(... relu(W_1 h + b_1) ...) + b_L            the last of the layers has one number
//! ```
//! The first layer of a network on both vectors is a sum of a part of either, so that it is made once for each user and item.

use super::Matrix;

/// What scores pairs of vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// g: the first numbers of both vectors, whose products are added up. The others are what either side adds to the first hidden layer.
    pub product: usize,
    /// The layers after the first, the last of which has one output; none where there is no hidden layer.
    pub layers: Vec<Layer>,
}

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// `[out, in]`
    pub weights: Matrix,
    /// `[1, out]`
    pub bias: Matrix,
}

impl Network {
    /// Numbers of the first hidden layer.
    pub(crate) fn hidden(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.weights.dim)
    }

    /// Numbers of the widest layer.
    pub(crate) fn widest(&self) -> usize {
        self.layers.iter().map(|layer| layer.weights.rows.max(layer.weights.dim)).max().unwrap_or(0)
    }

    /// Checks that the layers follow each other and end in one number, for vectors of `dim` numbers.
    pub(super) fn check(&self, dim: usize) -> Result<(), String> {
        if self.product + self.hidden() != dim {
            return Err(format!(
                "vectors have {dim} numbers where the network has {} products and {} hidden ones",
                self.product,
                self.hidden()
            ));
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let (out, next) = (layer.weights.rows, self.layers.get(at + 1).map_or(1, |layer| layer.weights.dim));
            if out != next {
                return Err(format!("layer {} has {out} numbers where {next} are expected", at + 1));
            }
            if (layer.bias.rows, layer.bias.dim) != (1, out) {
                return Err(format!(
                    "the bias of layer {} is [{}, {}] where [1, {out}] is expected",
                    at + 1,
                    layer.bias.rows,
                    layer.bias.dim
                ));
            }
        }
        Ok(())
    }
}
