//! `manifest.json`: what a prepared dataset holds and how it came to be. It is written last; a folder without one is unfinished.

use crate::Files;
use serde::{Deserialize, Serialize};

/// The version of the on-disk contract: 2, as the manifest has a checksum of its own.
pub const SCHEMA_VERSION: u32 = 2;

/// The description of a prepared dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// The dataset's name in the sweep file.
    pub name: String,
    /// Hash of all that determines the content.
    pub fingerprint: String,
    /// Number of users: dense ids are below it.
    pub users: usize,
    /// Number of items: dense ids are below it.
    pub items: usize,
    /// Interactions in train.
    pub train: usize,
    /// Interactions in validation.
    pub validation: usize,
    /// Interactions in test.
    pub test: usize,
    /// What was left after each step of the preparation, in order.
    pub steps: Vec<Counts>,
    /// The resolved settings that the fingerprint covers.
    pub settings: serde_json::Value,
    /// Size and checksum of each table.
    pub files: Files,
}

/// What was left after one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The step, in words: `read`, `rating at least 3`, `10-core (4 rounds)`.
    pub step: String,
    /// Users with at least one interaction.
    pub users: usize,
    /// Items with at least one interaction.
    pub items: usize,
    /// Interactions.
    pub interactions: usize,
}
