//! The vectors of a model. A format is one file here, and its lines in [`ExportFormat`](super::ExportFormat).
//!
//! ```text
//! users, items                  as the model has them, with its similarity
//! index_queries, index_items    with the similarity folded in: the inner product of two rows orders items as the model does
//! ```
//! An index of inner products, such as faiss's `IndexFlatIP` or hnswlib's space `ip`, takes the latter as they are.

mod folded;
pub(super) mod npy;
pub(super) mod parquet;
pub(super) mod safetensors;

use crate::{model::Model, usage::Usage};
use anyhow::Result;
use dataset::Dataset;
use evaluator::{Factors, Histories, Matrix, Scorer, Similarity};
use folded::{folded_items, folded_users};

/// The vectors of a model, and whose they are.
pub(super) struct ModelVectors<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) users: &'a Matrix,
    pub(super) items: &'a Matrix,
    pub(super) similarity: Similarity,
}

/// One of the tables that are written.
struct VectorTable<'a> {
    name: &'static str,
    /// The column of its ids.
    id: &'static str,
    ids: &'a [String],
    matrix: Matrix,
}

impl<'a> ModelVectors<'a> {
    /// The vectors of a model, where it has any; of a model of histories those that rank test.
    pub(super) fn of(model: &'a Model) -> Result<Self> {
        match &model.scorer {
            Scorer::Factors(Factors { users, items, similarity }) | Scorer::Histories(Histories { test: users, items, similarity, .. }) => {
                Ok(Self { dataset: &model.dataset, users, items, similarity: *similarity })
            }
            _ => {
                let method = &model.trial.method;
                Err(Usage(format!("{method} has no vectors whose similarity is its score; pick the trial of another method with --trial"))
                    .into())
            }
        }
    }

    /// The tables, in the order in which they are written.
    fn tables(&self) -> [VectorTable<'a>; 4] {
        let Self { dataset, users, items, similarity } = *self;
        let of_users = |name, matrix| VectorTable { name, id: "user_id", ids: &dataset.user_ids, matrix };
        let of_items = |name, matrix| VectorTable { name, id: "item_id", ids: &dataset.item_ids, matrix };
        [
            of_users("users", users.clone()),
            of_items("items", items.clone()),
            of_users("index_queries", folded_users(users, similarity)),
            of_items("index_items", folded_items(items, similarity)),
        ]
    }
}
