//! Groups of about the same size, by a number that each member has.

use std::ops::RangeInclusive;

/// As many groups as there are at most: deciles.
const GROUPS: u64 = 10;

/// Groups of members, from the lowest numbers to the highest.
pub(super) struct Groups {
    /// Each member's group, from 0.
    pub(super) of: Vec<usize>,
    /// The numbers of each group's members.
    pub(super) ranges: Vec<RangeInclusive<u32>>,
}

impl Groups {
    /// Tenths of the members, fewer where there are fewer members or many have the same number: these stay together, in the tenth that holds the
    /// middle one of them.
    pub(super) fn new(numbers: &[u32]) -> Self {
        let mut ascending = numbers.to_vec();
        ascending.sort_unstable();
        let (mut ranges, mut last): (Vec<RangeInclusive<u32>>, _) = (Vec::new(), None);
        let mut below = 0u64;
        for equal in ascending.chunk_by(|one, next| one == next) {
            let tenth = (2 * below + equal.len() as u64) * GROUPS / (2 * numbers.len() as u64);
            let number = equal[0];
            match ranges.last_mut().filter(|_| last == Some(tenth)) {
                Some(range) => *range = *range.start()..=number,
                None => ranges.push(number..=number),
            }
            (last, below) = (Some(tenth), below + equal.len() as u64);
        }
        let of = numbers.iter().map(|number| ranges.partition_point(|range| range.end() < number)).collect();
        Self { of, ranges }
    }

    /// How many members each group has.
    pub(super) fn sizes(&self) -> Vec<u32> {
        self.count(0..self.of.len())
    }

    /// How many of these members, named again or not, each group has.
    pub(super) fn count(&self, members: impl IntoIterator<Item = usize>) -> Vec<u32> {
        let mut counts = vec![0; self.ranges.len()];
        members.into_iter().for_each(|member| counts[self.of[member]] += 1);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hundred_different_numbers_make_tenths() {
        let groups = Groups::new(&(1..=100).rev().collect::<Vec<u32>>());
        assert_eq!((groups.ranges.len(), groups.ranges[0].clone(), groups.ranges[9].clone()), (10, 1..=10, 91..=100));
        assert_eq!((groups.sizes(), groups.of[0], groups.of[99]), (vec![10; 10], 9, 0));
    }

    /// By hand: 6 of 10 members have 5, whose middle is at 3 of 10; 8 and 9 follow at 6.5, 7.5, and two of 12 at 9.
    #[test]
    fn equal_numbers_stay_together() {
        let groups = Groups::new(&[5, 5, 12, 5, 9, 5, 8, 5, 12, 5]);
        assert_eq!(groups.ranges, [5..=5, 8..=8, 9..=9, 12..=12]);
        assert_eq!(groups.sizes(), [6, 1, 1, 2]);
        assert_eq!(Groups::new(&[7; 30]).ranges, [7..=7]);
        assert!(Groups::new(&[]).ranges.is_empty());
    }

    proptest! {
        #[test]
        fn every_member_is_in_the_group_of_its_number(numbers in prop::collection::vec(0u32..60, 1..300)) {
            let groups = Groups::new(&numbers);
            prop_assert!(groups.ranges.len() <= 10);
            prop_assert!(groups.ranges.windows(2).all(|pair| pair[0].end() < pair[1].start()));
            prop_assert!(numbers.iter().zip(&groups.of).all(|(number, &group)| groups.ranges[group].contains(number)));
            prop_assert!(groups.sizes().iter().all(|&size| size > 0));
        }
    }
}
