//! When a user's interactions happened: one after the other.

use crate::{Interactions, Split};

/// The place of each interaction in its user's history, which goes over all parts, by time, from 0. Interactions of a user at the same time are in the order
/// of a hash of user and item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Place of each train interaction, in the order of [`Interactions::items`].
    pub train: Vec<u32>,
    /// Place of each interaction in the histories of users whom no training sees, in the order of [`Interactions::items`].
    pub fold_in: Vec<u32>,
    /// Place of each validation interaction, in the order of [`Interactions::items`].
    pub validation: Vec<u32>,
    /// Place of each test interaction, in the order of [`Interactions::items`].
    pub test: Vec<u32>,
}

impl Order {
    /// The places of one part.
    pub fn split(&self, split: Split) -> &[u32] {
        match split {
            Split::Train => &self.train,
            Split::FoldIn => &self.fold_in,
            Split::Validation => &self.validation,
            Split::Test => &self.test,
        }
    }
}

/// Each user's items in the order in which they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histories {
    offsets: Vec<usize>,
    items: Vec<u32>,
}

impl Histories {
    /// Makes histories of parts of a dataset, each with the places of its interactions.
    pub(crate) fn new(users: usize, parts: &[(&Interactions, &[u32])]) -> Self {
        let (mut offsets, mut items) = (Vec::with_capacity(users + 1), Vec::new());
        offsets.push(0);
        let mut row: Vec<(u32, u32)> = Vec::new();
        for user in 0..users {
            row.clear();
            for (part, places) in parts {
                let at = part.offsets()[user]..part.offsets()[user + 1];
                row.extend(places[at.clone()].iter().copied().zip(part.items()[at].iter().copied()));
            }
            row.sort_unstable();
            items.extend(row.iter().map(|&(_, item)| item));
            offsets.push(items.len());
        }
        Self { offsets, items }
    }

    /// Makes histories of so many users without items.
    pub fn none(users: usize) -> Self {
        Self { offsets: vec![0; users + 1], items: Vec::new() }
    }

    /// The number of users, with or without items.
    pub fn users(&self) -> usize {
        self.offsets.len() - 1
    }

    /// A user's items, the first one first.
    pub fn row(&self, user: usize) -> &[u32] {
        &self.items[self.offsets[user]..self.offsets[user + 1]]
    }

    /// Where each user's items start: `[users + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User 0 took 4, 1, 7, 2 and 5, of which 2 is validation and 5 is test; user 1 nothing; user 2 took 3 and 0.
    #[test]
    fn histories_are_by_place_over_parts() {
        let train = Interactions::from_pairs(3, [(0, 4), (0, 1), (0, 7), (2, 3), (2, 0)].into_iter());
        let validation = Interactions::from_pairs(3, [(0, 2)].into_iter());
        let order = Order { train: vec![1, 0, 2, 1, 0], fold_in: Vec::new(), validation: vec![3], test: Vec::new() };
        let of_train = Histories::new(3, &[(&train, order.split(Split::Train))]);
        assert_eq!((of_train.row(0), of_train.row(1), of_train.row(2)), (&[4, 1, 7][..], &[][..], &[3, 0][..]));
        let both = Histories::new(3, &[(&train, order.split(Split::Train)), (&validation, order.split(Split::Validation))]);
        assert_eq!((both.users(), both.row(0), both.offsets()), (3, &[4, 1, 7, 2][..], &[0, 4, 4, 6][..]));
    }
}
