//! Between which numbers of hits a partial area leaves room.
//!
//! ```text
//! S = sum_{k <= K} c_k, i positives among the first K of the list, N+, N- >= K:
//! i^2 <= S <= i (N+ + K) - i^2
//! ceil((N+ + K - sqrt((N+ + K)^2 - 4 S)) / 2) <= i <= floor(sqrt(S))
//! ```
//! Recall@K is i / N+ and Precision@K is i / K. The paper's text leaves open whether the ends are rounded up or down; these follow from
//! its proof, and are at most one narrower.
//! "On the Theories Behind Hard Negative Sampling for Recommendation" (WWW 2023), Theorem 3.

use super::sums;

/// The least and the largest number of positives among the first `cutoff` of a list of which `sum` is `sum_{k <= cutoff} c_k`. Exact.
pub fn hits_bracket(positives: u64, cutoff: u64, sum: u64) -> (u64, u64) {
    let both = positives + cutoff;
    // For any root between s and s + 1, the least integer that is not below (both - root) / 2 is that for s.
    let root = (both * both).saturating_sub(4 * sum).isqrt();
    ((both - root).div_ceil(2), sum.isqrt())
}

/// How brackets did on some lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brackets {
    /// Lists.
    pub lists: u64,
    /// Lists whose hits are outside.
    pub violations: u64,
    /// Lists where the bracket is a single number.
    pub single_points: u64,
    /// Sum of the largest minus the least number.
    pub width: u64,
}

impl Brackets {
    pub(super) fn add(&mut self, low: u64, high: u64, hits: u64) {
        self.lists += 1;
        self.violations += u64::from(!(low..=high).contains(&hits));
        self.single_points += u64::from(low == high);
        self.width += high.saturating_sub(low);
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.lists += other.lists;
        self.violations += other.violations;
        self.single_points += other.single_points;
        self.width += other.width;
    }
}

/// The brackets of every list of so many positives and negatives.
///
/// # Panics
/// When there are more than 24 of both, or fewer of one than the cutoff.
pub fn brackets_of_all_lists(positives: u32, negatives: u32, cutoff: u32) -> Brackets {
    let items = positives + negatives;
    assert!(items <= 24 && cutoff <= positives.min(negatives), "{items} items, cut at {cutoff}");
    let mut brackets = Brackets::default();
    for list in (0..1_u32 << items).filter(|list| list.count_ones() == positives) {
        let sum = sums((0..items).map(|place| list >> place & 1 == 1))[cutoff as usize];
        let hits = (list & ((1 << cutoff) - 1)).count_ones();
        let (low, high) = hits_bracket(positives.into(), cutoff.into(), sum);
        brackets.add(low, high, hits.into());
    }
    brackets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_lists_of_the_four_shapes() {
        let all = [(3, 4, 2), (4, 5, 3), (5, 5, 4), (3, 6, 3)]
            .map(|(positives, negatives, cutoff)| brackets_of_all_lists(positives, negatives, cutoff));
        assert_eq!(all.map(|brackets| brackets.violations), [0; 4]);
        let total = |field: fn(&Brackets) -> u64| all.iter().map(field).sum::<u64>();
        assert_eq!((total(|brackets| brackets.lists), total(|brackets| brackets.single_points)), (497, 217));
    }

    /// The lists at the ends: i positives and K - i negatives in both orders.
    #[test]
    fn the_extremal_lists_touch_the_inequalities() {
        for (positives, cutoff, hits) in [(5_u64, 4_u64, 2_u64), (7, 3, 3), (4, 4, 0)] {
            let rest = |list: Vec<bool>| list.into_iter().chain(vec![false; cutoff as usize]);
            let of =
                |runs: &[(u64, bool)]| runs.iter().flat_map(|&(count, positive)| vec![positive; count as usize]).collect::<Vec<bool>>();
            let most = of(&[(hits, true), (cutoff - hits, false), (positives - hits, true)]);
            let least = of(&[(cutoff - hits, false), (hits, true)]);
            assert_eq!(sums(rest(most))[cutoff as usize], hits * (positives + cutoff) - hits * hits);
            assert_eq!(sums(rest(least))[cutoff as usize], hits * hits);
        }
    }

    proptest! {
        #[test]
        fn the_bracket_is_all_that_the_inequalities_allow(positives in 1u64..300, cutoff in 1u64..300, share in 0.0..=1.0) {
            let most = |hits: u64| hits * (positives + cutoff) - hits * hits;
            let hits_at_most = positives.min(cutoff);
            let sum = (share * most(hits_at_most) as f64) as u64;
            let (low, high) = hits_bracket(positives, cutoff, sum);
            let allowed: Vec<u64> = (0..=positives + cutoff).filter(|&hits| hits * hits <= sum && sum <= most(hits)).collect();
            prop_assert_eq!(allowed.first().copied(), (low <= high).then_some(low));
            prop_assert_eq!(allowed.last().copied(), (low <= high).then_some(high));
        }

        #[test]
        fn the_hits_of_a_list_are_within(list in prop::collection::vec(any::<bool>(), 2..120), cut in 0.0..=1.0) {
            let positives = list.iter().filter(|&&positive| positive).count();
            let cutoff = (cut * positives.min(list.len() - positives) as f64) as usize;
            prop_assume!(cutoff > 0);
            let hits = list[..cutoff].iter().filter(|&&positive| positive).count() as u64;
            let (low, high) = hits_bracket(positives as u64, cutoff as u64, sums(list.iter().copied())[cutoff]);
            prop_assert!(low <= hits && hits <= high, "{} in {}..={}", hits, low, high);
        }
    }
}
