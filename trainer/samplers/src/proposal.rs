//! What a pool draws by.

use super::{Row, Stream, non_positives::NonPositives};
use dataset::Interactions;
use embeddings::Vectors;
use std::fmt;

/// The user of a row, and the items that may be the user's negatives.
#[derive(Clone, Copy)]
pub(crate) struct UserItems<'a> {
    pub(crate) user: u32,
    /// The train items of all users.
    pub(crate) train: &'a Interactions,
    /// Items of the catalogue.
    pub(crate) items: u32,
}

impl<'a> UserItems<'a> {
    /// All items but the user's train items.
    pub(crate) fn non_positives(self) -> NonPositives<'a> {
        NonPositives::new(self.train.row(self.user as usize), self.items)
    }
}

/// A pool that is ready to draw from any thread. The defaults are those of a pool that does not look at the model.
pub(crate) trait Proposal: fmt::Debug + Send + Sync {
    /// Draws the candidates of one row, `ids [N]`.
    fn fill(&self, of: UserItems<'_>, row: Row<'_>, rng: &mut Stream, ids: &mut [u32]);

    /// The log-probabilities of several items at one draw for the user, in the order of `ids`; those of the user's own as if they were others.
    fn log_probabilities(&self, of: UserItems<'_>, ids: &[u32], out: &mut [f32]);

    /// The log-probabilities of the draws `ids [N]` that this stream gave. They are those of the items, but where several slots hold an item.
    fn log_probabilities_of_draws(&self, of: UserItems<'_>, _rng: &mut Stream, ids: &[u32], out: &mut [f32]) {
        self.log_probabilities(of, ids, out);
    }

    /// The alias table that items are drawn by, where there is one, and the weights that it stands for.
    fn alias_table(&self) -> Option<(Vec<[u32; 2]>, &[f64])> {
        None
    }

    /// Whether rows have to say the positives of their batch.
    fn needs_positives(&self) -> bool {
        false
    }

    /// Takes the number of rows of an epoch that have each item as their positive, `[items]`, where they are not the train interactions.
    fn set_row_counts(&mut self, _of_items: &[u32]) {}

    /// Whether it has to look at the model before a step of an epoch, counted from 1, when each step draws so many of so many items.
    fn is_due(&self, _step: u32, _items: usize, _draws: usize) -> bool {
        false
    }

    /// Looks at the model, in an epoch of a training of that seed.
    fn refresh(&mut self, _vectors: Vectors<'_>, _train: &Interactions, _seed: u64, _epoch: u32) {}

    /// Whether its state has its size before it has looked at the model.
    fn is_sized(&self) -> bool {
        true
    }

    /// What the next refresh looks back on, by name; `within` an epoch also what is drawn from until then.
    fn state(&mut self, _within: bool) -> Vec<(String, &mut [f32])> {
        Vec::new()
    }

    /// Makes what follows from the state within an epoch, which has been put in place.
    fn restored(&mut self) {}
}
