//! How parameters move.

use crate::gradient::RowGradients;
use serde::{Deserialize, Serialize};

mod adam;

pub use adam::Adam;
pub(crate) use adam::Moments;

/// `optimizer` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Adam as PyTorch has it: every row moves in every step; weight decay is added to the gradient.
    Adam(Adam),
    /// Adam on the rows that have a gradient; the others stay, and do not age.
    LazyAdam(Adam),
}

impl Optimizer {
    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Adam(adam) | Self::LazyAdam(adam) => adam.check(),
        }
    }

    /// Moves a table `[rows, dim]` against its gradients. `step` counts from 1.
    pub(crate) fn step(&self, step: u64, dim: usize, table: &mut [f32], moments: &mut Moments, gradients: &RowGradients) {
        match self {
            Self::Adam(adam) => adam.dense(step, dim, table, moments, gradients),
            Self::LazyAdam(adam) => adam.lazy(step, dim, table, moments, gradients),
        }
    }
}
