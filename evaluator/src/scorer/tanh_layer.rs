//! One layer of tanh that scores a pair of vectors: collaborative filtering by a network that looks at both.
//!
//! ```text
//! s(u, i) = sum_k w_k tanh(p_k q_k + a_k + c_k)        u = [p, a],   i = [q, c];   without the products u = a and i = c
//! ```
//! What a layer makes of either vector alone, `a` and `c`, is made once for each user and item.

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

/// Vectors of users and items, and the weights of the layer's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct TanhLayer {
    /// `[users, dim]`: what is multiplied, if anything, then what is added.
    pub users: Matrix,
    /// `[items, dim]`
    pub items: Matrix,
    /// w: `[1, numbers of the layer]`, of which vectors have one each, or two.
    pub weights: Matrix,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TanhLayerSizes {
    users: usize,
    items: usize,
    dim: usize,
    layer: usize,
}

impl ScorerKind for TanhLayer {
    fn items(&self) -> usize {
        self.items.rows
    }

    fn users(&self) -> Option<usize> {
        Some(self.users.rows)
    }

    fn values(&self) -> Vec<f32> {
        [&*self.users.values, &*self.items.values].concat()
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_finite(&[("users", &self.users), ("items", &self.items), ("weights", &self.weights)])?;
        let layer = self.weights.dim;
        for (side, matrix) in [("user", &self.users), ("item", &self.items)] {
            if matrix.dim != layer && matrix.dim != 2 * layer || matrix.dim != self.users.dim {
                return Err(format!(
                    "{side} vectors have {} numbers where the layer has {layer}; both sides have one or two for each",
                    matrix.dim
                ));
            }
        }
        match self.weights.rows {
            1 => Ok(()),
            rows => Err(format!("`weights` has {rows} rows where 1 is expected")),
        }
    }

    fn scores<'a>(&'a self, _history: &'a Interactions, _is_ordered: bool, _memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Ok(Box::new(NetworkScores::new(self)))
    }
}

impl Stored for TanhLayer {
    type Sizes = TanhLayerSizes;

    fn sizes(&self) -> TanhLayerSizes {
        TanhLayerSizes { users: self.users.rows, items: self.items.rows, dim: self.users.dim, layer: self.weights.dim }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        vec![dense("users", &self.users), dense("items", &self.items), dense("weights", &self.weights)]
    }

    fn read(TanhLayerSizes { users, items, dim, layer }: TanhLayerSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        let matrix = |name: &str, rows: usize, dim: usize| tensors.matrix(name, rows, dim);
        Ok(Self { users: matrix("users", users, dim)?, items: matrix("items", items, dim)?, weights: matrix("weights", 1, layer)? })
    }
}
