//! Matrices of vectors, what a score of two vectors means, and the functions of numbers that loops over them need. Training and ranking both stand on it; it
//! reads and writes nothing.

pub mod elementary;
mod matrix;

pub use matrix::Matrix;

use serde::{Deserialize, Serialize};

/// How two vectors make a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Similarity {
    /// `p . q`
    Dot,
    /// `p . q / (|p| |q|)`; 0 where a vector is zero.
    Cosine,
    /// `-|p - q|^2`
    NegativeSquaredDistance,
}

/// Where an item stands among items of the same score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The item stands behind all others of the same score.
    Pessimistic,
    /// The item stands before all others of the same score.
    Optimistic,
}
