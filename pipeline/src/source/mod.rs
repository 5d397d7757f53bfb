//! Where raw interactions come from. One file for each format.

use serde::{Deserialize, Serialize};

/// `source` in a sweep file, by its `format`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A seeded generator.
    Synthetic(Synthetic),
}

/// Placeholder until the file is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synthetic {}
