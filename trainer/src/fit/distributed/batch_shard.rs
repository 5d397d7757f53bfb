//! A step's batch, and the rows of it that are this rank's.

use crate::collective::Collective;
use embeddings::Batch;

/// All rows of a step, and which of them this rank scores.
#[derive(Clone, Copy)]
pub(crate) struct BatchShard<'a> {
    pub(crate) whole: Batch<'a>,
    /// The place in the whole batch of this rank's first row: draws are keyed by it.
    pub(crate) first: usize,
    /// This rank's rows; none where there are fewer rows than ranks.
    pub(crate) local: Batch<'a>,
}

impl<'a> BatchShard<'a> {
    /// Finds this rank's rows of a batch.
    pub(crate) fn new(collective: &Collective, whole: Batch<'a>) -> Self {
        let Batch { users, queries, positives } = whole;
        let (rows, list) = (collective.part(users.len()), whole.list());
        let local = Batch {
            users: &users[rows.clone()],
            queries: &queries[rows.clone()],
            positives: &positives[rows.start * list..rows.end * list],
        };
        Self { whole, first: rows.start, local }
    }

    /// Whether this rank has no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.local.users.is_empty()
    }
}
