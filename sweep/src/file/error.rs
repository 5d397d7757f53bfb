//! An error in a sweep file: where, which key, what.

use dataset::quote;
use std::{fmt, sync::Arc};

/// The crate's result for everything that reads a sweep file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A position in a sweep file and the path of keys that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// `grid[0].losses[1].temperature`; empty for the whole file.
    pub path: String,
}

impl Place {
    /// The place without the path: `sweep.yaml:12:9`.
    pub fn position(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }

    /// An error here.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error { place: Some(self.clone()), message: message.into() }
    }
}

/// An error in a sweep file. Shown as `sweep.yaml:12:9: grid[0].losses[1].temperature: expected a number, found `hot``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    place: Option<Place>,
    message: String,
}

impl Error {
    /// An error of the whole file, or of something that has no line.
    pub fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into() }
    }

    /// The error at a place, unless it has one already.
    pub(super) fn or_at(mut self, place: &Place) -> Self {
        self.place.get_or_insert_with(|| place.clone());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}: ", place.position())?;
            if !place.path.is_empty() {
                write!(f, "{}: ", quote::value(&place.path))?;
            }
        }
        f.write_str(&quote::line(&self.message))
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {}", short(found)))
    }

    fn invalid_value(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {}", short(found)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(super::nearest::unknown("key", field, expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("the key `{field}` is missing"))
    }
}

/// The value that was found, in words that stay on one line.
fn short(found: serde::de::Unexpected<'_>) -> String {
    match found {
        serde::de::Unexpected::Str(text) => format!("string \"{}\"", quote::value(text)),
        other => other.to_string(),
    }
}
