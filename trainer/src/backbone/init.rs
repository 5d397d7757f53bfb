//! How parameter tables start.

use serde::{Deserialize, Serialize};

/// `init` of a backbone: `{kind: xavier-normal}`, `{kind: normal, std: 1.0}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Init {
    /// Normal with variance 2 / (rows + dim), of each table.
    XavierNormal(XavierNormal),
    /// Normal with a given standard deviation.
    Normal(Normal),
}

/// `xavier-normal` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XavierNormal {}

/// `normal` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Standard deviation, above 0.
    pub std: f64,
}

impl Default for Init {
    fn default() -> Self {
        Self::XavierNormal(XavierNormal {})
    }
}
