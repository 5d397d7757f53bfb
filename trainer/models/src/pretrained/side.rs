//! The users or the items of a dataset, as the files of a model have to name them.

use super::findings::counted;
use dataset::Dataset;
use std::collections::HashMap;

/// The users or the items of a dataset.
pub struct Side<'a> {
    /// `user` or `item`.
    pub noun: &'static str,
    /// Own ids, by dense id.
    pub ids: &'a [String],
    /// Whether each has a train interaction.
    pub in_train: Vec<bool>,
    pub(super) dense: HashMap<&'a str, u32>,
}

impl<'a> Side<'a> {
    /// The users.
    pub fn users(dataset: &'a Dataset) -> Self {
        let in_train = (0..dataset.users()).map(|user| !dataset.train.row(user).is_empty()).collect();
        Self::new("user", &dataset.user_ids, in_train)
    }

    /// The items.
    pub fn items(dataset: &'a Dataset) -> Self {
        let in_train = dataset.train.item_counts(dataset.items()).into_iter().map(|count| count > 0).collect();
        Self::new("item", &dataset.item_ids, in_train)
    }

    fn new(noun: &'static str, ids: &'a [String], in_train: Vec<bool>) -> Self {
        Self { noun, ids, in_train, dense: ids.iter().map(String::as_str).zip(0..).collect() }
    }

    /// The dense id of an own one.
    pub fn dense(&self, id: &str) -> Option<u32> {
        self.dense.get(id).copied()
    }

    /// How many users or items there are, in words.
    pub fn counted(&self) -> String {
        counted(self.ids.len(), self.noun)
    }
}
