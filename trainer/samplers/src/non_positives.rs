//! The items that may be a user's negatives: all but the user's train items.

/// The items that are none of a user's train items.
#[derive(Clone, Copy, Debug)]
pub(super) struct NonPositives<'a> {
    positives: &'a [u32],
    items: u32,
}

impl<'a> NonPositives<'a> {
    /// Makes the items of `0..items` that are none of `positives`, which ascend.
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

    /// The item of a rank, ascending: `nth(0)` is the smallest.
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

    /// The quickest test of membership for so many draws of one row.
    pub(super) fn test(self, draws: usize) -> Test<'a> {
        match draws {
            0..FEW => Test::Search(self),
            FEW..MANY => Test::Filter(Filter::new(self)),
            MANY.. => Test::WideFilter(Filter::new(self)),
        }
    }
}

/// Draws from which on a filter is worth its making: of 1 KiB, and of 4 KiB with fewer classes of several items.
const FEW: usize = 12;
const MANY: usize = 256;

/// Tests of membership that differ in speed alone.
#[expect(clippy::large_enum_variant, reason = "one for each row, on the stack: a box would cost more than the row's draws")]
pub(super) enum Test<'a> {
    Search(NonPositives<'a>),
    Filter(Filter<'a, 128>),
    WideFilter(Filter<'a, 512>),
}

/// Runs an expression with the test by its own type, so that no draw asks which one it is.
macro_rules! with_test {
    ($test:expr, $name:ident => $body:expr) => {
        match $test {
            $crate::non_positives::Test::Search($name) => $body,
            $crate::non_positives::Test::Filter($name) => $body,
            $crate::non_positives::Test::WideFilter($name) => $body,
        }
    };
}
pub(super) use with_test;

/// A bit for each class of items that are equal modulo 64 times the words, set where the class has a positive.
pub(super) struct Filter<'a, const WORDS: usize> {
    marks: [u64; WORDS],
    non_positives: NonPositives<'a>,
}

impl<'a, const WORDS: usize> Filter<'a, WORDS> {
    fn new(non_positives: NonPositives<'a>) -> Self {
        let mut marks = [0; WORDS];
        for &item in non_positives.positives {
            marks[Self::word(item)] |= bit(item);
        }
        Self { marks, non_positives }
    }

    fn word(item: u32) -> usize {
        (item / 64) as usize % WORDS
    }

    /// Whether the item is none of the user's train items.
    #[inline]
    pub(super) fn contains(&self, item: u32) -> bool {
        self.marks[Self::word(item)] & bit(item) == 0 || self.non_positives.contains(item)
    }
}

#[inline]
fn bit(item: u32) -> u64 {
    1 << (item % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_and_membership_are_those_of_the_set(positives in prop::collection::btree_set(0u32..90, 0..80)) {
            let sorted: Vec<u32> = positives.iter().copied().collect();
            let non_positives = NonPositives::new(&sorted, 90);
            let expected: Vec<u32> = (0..90).filter(|item| !positives.contains(item)).collect();
            let ranked: Vec<u32> = (0..non_positives.len()).map(|rank| non_positives.nth(rank)).collect();
            prop_assert_eq!(&ranked, &expected);
            for draws in [1, FEW, MANY] {
                let members: Vec<u32> = with_test!(non_positives.test(draws), test => (0..90).filter(|&item| test.contains(item)).collect());
                prop_assert_eq!(&members, &expected);
            }
        }
    }

    #[test]
    fn items_of_one_class_are_told_apart() {
        let filter = Filter::<512>::new(NonPositives::new(&[5], 100_000));
        assert!(!filter.contains(5) && filter.contains(5 + 32_768));
        let filter = Filter::<128>::new(NonPositives::new(&[5], 100_000));
        assert!(!filter.contains(5) && filter.contains(5 + 8_192));
    }
}
