//! Counting how many scores reach each of a user's thresholds.

/// Scores that are looked at together: where none of them reaches a threshold, none is compared with it.
const CHUNK: usize = 192;

/// The scores of a user's held-out items, and how many other scores reach each of them.
pub(super) struct Counts {
    /// Descending.
    thresholds: Vec<f32>,
    at_least: Vec<u32>,
    above: Vec<u32>,
    /// How many thresholds, the first ones, have counts that are still asked for.
    asked: usize,
    /// The last rank that is asked for.
    limit: usize,
}

impl Counts {
    /// Makes the counts of the scores of held-out items, in any order. Ranks beyond the limit need not be known.
    pub(super) fn new(mut thresholds: Vec<f32>, limit: Option<u32>) -> Self {
        thresholds.sort_unstable_by(|a, b| b.total_cmp(a));
        let zeros = vec![0; thresholds.len()];
        let limit = limit.map_or(usize::MAX, |limit| limit as usize);
        let mut counts = Self { asked: thresholds.len(), at_least: zeros.clone(), above: zeros, thresholds, limit };
        counts.leave();
        counts
    }

    /// Counts scores; those that are NaN count nowhere.
    pub(super) fn count(&mut self, scores: &[f32]) {
        for scores in scores.chunks(CHUNK) {
            let Some(lowest) = self.lowest() else { return };
            let highest = highest(scores);
            if highest >= lowest {
                let reached = self.thresholds[..self.asked].partition_point(|&threshold| threshold > highest)..self.asked;
                add(scores, &self.thresholds[reached.clone()], &mut self.at_least[reached.clone()], &mut self.above[reached]);
                self.leave();
            }
        }
    }

    /// Asks no more for what stands beyond the limit under either rule for ties.
    fn leave(&mut self) {
        while self.asked > 0 && self.above[self.asked - 1] as usize + self.asked > self.limit {
            self.asked -= 1;
        }
    }

    /// The lowest threshold that is still asked for.
    pub(super) fn lowest(&self) -> Option<f32> {
        self.thresholds[..self.asked].last().copied()
    }

    /// For every threshold that is still asked for, the best first: how many scores were at least it, and how many above it.
    pub(super) fn asked(&self) -> impl Iterator<Item = (u32, u32)> {
        self.at_least[..self.asked].iter().copied().zip(self.above[..self.asked].iter().copied())
    }
}

/// The highest score that is not NaN; minus infinity when there is none.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn highest(scores: &[f32]) -> f32 {
    let higher = |score: f32, highest: f32| if score > highest { score } else { highest };
    let (vectors, rest) = scores.as_chunks::<16>();
    let mut lanes = [f32::NEG_INFINITY; 16];
    for vector in vectors {
        for (lane, score) in lanes.iter_mut().zip(vector) {
            *lane = higher(*score, *lane);
        }
    }
    rest.iter().chain(&lanes).fold(f32::NEG_INFINITY, |highest, &score| higher(score, highest))
}

/// Adds to each threshold's `at_least` the scores that are at least it, and to `above` those above it.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add(scores: &[f32], thresholds: &[f32], at_least: &mut [u32], above: &mut [u32]) {
    for ((&threshold, at_least), above) in thresholds.iter().zip(at_least).zip(above) {
        for &score in scores {
            *at_least += u32::from(score >= threshold);
            *above += u32::from(score > threshold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score() -> impl Strategy<Value = f32> {
        prop_oneof![(-3i8..4).prop_map(f32::from), Just(f32::NAN)]
    }

    proptest! {
        #[test]
        fn what_is_asked_for_is_counted(
            scores in prop::collection::vec(score(), 0..800),
            thresholds in prop::collection::vec((-4i8..5).prop_map(f32::from), 1..60),
            limit in prop::option::of(1u32..900),
        ) {
            let mut counts = Counts::new(thresholds.clone(), limit);
            scores.chunks(250).for_each(|scores| counts.count(scores));
            let mut descending = thresholds;
            descending.sort_by(|a, b| b.total_cmp(a));
            let number = |holds: &dyn Fn(f32) -> bool| scores.iter().filter(|&&score| holds(score)).count() as u32;
            let all = descending.iter().map(|&threshold| (number(&|score| score >= threshold), number(&|score| score > threshold)));
            let asked = all.zip(1..).filter(|((_, above), place)| limit.is_none_or(|limit| above + place <= limit));
            prop_assert!(counts.asked().eq(asked.map(|(counts, _)| counts)));
        }

        #[test]
        fn the_highest_is_no_nan(scores in prop::collection::vec(score(), 0..80)) {
            prop_assert_eq!(highest(&scores), scores.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        }
    }
}
