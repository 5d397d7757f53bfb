//! User and item vectors and how they make a score. Popularity is one of dimension 1.

use super::{
    Matrix, ScorerKind, Similarity,
    kind::Stored,
    scores::{Scores, vectors::Vectors},
    tensors::{Tensors, check_finite, dense},
};
use crate::Result;
use dataset::Interactions;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};

/// Matrix factorisation, and every model whose scores are a similarity of two vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// `[users, dim]`
    pub users: Matrix,
    /// `[items, dim]`
    pub items: Matrix,
    /// How a row of each makes a score.
    pub similarity: Similarity,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactorSizes {
    pub(super) similarity: Similarity,
    pub(super) users: usize,
    pub(super) items: usize,
    pub(super) dim: usize,
}

impl ScorerKind for Factors {
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
        let Self { users, items, .. } = self;
        check_finite(&[("users", users), ("items", items)])?;
        if users.dim != items.dim {
            return Err(format!("user vectors have {} dimensions, item vectors {}", users.dim, items.dim));
        }
        Ok(())
    }

    fn scores<'a>(&'a self, history: &'a Interactions, is_ordered: bool, memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Ok(Box::new(Vectors::new(&self.users, &self.items, self.similarity, is_ordered.then_some(history), memory)))
    }
}

impl Stored for Factors {
    type Sizes = FactorSizes;

    fn sizes(&self) -> FactorSizes {
        let Self { users, items, similarity } = self;
        FactorSizes { similarity: *similarity, users: users.rows, items: items.rows, dim: items.dim }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        vec![dense("users", &self.users), dense("items", &self.items)]
    }

    fn read(FactorSizes { similarity, users, items, dim }: FactorSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        Ok(Self { users: tensors.matrix("users", users, dim)?, items: tensors.matrix("items", items, dim)?, similarity })
    }
}
