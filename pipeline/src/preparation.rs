//! One entry of `datasets` in a sweep file, resolved.

use crate::{Source, Split};
use serde::{Deserialize, Serialize};

/// How raw interactions become a prepared dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// The dataset's name in tables and folders.
    pub name: String,
    /// Where the interactions come from.
    pub source: Source,
    /// Interactions rated lower are dropped.
    #[serde(default)]
    pub min_rating: Option<f64>,
    /// The least number of interactions of every user and item that stay.
    #[serde(default)]
    pub k_core: Option<KCore>,
    /// How interactions are held out. Left out, `given`.
    #[serde(default)]
    pub split: Split,
}

/// `k_core: 10`, or `k_core: {users: 10, items: 5}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KCore {
    /// The same bound for users and items.
    Both(u32),
    /// A bound for each.
    Each(KCoreBounds),
}

/// The least number of interactions of a user and of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KCoreBounds {
    /// Of a user.
    pub users: u32,
    /// Of an item.
    pub items: u32,
}
