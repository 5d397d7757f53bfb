//! What can go wrong while training.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of the trainer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Storage or the dataset contract.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// Ranking the validation part.
    #[error(transparent)]
    Evaluator(#[from] evaluator::Error),
    /// A tensor operation.
    #[error("a tensor operation failed")]
    Tensor(#[from] candle_core::Error),
    /// The trial cannot run on this dataset.
    #[error("{0}")]
    Impossible(String),
    /// A number that is no number: the trial's values are too extreme.
    #[error("epoch {epoch}, step {step}: {tensor} is not finite; a smaller learning rate or a larger temperature may help")]
    NotFinite {
        /// Counted from 1.
        epoch: u32,
        /// Counted from 1 within the epoch.
        step: u32,
        /// The first tensor that is not finite.
        tensor: String,
    },
    /// A finished trial that had failed before.
    #[error("{0}")]
    FailedBefore(String),
}

impl Error {
    /// Whether the same trial would fail in the same way again.
    pub fn repeats(&self) -> bool {
        matches!(self, Self::NotFinite { .. } | Self::Impossible(_))
    }
}
