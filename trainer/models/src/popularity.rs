//! Popularity: every user is shown the items with the most train interactions.
//!
//! ```text
//! s(u, i) = number of train interactions of i
//! ```
//! The floor that every learned model must pass.

use super::{BackboneKind, Facts, FoldIn, Sizes, Stored, kind::ClosedForm};
use crate::Result;
use dataset::Dataset;
use embeddings::Tables;
use evaluator::{Factors, Scorer};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `popularity` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Popularity {}

impl BackboneKind for Popularity {
    fn facts(&self) -> Facts {
        Facts { paper: "-", cost: "one pass over the train interactions", unknown_user: "as everyone", values: "-" }
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: 1 }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::by_items_alone()
    }
}

impl ClosedForm for Popularity {
    /// The counts as item vectors of dimension 1.
    fn fit(&self, dataset: &Dataset, _memory: usize) -> Result<Scorer> {
        let mut tables = Tables::zeros(dataset.users(), dataset.items(), 1);
        tables.users.values.fill(1.0);
        tables.items.values = dataset.train.item_counts(dataset.items()).into_iter().map(|count| count as f32).collect();
        Ok(Factors { users: tables.users, items: tables.items, similarity: Similarity::Dot }.into())
    }

    fn memory(&self, Sizes { users, items, .. }: Sizes, ranking: u64) -> u64 {
        2 * (users + items) * 4 + ranking
    }

    fn operations(&self, Sizes { users, items, train, .. }: Sizes) -> Option<f64> {
        Some((users + items + train) as f64)
    }
}
