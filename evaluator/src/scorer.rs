//! What a trained model is to the evaluator: a rule that scores every item for a user.

use serde::{Deserialize, Serialize};

/// How two vectors make a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Similarity {
    /// `p . q`
    Dot,
    /// `p . q / (|p| |q|)`
    Cosine,
    /// `-|p - q|^2`
    NegativeSquaredDistance,
}

/// A row-major table of `f32`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Length of a row.
    pub dim: usize,
    /// `[rows * dim]`
    pub values: Vec<f32>,
}

impl Matrix {
    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.dim..(row + 1) * self.dim]
    }
}

/// A stored model.
#[derive(Clone, Debug, PartialEq)]
pub enum Scorer {
    /// User and item vectors and how they make a score. Popularity is one of dimension 1.
    Factors {
        /// `[users, dim]`
        users: Matrix,
        /// `[items, dim]`
        items: Matrix,
        /// How a row of each makes a score.
        similarity: Similarity,
    },
    /// Item-to-item weights `W [items, items]`: a user's scores are the sum of the rows of the user's train items (EASE).
    ItemWeights {
        /// `[items, items]`
        weights: Matrix,
    },
}
