//! What metrics go by beside the rankings: the interactions that models know, and what follows from them.

use super::{denominator::RecallDenominator, item_vectors::ItemVectors, popularity::Popularity};
use dataset::Interactions;
use std::sync::OnceLock;

/// What is the same for all rankings of a part. What is derived of the interactions is made once, when the first metric asks for it.
pub struct Given<'a> {
    pub(super) recall: RecallDenominator,
    /// What each user is known to have: train, and the histories that are folded in.
    pub(super) history: &'a Interactions,
    pub(super) items: usize,
    popularity: OnceLock<Popularity>,
    vectors: OnceLock<ItemVectors>,
}

impl<'a> Given<'a> {
    /// Takes the denominator of recall and the interactions that models know, of a catalogue of so many items.
    pub fn new(recall: RecallDenominator, history: &'a Interactions, items: usize) -> Self {
        Self { recall, history, items, popularity: OnceLock::new(), vectors: OnceLock::new() }
    }

    /// How popular each item is.
    pub(crate) fn popularity(&self) -> &Popularity {
        self.popularity.get_or_init(|| Popularity::new(self.history, self.items))
    }

    pub(super) fn vectors(&self) -> &ItemVectors {
        self.vectors.get_or_init(|| ItemVectors::new(self.history, self.items))
    }
}
