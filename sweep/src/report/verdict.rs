//! A dataset's result in one sentence.

use super::{Input, number, pairs, words};
use crate::tables::LeaderboardRow;

/// More than so many exceptions are counted instead of named.
const NAMED: usize = 3;

/// Who ranks best by the primary metric, and from whom the best does not differ.
pub(super) fn verdict(input: &Input, rows: &[LeaderboardRow], dataset: &str) -> String {
    let at = input.primary();
    let ranking: Vec<&LeaderboardRow> = rows.iter().filter(|row| row.dataset == dataset && row.at == at && row.mean.is_some()).collect();
    let Some((best, others)) = ranking.split_first() else {
        return format!("No method has a result on {dataset}.");
    };
    let mean = number::value(best.mean.unwrap_or_default());
    let interval = match (best.ci_low, best.ci_high) {
        (Some(low), Some(high)) => format!(" [{}, {}]", number::value(low), number::value(high)),
        _ => String::new(),
    };
    let title = &best.title;
    match against(input, best, others) {
        Some(against) => format!("{title} ranks best on {dataset} ({at} {mean}{interval}): {against}."),
        None => format!("{title} has {at} {mean}{interval} on {dataset}; no other method has a result."),
    }
}

/// From whom the best differs; none where it is alone.
fn against(input: &Input, best: &LeaderboardRow, others: &[&LeaderboardRow]) -> Option<String> {
    if others.is_empty() {
        return None;
    }
    let Some(&test) = input.evaluation.significance.tests.first() else {
        return Some("no significance test was asked for".to_owned());
    };
    let tested = |other: &&&LeaderboardRow| pairs::between(input, &best.dataset, best.at, &best.method, &other.method);
    let (worse, level): (Vec<&&LeaderboardRow>, Vec<_>) =
        others.iter().partition(|other| tested(other).is_some_and(|pair| pair.significant));
    let largest = worse.iter().filter_map(tested).map(|pair| pair.p).fold(0.0, f64::max);
    let named = |other: &&&LeaderboardRow| match tested(other) {
        Some(pair) if pair.contrary => format!("{}, which the test favours against the means", other.title),
        Some(pair) => format!("{} (p = {})", other.title, number::p_value(pair.p)),
        None => format!("{} (not tested)", other.title),
    };
    let mut names: Vec<String> = level.iter().take(NAMED).map(named).collect();
    if level.len() > NAMED {
        names.push(format!("{} more", level.len() - NAMED));
    }
    let by = format!("{}, {}", words::test(test), words::correction(input.evaluation.significance.correction));
    let p = |p: f64| number::p_value(p).trim_start_matches("< ").to_owned();
    let bound = if largest < 0.001 { "p < 0.001".to_owned() } else { format!("p at most {}", p(largest)) };
    Some(match (worse.len(), level.len()) {
        (1, 0) => format!("better than the other method ({bound}; {by})"),
        (all, 0) => format!("better than all {all} others ({bound}; {by})"),
        (0, _) => format!("not significantly better than {} ({by})", number::listed(&names)),
        (some, _) => format!(
            "better than {some} of {} others ({bound}; {by}), not significantly better than {}",
            others.len(),
            number::listed(&names)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{example, standings::standings};
    use evaluator::significance::Comparison;

    fn said(change: impl Fn(&mut Comparison)) -> String {
        let mut sweep = example::sweep();
        sweep.comparisons.iter_mut().for_each(change);
        let input = sweep.input();
        verdict(&input, &standings(&input).unwrap(), "books")
    }

    #[test]
    fn a_test_against_the_means_makes_no_winner() {
        let sentence = said(|row| (row.p_adjusted, row.significant, row.effect_size) = (0.0004, true, -row.difference.signum()));
        assert!(sentence.contains("not significantly better than "), "{sentence}");
        assert!(sentence.contains(", which the test favours against the means"), "{sentence}");
    }

    #[test]
    fn a_clear_winner() {
        let sentence = said(|row| (row.p_adjusted, row.significant) = (0.0004, true));
        assert!(sentence.starts_with("softmax-at-k(20) on mf-64 ranks best on books (ndcg@20 0."), "{sentence}");
        assert!(sentence.ends_with("better than all 6 others (p < 0.001; paired t-test, adjusted after Holm)."), "{sentence}");
    }

    #[test]
    fn exceptions_are_named_with_their_p() {
        let rival = "light-gcn-64x2 / softmax-at-k(20) / uniform-1000";
        let sentence = said(|row| {
            let close = row.method_a == rival || row.method_b == rival;
            (row.p_adjusted, row.significant) = if close { (0.21, false) } else { (0.0123, true) };
        });
        let end = "better than 5 of 6 others (p at most 0.012; paired t-test, adjusted after Holm), not significantly better than \
                   softmax-at-k(20) on light-gcn-64x2 (p = 0.21).";
        assert!(sentence.ends_with(end), "{sentence}");
    }

    #[test]
    fn no_difference_is_said_plainly() {
        let sentence = said(|row| (row.p_adjusted, row.significant) = (1.0, false));
        assert!(sentence.contains(": not significantly better than ") && sentence.contains(" and 3 more ("), "{sentence}");
    }

    #[test]
    fn nothing_measured_is_said_plainly() {
        let sweep = example::sweep();
        let input = Input { values: &[], ..sweep.input() };
        assert_eq!(verdict(&input, &standings(&input).unwrap(), "books"), "No method has a result on books.");
    }
}
