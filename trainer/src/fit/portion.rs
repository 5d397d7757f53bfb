//! A step's batch, and the rows of it that are this rank's.

use crate::collective::Collective;
use embeddings::Batch;

/// All rows of a step, and which of them this rank scores.
#[derive(Clone, Copy)]
pub(super) struct Portion<'a> {
    pub(super) whole: Batch<'a>,
    /// The place in the whole batch of this rank's first row: draws are keyed by it.
    pub(super) first: usize,
    /// This rank's rows; none where there are fewer rows than ranks.
    pub(super) own: Batch<'a>,
}

impl<'a> Portion<'a> {
    /// This rank's of a batch.
    pub(super) fn new(collective: &Collective, whole: Batch<'a>) -> Self {
        let Batch { users, queries, positives } = whole;
        let (rows, list) = (collective.part(users.len()), whole.list());
        let own = Batch {
            users: &users[rows.clone()],
            queries: &queries[rows.clone()],
            positives: &positives[rows.start * list..rows.end * list],
        };
        Self { whole, first: rows.start, own }
    }

    /// Whether this rank has no row.
    pub(super) fn is_empty(&self) -> bool {
        self.own.users.is_empty()
    }
}
