//! Scores that a device's own code makes for steps that are not its own.

use crate::Result;
use candle_core::Tensor;
use evaluator::Similarity;

/// Scores of drawn items by code of a device's own.
pub(crate) trait DrawnScoring: Send + Sync {
    /// Scores `[b, P + N]` of so many rows' queries, which are rows of the users' vectors, with the rows' own items, `ids [b, P + N]`; `vectors` are those of
    /// users `[., dim]` and of items `[items, dim]`.
    fn scores(&mut self, vectors: &[Tensor], queries: &[u32], ids: &[u32], similarity: Similarity) -> Result<Vec<f32>>;

    /// The gradients of the vectors of users and of items, by the derivatives `[b, P + N]` of the scores that were made last.
    fn gradients(&mut self, derivatives: &[f32]) -> Result<Vec<Tensor>>;
}
