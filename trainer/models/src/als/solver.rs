//! How a row's equations are solved.

use super::{blocks::Blocks, conjugate::Conjugate, rows::RowSolver};
use serde::{Deserialize, Serialize};

/// `solver` of models by least squares: `{kind: cholesky}`, `{kind: conjugate-gradient, steps: 3}`, `{kind: subspace, block: 32}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Exactly.
    Cholesky(Cholesky),
    /// Some steps towards the solution, from where the row stands.
    ConjugateGradient(ConjugateGradient),
    /// Some of a row's numbers after the others, each time exactly (iALS++).
    Subspace(Subspace),
}

/// `cholesky` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cholesky {}

/// `conjugate-gradient` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConjugateGradient {
    /// Steps of a row in a half sweep, at least 1.
    #[serde(default = "three")]
    pub steps: u32,
}

/// `subspace` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subspace {
    /// Numbers of a row that are solved together, at most all of them.
    pub block: u32,
}

fn three() -> u32 {
    3
}

impl Default for Solver {
    fn default() -> Self {
        Self::Cholesky(Cholesky {})
    }
}

impl Solver {
    /// Whether vectors of this length can be solved so.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub(in super::super) fn check(self, dim: u32) -> Result<(), String> {
        match self {
            Self::ConjugateGradient(ConjugateGradient { steps: 0 }) => Err("steps is 0, expected at least 1".to_owned()),
            Self::Subspace(Subspace { block }) if !(1..=dim).contains(&block) => {
                Err(format!("block is {block}, expected 1 to dim, which is {dim}"))
            }
            Self::Cholesky(_) | Self::ConjugateGradient(_) | Self::Subspace(_) => Ok(()),
        }
    }

    /// What a thread needs to solve rows of this length.
    pub(super) fn for_thread(self, dim: usize) -> Box<dyn RowSolver> {
        match self {
            Self::Cholesky(_) => Box::new(Blocks::new(dim, dim)),
            Self::ConjugateGradient(ConjugateGradient { steps }) => Box::new(Conjugate::new(dim, steps)),
            Self::Subspace(Subspace { block }) => Box::new(Blocks::new(dim, block as usize)),
        }
    }

    /// Bytes of that, with so many positives of a row at most, in lists that may grow by doubling.
    pub(in super::super) fn bytes(self, dim: u32, positives: u64) -> u64 {
        let dim = u64::from(dim);
        match self {
            Self::Cholesky(_) => Blocks::bytes(dim, dim, positives),
            Self::ConjugateGradient(_) => Conjugate::bytes(dim, positives),
            Self::Subspace(Subspace { block }) => Blocks::bytes(dim, u64::from(block), positives),
        }
    }
}
