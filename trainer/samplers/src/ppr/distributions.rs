//! The distributions of all users, one after the other.

use super::{
    distribution::Distribution,
    row::{self, PprRow},
};

/// Bytes of a stored item: its id, the start of its arc, its place in the guide.
const STORED: usize = 4 + 4 + 2;

/// What is stored of each user.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Distributions {
    /// Where each user's items start, `[users + 1]`.
    pub(super) offsets: Vec<u64>,
    pub(super) items: Vec<u32>,
    pub(super) starts: Vec<u32>,
    pub(super) guide: Vec<u16>,
    /// `[users]`
    pub(super) shares: Vec<u32>,
    /// Log-probabilities of the users' own items, in the order of the train interactions.
    pub(super) own: Vec<f32>,
    /// Where each user's own items start, `[users + 1]`.
    pub(super) own_offsets: Vec<usize>,
}

impl Distributions {
    /// Makes the distributions of no user yet.
    pub(super) fn new(own_offsets: &[usize]) -> Self {
        Self { offsets: vec![0], own_offsets: own_offsets.to_vec(), ..Self::default() }
    }

    /// Adds the next user.
    pub(super) fn push(&mut self, distribution: Distribution) {
        self.items.extend(distribution.items);
        self.guide.extend(row::guide(&distribution.starts));
        self.starts.extend(distribution.starts);
        self.offsets.push(self.items.len() as u64);
        self.shares.push(distribution.share);
        self.own.extend(distribution.own);
    }

    /// Gives back what was reserved for more.
    pub(super) fn shrink(&mut self) {
        self.items.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.guide.shrink_to_fit();
        self.own.shrink_to_fit();
    }

    /// One user's stored items.
    pub(super) fn row(&self, user: u32) -> PprRow<'_> {
        let user = user as usize;
        let stored = self.offsets[user] as usize..self.offsets[user + 1] as usize;
        PprRow {
            items: &self.items[stored.clone()],
            starts: &self.starts[stored.clone()],
            guide: &self.guide[stored],
            share: self.shares[user],
        }
    }

    /// Log-probabilities of one user's own items.
    pub(super) fn own(&self, user: u32) -> &[f32] {
        &self.own[self.own_offsets[user as usize]..self.own_offsets[user as usize + 1]]
    }

    /// Bytes they hold.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.items.len() * STORED + self.own.len() * 4 + per_user(self.shares.len())
    }
}

/// Most bytes of the distributions of so many users, with so many items for each, and so many interactions.
pub(super) fn most_bytes(users: usize, each: usize, interactions: usize) -> usize {
    users * each * STORED + interactions * 4 + per_user(users)
}

/// An offset each of stored and own items, and a share.
fn per_user(users: usize) -> usize {
    users * (8 + 8 + 4)
}
