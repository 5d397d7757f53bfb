//! What can go wrong with a stored dataset.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of storage and of the dataset contract. Each names the place and the values.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no path or URL of a store that this build knows.
    #[error("`{text}` is not a usable location: {reason} (expected a path, or a file://, s3://, gs://, az:// or memory:// URL)")]
    Url {
        /// The text as given.
        text: String,
        /// Why it was refused.
        reason: String,
    },
    /// Nothing is stored there.
    #[error("{at} does not exist")]
    NotFound {
        /// The missing file.
        at: String,
    },
    /// The store failed: permissions, a full disk, the network.
    #[error("cannot {action} {at}")]
    Store {
        /// What was tried: `read`, `write`, `list` or `delete`.
        action: &'static str,
        /// The file or folder.
        at: String,
        /// The store's own error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A stored table or manifest does not hold what the contract says.
    #[error("{at}: {reason}")]
    Content {
        /// The file.
        at: String,
        /// What is wrong, with the values.
        reason: String,
    },
}

impl Error {
    /// A [`Error::Content`] at a file.
    pub fn content(at: impl ToString, reason: impl ToString) -> Self {
        Self::Content { at: at.to_string(), reason: reason.to_string() }
    }

    pub(crate) fn store(action: &'static str, at: impl ToString, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Store { action, at: at.to_string(), source: Box::new(source) }
    }
}
