//! How interactions are held out. One file for each kind.

use serde::{Deserialize, Serialize};

/// `split` in a sweep file, by its `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// The source comes split.
    Given(Given),
}

/// Placeholder until the file is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {}

impl Default for Split {
    fn default() -> Self {
        Self::Given(Given {})
    }
}
