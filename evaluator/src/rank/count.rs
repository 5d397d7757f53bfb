//! Counting how many scores reach each of a user's thresholds.

/// Above this many thresholds a search for each score is cheaper than a pass for each threshold.
const PASSES: usize = 48;

/// Adds to each threshold's `at_least` the scores that are at least it, and to `above` those above it. Scores that are NaN count nowhere.
/// The thresholds descend.
pub(super) fn count(scores: &[f32], thresholds: &[f32], at_least: &mut [u32], above: &mut [u32]) {
    if thresholds.len() > PASSES {
        return search(scores, thresholds, at_least, above);
    }
    for ((&threshold, at_least), above) in thresholds.iter().zip(at_least).zip(above) {
        let counts = pass(scores, threshold);
        *at_least += counts.0;
        *above += counts.1;
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn pass(scores: &[f32], threshold: f32) -> (u32, u32) {
    let (mut at_least, mut above) = (0, 0);
    for &score in scores {
        at_least += u32::from(score >= threshold);
        above += u32::from(score > threshold);
    }
    (at_least, above)
}

fn search(scores: &[f32], thresholds: &[f32], at_least: &mut [u32], above: &mut [u32]) {
    let last = thresholds[thresholds.len() - 1];
    for &score in scores {
        // Most scores of a good model are below all thresholds; NaN is too.
        if score >= last {
            let reached = thresholds.partition_point(|&threshold| threshold > score);
            let passed = reached + thresholds[reached..].partition_point(|&threshold| threshold >= score);
            at_least[reached..].iter_mut().for_each(|count| *count += 1);
            above[passed..].iter_mut().for_each(|count| *count += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passes_and_the_search_agree(
            scores in prop::collection::vec(prop_oneof![(-3i8..4).prop_map(f32::from), Just(f32::NAN)], 0..80),
            mut thresholds in prop::collection::vec((-4i8..5).prop_map(f32::from), 1..PASSES),
        ) {
            thresholds.sort_by(|a, b| b.total_cmp(a));
            let mut passes = [vec![0; thresholds.len()], vec![0; thresholds.len()]];
            let mut searched = passes.clone();
            let [at_least, above] = &mut passes;
            count(&scores, &thresholds, at_least, above);
            let [at_least, above] = &mut searched;
            search(&scores, &thresholds, at_least, above);
            prop_assert_eq!(&passes, &searched);
            for (at, &threshold) in thresholds.iter().enumerate() {
                prop_assert_eq!(passes[0][at] as usize, scores.iter().filter(|&&score| score >= threshold).count());
                prop_assert_eq!(passes[1][at] as usize, scores.iter().filter(|&&score| score > threshold).count());
            }
        }
    }
}
