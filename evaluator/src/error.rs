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
    /// Methods that cannot be compared.
    #[error("{dataset}: {reason}")]
    Comparison {
        /// The dataset.
        dataset: String,
        /// Why the methods cannot be compared, with the values.
        reason: String,
    },
    /// A setting out of its range.
    #[error("`{key}` is {value}: expected {expected}")]
    Setting {
        /// The key in the sweep file.
        key: &'static str,
        /// The value as given.
        value: String,
        /// What values it may have.
        expected: &'static str,
    },
    /// A scorer and interactions that cannot be ranked together.
    #[error("cannot rank: {reason}")]
    Ranking {
        /// What does not fit, with the values.
        reason: String,
    },
    /// A score that is NaN or infinite.
    #[error("the score of user {user} for item {item} (dense ids) is not finite")]
    NotFinite {
        /// The user's dense id.
        user: u32,
        /// The item's dense id.
        item: u32,
    },
    /// Settings of an evaluation that cannot be followed.
    #[error("{reason}")]
    Settings {
        /// The key at fault, its value and what was expected.
        reason: String,
    },
    /// One of several trials could not be ranked.
    #[error("trial {trial}")]
    Trial {
        /// The trial's id.
        trial: String,
        /// Why the trial could not be ranked.
        source: Box<Error>,
    },
}

impl Error {
    /// Whether a stored file is at fault, which is made again by training again.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Dataset(error) => error.is_damage() || matches!(error, dataset::Error::NotFound { .. }),
            Self::Scorer { .. } => true,
            Self::Trial { source, .. } => source.is_damage(),
            _ => false,
        }
    }

    /// Whether the store is at fault, and no trial.
    pub fn is_of_the_store(&self) -> bool {
        match self {
            Self::Dataset(error) => matches!(error, dataset::Error::Store { .. }),
            Self::Trial { source, .. } => source.is_of_the_store(),
            _ => false,
        }
    }
}
