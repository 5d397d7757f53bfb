//! User-to-user weights: a user's scores are the sum of the train rows of the users in its row, each times the weight (nearest users).

use super::{
    ScorerKind, SparseMatrix,
    kind::Stored,
    scores::{Scores, sparse_rows::SparseRows},
    tensors::{Tensors, check_square, sparse},
};
use crate::Result;
use dataset::Interactions;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};

/// Weights from users to users.
#[derive(Clone, Debug, PartialEq)]
pub struct UserNeighbours {
    /// `[users, users]`
    pub weights: SparseMatrix,
    /// The number of items.
    pub items: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserNeighbourSizes {
    users: usize,
    items: usize,
    entries: usize,
}

impl ScorerKind for UserNeighbours {
    fn items(&self) -> usize {
        self.items
    }

    fn users(&self) -> Option<usize> {
        Some(self.weights.rows())
    }

    fn values(&self) -> Vec<f32> {
        self.weights.values().to_vec()
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_square(&self.weights)
    }

    fn scores<'a>(&'a self, history: &'a Interactions, _is_ordered: bool, _memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Ok(Box::new(SparseRows::of_neighbours(&self.weights, history, self.items)))
    }
}

impl Stored for UserNeighbours {
    type Sizes = UserNeighbourSizes;

    fn sizes(&self) -> UserNeighbourSizes {
        UserNeighbourSizes { users: self.weights.rows(), items: self.items, entries: self.weights.entries() }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        sparse(&self.weights)
    }

    fn read(sizes: UserNeighbourSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        Ok(Self { weights: tensors.sparse_matrix(sizes.users, sizes.entries)?, items: sizes.items })
    }
}
