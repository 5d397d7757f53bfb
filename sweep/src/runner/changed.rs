//! Source files that changed after a sweep was submitted.

/// The source files are not those that were submitted, and will not be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Changed(pub(super) String);
