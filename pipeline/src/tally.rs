//! How many users, items and interactions a selection has, of which some users come at a time.

use dataset::Counts;

/// Users, items and interactions so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) users: usize,
    /// Whether each item occurs; empty before anything was counted.
    pub(crate) items: Vec<bool>,
    pub(crate) interactions: usize,
}

impl Tally {
    /// Adds other users.
    pub(crate) fn add(&mut self, other: Self) {
        self.users += other.users;
        self.interactions += other.interactions;
        if self.items.is_empty() {
            self.items = other.items;
        } else {
            self.items.iter_mut().zip(&other.items).for_each(|(item, other)| *item |= other);
        }
    }

    /// The tally in numbers, as the counts of a step.
    pub(crate) fn counts(&self, step: impl Into<String>) -> Counts {
        let items = self.items.iter().filter(|&&occurs| occurs).count();
        Counts { step: step.into(), users: self.users, items, interactions: self.interactions }
    }
}
