//! Who interacted with what: a sparse binary matrix by rows.

use std::{iter, ops::Range};

/// Interactions of users with items, each user's items ascending and without repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interactions {
    offsets: Vec<usize>,
    items: Vec<u32>,
}

impl Interactions {
    /// Makes interactions of (user, item) pairs in any order; repeats are dropped.
    ///
    /// # Panics
    /// When a user is not below `users`.
    pub fn from_pairs(users: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0usize; users + 1];
        for (user, _) in pairs.clone() {
            starts[user as usize + 1] += 1;
        }
        for user in 0..users {
            starts[user + 1] += starts[user];
        }
        let mut items = vec![0; starts[users]];
        let mut next = starts.clone();
        for (user, item) in pairs {
            items[next[user as usize]] = item;
            next[user as usize] += 1;
        }
        let mut offsets = vec![0; users + 1];
        let mut kept = 0;
        for user in 0..users {
            let row = starts[user]..starts[user + 1];
            items[row.clone()].sort_unstable();
            let first = kept;
            for at in row {
                if kept == first || items[kept - 1] != items[at] {
                    items[kept] = items[at];
                    kept += 1;
                }
            }
            offsets[user + 1] = kept;
        }
        items.truncate(kept);
        Self { offsets, items }
    }

    /// Makes interactions of the users' rows, one after the other, and of where each starts: `offsets [users + 1]`.
    ///
    /// # Panics
    /// When the offsets are not those of `items`, or a row is not ascending and without repeats.
    pub fn from_sorted(offsets: Vec<usize>, items: Vec<u32>) -> Self {
        assert!(offsets.first() == Some(&0) && offsets.last() == Some(&items.len()), "the rows are all items");
        let sorted = |row: &[usize]| items[row[0]..row[1]].is_sorted_by(|one, other| one < other);
        assert!(offsets.windows(2).all(sorted), "a user's items are ascending and without repeats");
        Self { offsets, items }
    }

    /// No interactions at all.
    pub fn empty(users: usize) -> Self {
        Self { offsets: vec![0; users + 1], items: Vec::new() }
    }

    /// The user's items, ascending.
    pub fn row(&self, user: usize) -> &[u32] {
        &self.items[self.offsets[user]..self.offsets[user + 1]]
    }

    /// The number of users, with or without items.
    pub fn users(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of interactions.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Where each user's row starts in [`items`](Self::items): `[users + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// All rows one after the other: `[len]`.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// The users of the interactions at these places of [`items`](Self::items).
    pub fn users_at(&self, places: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        let first = self.offsets.partition_point(|&start| start <= places.start) - 1;
        let inside = move |user: usize| self.offsets[user + 1].min(places.end).saturating_sub(self.offsets[user].max(places.start));
        let count = places.len();
        (first..self.users()).flat_map(move |user| iter::repeat_n(user as u32, inside(user))).take(count)
    }

    /// Whether the user has the item.
    pub fn contains(&self, user: usize, item: u32) -> bool {
        self.row(user).binary_search(&item).is_ok()
    }

    /// The interactions of some of the users; the others stay, without items.
    pub fn of_users(&self, keep: impl Fn(usize) -> bool) -> Self {
        let (mut offsets, mut items) = (vec![0; self.users() + 1], Vec::with_capacity(self.len()));
        for user in 0..self.users() {
            items.extend_from_slice(if keep(user) { self.row(user) } else { &[] });
            offsets[user + 1] = items.len();
        }
        Self { offsets, items }
    }

    /// These rows, and for users without items here those of `others`, who are as many users.
    ///
    /// # Panics
    /// When `others` has fewer users.
    pub fn or_rows_of(&self, others: &Self) -> Self {
        let (mut offsets, mut items) = (vec![0; self.users() + 1], Vec::with_capacity(self.len() + others.len()));
        for user in 0..self.users() {
            let own = self.row(user);
            items.extend_from_slice(if own.is_empty() { others.row(user) } else { own });
            offsets[user + 1] = items.len();
        }
        Self { offsets, items }
    }

    /// All (user, item) pairs, by user, then item.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        (0..self.users()).flat_map(|user| self.row(user).iter().map(move |&item| (user as u32, item)))
    }

    /// How many users have each of `items` items.
    pub fn item_counts(&self, items: usize) -> Vec<u32> {
        let mut counts = vec![0; items];
        for &item in &self.items {
            counts[item as usize] += 1;
        }
        counts
    }

    /// Items as rows: each item's users, ascending.
    pub fn transpose(&self, items: usize) -> Self {
        Self::from_pairs(items, self.pairs().map(|(user, item)| (item, user)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn rows_are_the_sorted_set_of_the_pairs(pairs in prop::collection::vec((0u32..9, 0u32..12), 0..80)) {
            let interactions = Interactions::from_pairs(9, pairs.iter().copied());
            let expected: BTreeSet<(u32, u32)> = pairs.into_iter().collect();
            prop_assert!(interactions.pairs().eq(expected.iter().copied()));
            prop_assert_eq!(interactions.len(), expected.len());
            for start in 0..=expected.len() {
                let end = expected.len().min(start + 7);
                prop_assert!(interactions.users_at(start..end).eq(expected.iter().skip(start).take(7).map(|pair| pair.0)));
            }
            let swapped: BTreeSet<(u32, u32)> = expected.iter().map(|&(user, item)| (item, user)).collect();
            prop_assert!(interactions.transpose(12).pairs().eq(swapped.into_iter()));
            prop_assert_eq!(&Interactions::from_sorted(interactions.offsets().to_vec(), interactions.items().to_vec()), &interactions);
        }
    }

    #[test]
    #[should_panic(expected = "ascending and without repeats")]
    fn unsorted_rows_are_refused() {
        Interactions::from_sorted(vec![0, 1, 3], vec![5, 2, 2]);
    }

    #[test]
    fn membership_and_counts() {
        let interactions = Interactions::from_pairs(3, [(2, 1), (0, 3), (2, 0), (2, 1)].into_iter());
        assert_eq!(interactions.row(2), [0, 1]);
        assert!(interactions.contains(0, 3) && !interactions.contains(1, 3));
        assert_eq!(interactions.item_counts(4), [1, 1, 0, 1]);
    }
}
