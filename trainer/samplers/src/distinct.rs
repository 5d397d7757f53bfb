//! Distinct integers by Floyd's algorithm.
//!
//! Bentley and Floyd, "A Sample of Brilliance", Communications of the ACM 30(9), 1987: one draw for each integer, memory for the drawn ones
//! alone. The set is uniform; the order is not.

use super::Stream;

/// Draws `count` distinct integers below `bound`, each handed to `receive` with its place.
///
/// # Panics
/// When `count` exceeds `bound`.
pub(super) fn distinct(rng: &mut Stream, count: usize, bound: u32, mut receive: impl FnMut(usize, u32)) {
    assert!(count <= bound as usize, "{count} distinct integers below {bound}");
    let mut drawn = Set::new(count);
    for at in 0..count {
        let last = bound - (count - at) as u32;
        let draw = rng.below(last + 1);
        let chosen = if drawn.insert(draw) { draw } else { last };
        drawn.insert(chosen);
        receive(at, chosen);
    }
}

/// Fills a list with distinct ids of `from`, of which every set is as likely and not every order; where there are fewer, with all of them and then the first again.
pub fn some_of(rng: &mut Stream, from: &[u32], list: &mut [u32]) {
    if from.len() <= list.len() {
        let (own, rest) = list.split_at_mut(from.len());
        own.copy_from_slice(from);
        rest.fill(from.first().copied().unwrap_or_default());
    } else {
        distinct(rng, list.len(), from.len() as u32, |at, chosen| list[at] = from[chosen as usize]);
    }
}

const EMPTY: u32 = u32::MAX;

/// Integers below `u32::MAX` in a table with linear probing, at most half full.
struct Set {
    slots: Vec<u32>,
}

impl Set {
    fn new(count: usize) -> Self {
        Self { slots: vec![EMPTY; (2 * count).next_power_of_two()] }
    }

    /// Whether the value was new.
    fn insert(&mut self, value: u32) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = (value.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        while self.slots[at] != EMPTY {
            if self.slots[at] == value {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = value;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use streams::Purpose;

    proptest! {
        #[test]
        fn integers_are_distinct_and_below_the_bound(seed: u64, bound in 1u32..200, part in 0.0f64..=1.0) {
            let count = (f64::from(bound) * part) as usize;
            let mut drawn = BTreeSet::new();
            distinct(&mut Stream::new(seed, Purpose::Negatives, 1, 0, 0), count, bound, |_, value| { drawn.insert(value); });
            prop_assert_eq!(drawn.len(), count);
            prop_assert!(drawn.iter().all(|&value| value < bound));
        }
    }
}
