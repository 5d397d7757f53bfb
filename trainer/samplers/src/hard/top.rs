//! The largest of a row.

use crate::order::{key, place};
use crate::rule::Choice;

/// Keeps the places of the `count` largest keys, the earlier of equal ones.
pub(super) fn keep_top(keys: impl Iterator<Item = f32>, count: usize, choice: &mut Choice) {
    let Choice { places, keys: ordered, .. } = choice;
    ordered.clear();
    ordered.extend(keys.zip(0..).map(|(score, place)| key(score, place)));
    if count < ordered.len() {
        ordered.select_nth_unstable_by(count, |a, b| b.cmp(a));
        ordered.truncate(count);
    }
    places.clear();
    places.extend(ordered.iter().map(|&key| place(key)));
    places.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_those_of_a_stable_sort(
            keys in prop::collection::vec(prop_oneof![-2i32..3, Just(i32::MIN)], 1..40), part in 0.0f64..1.0
        ) {
            let keys: Vec<f32> = keys.iter().map(|&key| if key == i32::MIN { f32::NEG_INFINITY } else { key as f32 / 2.0 }).collect();
            let count = 1 + (part * keys.len() as f64) as usize;
            let mut sorted: Vec<u32> = (0..keys.len() as u32).collect();
            sorted.sort_by(|&a, &b| keys[b as usize].total_cmp(&keys[a as usize]));
            sorted.truncate(count);
            sorted.sort_unstable();
            let mut choice = Choice::default();
            keep_top(keys.iter().copied(), count, &mut choice);
            prop_assert_eq!(choice.places, sorted);
        }
    }
}
