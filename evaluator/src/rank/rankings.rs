//! Where the held-out items of every user stand.

use crate::Result;

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
}

/// Where one user's held-out items stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked<'a> {
    /// The user's dense id.
    pub user: u32,
    /// The held-out items' ranks: ascending, distinct, the best possible being 1.
    pub ranks: &'a [u32],
    /// How many items were ranked: all that are not masked, held-out ones included.
    pub candidates: u32,
    /// Share of (held-out, other candidate) pairs in the right order, ties counting half; 0.5 where there is no other candidate.
    pub auc: f64,
    /// Whether another candidate has the score of a held-out item.
    pub tied: bool,
}

impl Rankings {
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

    /// How many users have a held-out item whose rank depends on the rule for ties.
    pub fn tied_users(&self) -> usize {
        self.tied.iter().filter(|&&tied| tied).count()
    }

    pub(super) fn push(&mut self, user: u32, ranks: impl Iterator<Item = u32>, candidates: u32, auc: f64, tied: bool) {
        self.users.push(user);
        self.ranks.extend(ranks);
        self.ends.push(self.ranks.len());
        self.candidates.push(candidates);
        self.auc.push(auc);
        self.tied.push(tied);
    }

    /// Joins the blocks of users; the first block's error wins.
    pub(super) fn concat(blocks: Vec<Result<Self>>) -> Result<Self> {
        let mut all = Self::default();
        for block in blocks {
            let block = block?;
            for ranked in block.iter() {
                all.push(ranked.user, ranked.ranks.iter().copied(), ranked.candidates, ranked.auc, ranked.tied);
            }
        }
        Ok(all)
    }
}
