//! Where the held-out items of every user stand.

use crate::Result;

/// The rank of a held-out item that stands behind the last rank asked for.
pub(super) const BEYOND: u32 = u32::MAX;

/// The ranks of all users that have held-out items, by user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rankings {
    /// The ranked users' dense ids, ascending.
    pub users: Vec<u32>,
    /// All users' ranks one after the other.
    ranks: Vec<u32>,
    /// Where each user's ranks end.
    ends: Vec<usize>,
    candidates: Vec<u32>,
    auc: Vec<f64>,
    tied: Vec<bool>,
    limit: Option<u32>,
}

/// Where one user's held-out items stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked<'a> {
    /// The user's dense id.
    pub user: u32,
    /// The held-out items' ranks: ascending, distinct, the best possible being 1; `u32::MAX` for all beyond [`Rankings::limit`].
    pub ranks: &'a [u32],
    /// How many items were ranked: all that are not masked, held-out ones included.
    pub candidates: u32,
    /// Share of (held-out, other candidate) pairs in the right order, ties counting half; 0.5 where there is no other candidate, NaN where there is a
    /// limit.
    pub auc: f64,
    /// Whether another candidate has the score of a held-out item; with a limit, of one that is within it under some rule for ties.
    pub tied: bool,
}

impl Rankings {
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The last rank that is known; `None` when all are.
    pub fn limit(&self) -> Option<u32> {
        self.limit
    }

    /// The number of ranked users.
    pub fn len(&self) -> usize {
        self.users.len()
    }

    /// Whether no user has held-out items.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// All ranked users, in the order of [`users`](Self::users).
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Ranked<'_>> {
        (0..self.len()).map(|at| Ranked {
            user: self.users[at],
            ranks: &self.ranks[if at == 0 { 0 } else { self.ends[at - 1] }..self.ends[at]],
            candidates: self.candidates[at],
            auc: self.auc[at],
            tied: self.tied[at],
        })
    }

    /// How many users are [tied](Ranked::tied).
    pub fn tied_users(&self) -> usize {
        self.tied.iter().filter(|&&tied| tied).count()
    }

    pub(super) fn push(&mut self, ranked: Ranked<'_>) {
        self.users.push(ranked.user);
        self.ranks.extend_from_slice(ranked.ranks);
        self.ends.push(self.ranks.len());
        self.candidates.push(ranked.candidates);
        self.auc.push(ranked.auc);
        self.tied.push(ranked.tied);
    }

    /// Joins the blocks of users, all with this limit; the first block's error wins.
    pub(super) fn concat(blocks: Vec<Result<Self>>, limit: Option<u32>) -> Result<Self> {
        let mut all = Self::new(limit);
        for block in blocks {
            block?.iter().for_each(|ranked| all.push(ranked));
        }
        Ok(all)
    }
}
