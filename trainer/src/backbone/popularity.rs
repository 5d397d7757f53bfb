//! Popularity: every user is shown the items with the most train interactions.
//!
//! ```text
//! s(u, i) = number of train interactions of i
//! ```
//! The floor that every learned model must pass.

use crate::tables::Tables;
use dataset::Dataset;
use evaluator::{Scorer, Similarity};
use serde::{Deserialize, Serialize};

/// `popularity` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Popularity {}

/// The counts as item vectors of dimension 1.
pub(crate) fn fit(dataset: &Dataset) -> Scorer {
    let mut tables = Tables::zeros(dataset.users(), dataset.items(), 1);
    tables.users.values.fill(1.0);
    tables.items.values = dataset.train.item_counts(dataset.items()).into_iter().map(|count| count as f32).collect();
    Scorer::Factors { users: tables.users, items: tables.items, similarity: Similarity::Dot }
}
