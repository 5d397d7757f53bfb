//! Item-to-item weights: a user's scores are the sum of the rows of the user's train items (EASE).

use super::{
    Matrix, ScorerKind,
    kind::Stored,
    scores::{Scores, dense_rows::DenseRows},
    tensors::{Tensors, check_finite, dense},
};
use crate::Result;
use dataset::Interactions;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};

/// A weight from each item to each item.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemWeights {
    /// `[items, items]`
    pub weights: Matrix,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ItemWeightSizes {
    items: usize,
}

impl ScorerKind for ItemWeights {
    fn items(&self) -> usize {
        self.weights.rows
    }

    fn users(&self) -> Option<usize> {
        None
    }

    fn values(&self) -> Vec<f32> {
        self.weights.values.clone()
    }

    fn check(&self) -> std::result::Result<(), String> {
        let weights = &self.weights;
        check_finite(&[("weights", weights)])?;
        if weights.rows != weights.dim {
            return Err(format!("item weights are [{}, {}]; they must be square", weights.rows, weights.dim));
        }
        Ok(())
    }

    fn scores<'a>(&'a self, history: &'a Interactions, _is_ordered: bool, _memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Ok(Box::new(DenseRows::new(&self.weights, history)))
    }
}

impl Stored for ItemWeights {
    type Sizes = ItemWeightSizes;

    fn sizes(&self) -> ItemWeightSizes {
        ItemWeightSizes { items: self.weights.rows }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        vec![dense("weights", &self.weights)]
    }

    fn read(ItemWeightSizes { items }: ItemWeightSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        Ok(Self { weights: tensors.matrix("weights", items, items)? })
    }
}
