//! Item-to-item weights most of which are zero: scores are as for [`ItemWeights`](super::ItemWeights) (nearest items, SLIM).

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

/// Weights from items to items.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseItemWeights {
    /// `[items, items]`
    pub weights: SparseMatrix,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SparseItemWeightSizes {
    items: usize,
    entries: usize,
}

impl ScorerKind for SparseItemWeights {
    fn items(&self) -> usize {
        self.weights.rows()
    }

    fn users(&self) -> Option<usize> {
        None
    }

    fn values(&self) -> Vec<f32> {
        self.weights.values().to_vec()
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_square(&self.weights)
    }

    fn scores<'a>(&'a self, history: &'a Interactions, _is_ordered: bool, _memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Ok(Box::new(SparseRows::of_items(&self.weights, history)))
    }
}

impl Stored for SparseItemWeights {
    type Sizes = SparseItemWeightSizes;

    fn sizes(&self) -> SparseItemWeightSizes {
        SparseItemWeightSizes { items: self.weights.rows(), entries: self.weights.entries() }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        sparse(&self.weights)
    }

    fn read(sizes: SparseItemWeightSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        Ok(Self { weights: tensors.sparse_matrix(sizes.items, sizes.entries)? })
    }
}
