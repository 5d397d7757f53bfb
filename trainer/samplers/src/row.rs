//! Rows of a batch, as pools see them.

/// A row of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Whose row it is.
    pub user: u32,
    /// The row's place in the batch.
    pub place: usize,
    /// The positives of all rows, `[B]`, for [`in-batch`](crate::Prepared::needs_positives).
    pub positives: &'a [u32],
}

impl Row<'_> {
    /// A row outside of any batch.
    pub fn alone(user: u32) -> Self {
        Self { user, place: 0, positives: &[] }
    }
}
