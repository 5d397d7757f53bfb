//! Which nodes of a graph are linked: train interactions, and users who are attached to them.
//!
//! ```text
//! train user u, item i:       an edge in both directions for each train interaction
//! attached user u, item i:    an edge from i to u for each item of the history that has a train interaction; none from u to i
//! ```
//! An attached user is reached by the items of a history, and reaches nothing: items and other users have the neighbours, the degrees and so the vectors that they have without.
//! The degree of an attached user is the number of its edges, that of an item counts train users alone.

use dataset::{Dataset, Interactions};
use std::borrow::Cow;

/// The links of users with items.
pub struct Links<'a> {
    /// Each user's items, from which an edge leads to it.
    of_users: Cow<'a, Interactions>,
    /// Each item's users, from which an edge leads to it.
    of_items: Interactions,
    attached: bool,
}

impl<'a> Links<'a> {
    /// The links of a dataset. Users whom training does not see are attached by their histories to fold in.
    pub fn of(dataset: &'a Dataset) -> Self {
        let links = Self::train(&dataset.train, dataset.items());
        let Some(histories) = &dataset.fold_in else { return links };
        let pairs = histories.pairs().filter(|&(_, item)| !links.of_items.row(item as usize).is_empty());
        let attached = Interactions::from_pairs(dataset.users(), pairs);
        Self { of_users: Cow::Owned(dataset.train.or_rows_of(&attached)), of_items: links.of_items, attached: true }
    }

    /// The links of train interactions with so many items.
    pub fn train(train: &'a Interactions, items: usize) -> Self {
        Self { of_users: Cow::Borrowed(train), of_items: train.transpose(items), attached: false }
    }

    /// Each user's items, and each item's users.
    pub(super) fn sides(&self) -> [&Interactions; 2] {
        [&self.of_users, &self.of_items]
    }

    /// Whether there are edges in one direction alone.
    pub(super) fn are_attached(&self) -> bool {
        self.attached
    }
}
