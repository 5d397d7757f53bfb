//! What the draws of a training are keyed by.

/// A step of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepId {
    /// Counted from 1.
    pub(crate) epoch: u32,
    /// Counted from 1 within the epoch.
    pub(crate) step: u32,
}

/// A row of a step's batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowId {
    pub(crate) step: StepId,
    /// Its place in the batch of all ranks, from 0.
    pub(crate) row: usize,
}

impl StepId {
    /// A row of this step's batch, by its place in that of all ranks.
    pub(crate) fn row(self, row: usize) -> RowId {
        RowId { step: self, row }
    }
}
