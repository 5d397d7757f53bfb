//! Wrong flags.

/// A flag that asks for something that is not there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);
