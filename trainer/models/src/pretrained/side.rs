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
    /// Whether the model must know each: every item, and a user with train interactions or a history to fold in.
    pub is_known: Vec<bool>,
    pub(super) dense: HashMap<&'a str, u32>,
}

impl<'a> Side<'a> {
    /// The users.
    pub fn users(dataset: &'a Dataset) -> Self {
        let known = dataset.known();
        let is_known = (0..dataset.users()).map(|user| !known.row(user).is_empty()).collect();
        Self::new("user", &dataset.user_ids, is_known)
    }

    /// The items.
    pub fn items(dataset: &'a Dataset) -> Self {
        Self::new("item", &dataset.item_ids, vec![true; dataset.items()])
    }

    fn new(noun: &'static str, ids: &'a [String], is_known: Vec<bool>) -> Self {
        Self { noun, ids, is_known, dense: ids.iter().map(String::as_str).zip(0..).collect() }
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
