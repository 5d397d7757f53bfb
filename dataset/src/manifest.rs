//! `manifest.json`: what a prepared dataset holds and how it came to be. It is written last; a folder without one is unfinished.

use crate::Files;
use serde::{Deserialize, Serialize};

/// The version of the on-disk contract: 3, as tables have the interactions' places where these are known.
pub const SCHEMA_VERSION: u32 = 3;

/// What to do where a stored dataset is damaged.
pub(crate) const REMEDY: &str = "delete the folder and prepare again";

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
    /// Interactions in the histories of users whom no training sees; none where the split holds no users out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_in: Option<usize>,
    /// Interactions in validation.
    pub validation: usize,
    /// Interactions in test.
    pub test: usize,
    /// Whether users and items are one set of nodes, of which none is ranked for itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_node_set: bool,
    /// Whether the tables say in which order a user's interactions came: `position`.
    pub ordered: bool,
    /// What was left after each step of the preparation, in order.
    pub steps: Vec<Counts>,
    /// The resolved settings that the fingerprint covers.
    pub settings: serde_json::Value,
    /// Size and checksum of each table.
    pub files: Files,
}

/// More than any machine holds, and few enough to reckon with: users, items, interactions of a part, bytes of a table.
const MOST_USERS: usize = 1 << 31;
const MOST_ITEMS: usize = 1 << 28;
const MOST_INTERACTIONS: usize = 1 << 40;
const MOST_BYTES: u64 = 1 << 50;

impl Manifest {
    /// Interactions of all parts.
    pub fn interactions(&self) -> usize {
        self.train + self.fold_in.unwrap_or_default() + self.validation + self.test
    }

    /// Checks that the counts can be counts, so that sizes that follow from them are numbers.
    ///
    /// # Errors
    /// A sentence that names the first that cannot.
    pub(crate) fn check(&self) -> Result<(), String> {
        let ids = [("users", self.users, MOST_USERS), ("items", self.items, MOST_ITEMS)];
        let fold_in = ("fold_in", self.fold_in.unwrap_or_default());
        let parts = [("train", self.train), fold_in, ("validation", self.validation), ("test", self.test)];
        let parts = parts.map(|(key, count)| (key, count, MOST_INTERACTIONS));
        if let Some((key, count, most)) = ids.into_iter().chain(parts).find(|(_, count, most)| count > most) {
            return Err(format!("`{key}` is {count}: expected at most {most}"));
        }
        match self.files.values().find(|file| file.bytes > MOST_BYTES) {
            Some(file) => Err(format!("`bytes` of a table is {}: expected at most {MOST_BYTES}", file.bytes)),
            None => Ok(()),
        }
    }
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
