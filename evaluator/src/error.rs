//! What can go wrong while ranking and testing.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of the evaluator. Each names the place and the values.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Storage or the dataset contract.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A scorer that does not hold what the contract says.
    #[error("{at}: {reason}")]
    Scorer {
        /// The checkpoint.
        at: String,
        /// What is wrong, with the values.
        reason: String,
    },
    /// A metric written in a way that is not known.
    #[error("`{text}` is no metric: {reason}")]
    Metric {
        /// The text as given.
        text: String,
        /// What was expected.
        reason: String,
    },
}
