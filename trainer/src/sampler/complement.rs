//! The items that may be a user's negatives: all but the user's train items.

/// The complement of a user's train items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Complement<'a> {
    positives: &'a [u32],
    items: u32,
}

impl<'a> Complement<'a> {
    /// Of `positives`, ascending, in `0..items`.
    pub(super) fn new(positives: &'a [u32], items: u32) -> Self {
        Self { positives, items }
    }

    /// How many items it has.
    pub(super) fn len(&self) -> u32 {
        self.items - self.positives.len() as u32
    }

    /// How many items there are, with the positives.
    pub(super) fn items(&self) -> u32 {
        self.items
    }

    /// The user's train items.
    pub(super) fn positives(&self) -> &'a [u32] {
        self.positives
    }

    /// Its items, ascending: `nth(0)` is the smallest.
    ///
    /// With `k` positives below it, the item of rank `r` is `r + k`; `k` is the first with `positives[k] - k > r`.
    pub(super) fn nth(&self, rank: u32) -> u32 {
        let (mut below, mut left) = (0, self.positives.len());
        while left > 0 {
            let half = left.div_ceil(2);
            let last = below + half - 1;
            below = std::hint::select_unpredictable(self.positives[last] - last as u32 <= rank, below + half, below);
            left -= half;
        }
        rank + below as u32
    }

    /// Whether the item is in it, by binary search.
    pub(super) fn contains(&self, item: u32) -> bool {
        self.positives.binary_search(&item).is_err()
    }

    /// A test of membership that is quick for the many draws of one row.
    pub(super) fn filter(self) -> Filter<'a> {
        let mut marks = [0; WORDS];
        for &item in self.positives {
            let (word, bit) = place(item);
            marks[word] |= bit;
        }
        Filter { marks, complement: self }
    }
}

/// 4 KiB: catalogues up to 32,768 items have a bit for each item.
const WORDS: usize = 512;

/// A bit for each class of items that are equal modulo 32,768, set where the class has a positive.
pub(super) struct Filter<'a> {
    marks: [u64; WORDS],
    complement: Complement<'a>,
}

impl Filter<'_> {
    /// Whether the item is in the complement.
    #[inline]
    pub(super) fn contains(&self, item: u32) -> bool {
        let (word, bit) = place(item);
        self.marks[word] & bit == 0 || self.complement.contains(item)
    }
}

#[inline]
fn place(item: u32) -> (usize, u64) {
    ((item / 64) as usize % WORDS, 1 << (item % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranks_and_membership_are_those_of_the_set(positives in prop::collection::btree_set(0u32..90, 0..80)) {
            let sorted: Vec<u32> = positives.iter().copied().collect();
            let complement = Complement::new(&sorted, 90);
            let filter = complement.filter();
            let expected: Vec<u32> = (0..90).filter(|item| !positives.contains(item)).collect();
            let ranked: Vec<u32> = (0..complement.len()).map(|rank| complement.nth(rank)).collect();
            prop_assert_eq!(&ranked, &expected);
            let members: BTreeSet<u32> = (0..90).filter(|&item| filter.contains(item)).collect();
            prop_assert_eq!(members, expected.into_iter().collect());
        }
    }

    #[test]
    fn items_of_one_class_are_told_apart() {
        let filter = Complement::new(&[5], 100_000).filter();
        assert!(!filter.contains(5) && filter.contains(5 + 32_768));
    }
}
