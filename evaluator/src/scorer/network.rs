//! A small network that scores a pair of vectors: neural matrix factorisation.
//!
//! ```text
//! s(u, i) = sum of p_k q_k over the first g numbers + n(relu(p + q)) over the others
//! n(h) = W_L relu(... relu(W_1 h + b_1) ...) + b_L            the last of the layers has one number
//! ```
//! The first layer of a network on both vectors is a sum of a part of either, so that it is made once for each user and item.

use super::{
    Matrix, ScorerKind,
    kind::Stored,
    scores::{Scores, pairs::NetworkScores},
    tensors::{Tensors, check_finite, dense},
};
use crate::Result;
use dataset::Interactions;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};

/// Vectors of users and items, and the network that scores a pair of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// p: `[users, dim]`
    pub users: Matrix,
    /// q: `[items, dim]`
    pub items: Matrix,
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkSizes {
    users: usize,
    items: usize,
    product: usize,
    /// Numbers of each hidden layer.
    hidden: Vec<usize>,
}

impl Network {
    /// Numbers of the first hidden layer.
    pub(super) fn hidden(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.weights.dim)
    }

    /// Numbers of the widest layer.
    pub(super) fn widest(&self) -> usize {
        self.layers.iter().map(|layer| layer.weights.rows.max(layer.weights.dim)).max().unwrap_or(0)
    }

    /// All matrices by the names that they have in a checkpoint.
    fn matrices(&self) -> Vec<(String, &Matrix)> {
        let layers = self.layers.iter().zip(1..);
        let layers =
            layers.flat_map(|(Layer { weights, bias }, at)| [(format!("layer{at}.weights"), weights), (format!("layer{at}.bias"), bias)]);
        [("users".to_owned(), &self.users), ("items".to_owned(), &self.items)].into_iter().chain(layers).collect()
    }
}

impl ScorerKind for Network {
    fn items(&self) -> usize {
        self.items.rows
    }

    fn users(&self) -> Option<usize> {
        Some(self.users.rows)
    }

    fn values(&self) -> Vec<f32> {
        [&*self.users.values, &*self.items.values].concat()
    }

    /// Checks also that the layers follow each other and end in one number.
    fn check(&self) -> std::result::Result<(), String> {
        let matrices = self.matrices();
        check_finite(&matrices.iter().map(|(name, matrix)| (&name[..], *matrix)).collect::<Vec<_>>())?;
        for Matrix { dim, .. } in [&self.users, &self.items] {
            if self.product + self.hidden() != *dim {
                let (product, hidden) = (self.product, self.hidden());
                return Err(format!("vectors have {dim} numbers where the network has {product} products and {hidden} hidden ones"));
            }
        }
        for (at, Layer { weights, bias }) in self.layers.iter().enumerate() {
            let (out, next) = (weights.rows, self.layers.get(at + 1).map_or(1, |layer| layer.weights.dim));
            if out != next {
                return Err(format!("layer {} has {out} numbers where {next} are expected", at + 1));
            }
            if (bias.rows, bias.dim) != (1, out) {
                return Err(format!("the bias of layer {} is [{}, {}] where [1, {out}] is expected", at + 1, bias.rows, bias.dim));
            }
        }
        Ok(())
    }

    fn scores<'a>(&'a self, _history: &'a Interactions, _is_ordered: bool, _memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Ok(Box::new(NetworkScores::new(self)))
    }
}

impl Stored for Network {
    type Sizes = NetworkSizes;

    fn sizes(&self) -> NetworkSizes {
        let hidden = self.layers.iter().map(|layer| layer.weights.dim).collect();
        NetworkSizes { users: self.users.rows, items: self.items.rows, product: self.product, hidden }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        self.matrices().into_iter().map(|(name, matrix)| dense(&name, matrix)).collect()
    }

    fn read(NetworkSizes { users, items, product, hidden }: NetworkSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        let dim = hidden.first().map_or(Some(product), |&hidden| product.checked_add(hidden));
        let dim = dim.ok_or("the sizes of its vectors are too large")?;
        let layers = hidden.iter().zip(hidden.iter().skip(1).chain([&1])).zip(1..).map(|((&from, &to), at)| {
            let weights = tensors.matrix(&format!("layer{at}.weights"), to, from)?;
            Ok(Layer { weights, bias: tensors.matrix(&format!("layer{at}.bias"), 1, to)? })
        });
        let layers = layers.collect::<std::result::Result<_, String>>()?;
        Ok(Self { users: tensors.matrix("users", users, dim)?, items: tensors.matrix("items", items, dim)?, product, layers })
    }
}
