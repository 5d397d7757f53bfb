//! What can go wrong while a model is fitted or read.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of models.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Storage or the dataset contract.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// Storing a model or ranking the validation part.
    #[error(transparent)]
    Evaluator(evaluator::Error),
    /// A tensor operation.
    #[error("a tensor operation failed")]
    Tensor(#[from] candle_core::Error),
    /// The model cannot be had of this dataset, or not with these settings.
    #[error("{0}")]
    Impossible(String),
    /// The model needs more memory than it may use.
    #[error("{what} needs {} and the limit is {}; raise the limit (--memory) or leave it out", size(*.needed), size(*.limit))]
    Memory {
        /// What needs the memory.
        what: String,
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that may be used.
        limit: usize,
    },
    /// A number that is no number: the values are too extreme.
    #[error("epoch {epoch}, step {step}: {tensor} is not finite; a smaller learning rate or a larger temperature may help")]
    NotFinite {
        /// The epoch, counted from 1.
        epoch: u32,
        /// The step, counted from 1 within the epoch.
        step: u32,
        /// The first tensor that is not finite.
        tensor: String,
    },
}

impl Error {
    /// Whether the same would fail in the same way again, on any machine.
    pub fn repeats(&self) -> bool {
        match self {
            Self::NotFinite { .. } | Self::Impossible(_) => true,
            Self::Evaluator(error) => matches!(error, evaluator::Error::NotFinite { .. } | evaluator::Error::Scorer { .. }),
            Self::Dataset(_) | Self::Tensor(_) | Self::Memory { .. } => false,
        }
    }

    /// Whether a stored file is at fault, which is made again by training again.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Dataset(error) if error.is_damage())
    }
}

impl From<evaluator::Error> for Error {
    /// A store that fails is one, whoever wrote to it.
    fn from(error: evaluator::Error) -> Self {
        match error {
            evaluator::Error::Dataset(error) => Self::Dataset(error),
            other => Self::Evaluator(other),
        }
    }
}

/// Bytes for people.
fn size(bytes: usize) -> String {
    match bytes as f64 / f64::from(1 << 20) {
        mib if mib < 1024.0 => format!("{mib:.1} MiB"),
        mib => format!("{:.1} GiB", mib / 1024.0),
    }
}
