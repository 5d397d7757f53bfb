//! The comparisons of the deciding test, by the pair of methods and seen from either side.

use super::Input;
use evaluator::{
    MetricAt,
    significance::{Comparison, Verdict},
};
use std::collections::HashMap;

/// A dataset, a metric, and two methods.
type Key<'a> = (&'a str, MetricAt, &'a str, &'a str);

/// Every comparison of the first test.
pub(super) struct Pairs<'a>(HashMap<Key<'a>, &'a Comparison>);

/// How one method compares with another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair<'a> {
    /// The mean of `one` less that of `other`.
    pub(super) difference: f64,
    /// Ends of the difference's interval, adjusted as `p` is; none for tests of ranks and signs.
    pub(super) interval: Option<(f64, f64)>,
    /// The adjusted p-value.
    pub(super) p: f64,
    /// The verdict on `one`.
    pub(super) verdict: Verdict,
    /// Whether the test favours the method with the lower mean. Wilcoxon's and Mann-Whitney's tests are of ranks and can: no winner then.
    pub(super) contrary: bool,
    /// The comparison itself.
    pub(super) row: &'a Comparison,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(input: &Input<'a>) -> Self {
        let first = input.evaluation.significance.tests.first();
        let rows = input.comparisons.iter().filter(|row| Some(&row.test) == first);
        Self(rows.map(|row| ((row.dataset.as_str(), row.metric, row.method_a.as_str(), row.method_b.as_str()), row)).collect())
    }

    /// How `one` compares with `other`; none where they were not compared.
    pub(super) fn between(&self, dataset: &str, at: MetricAt, one: &str, other: &str) -> Option<Pair<'a>> {
        let found = |one: &str, other: &str| self.0.get(&(dataset, at, one, other)).copied();
        found(one, other).map(|row| pair(row, 1.0)).or_else(|| found(other, one).map(|row| pair(row, -1.0)))
    }
}

fn pair(row: &Comparison, sign: f64) -> Pair<'_> {
    let interval = row.ci_low.zip(row.ci_high);
    Pair {
        difference: sign * row.difference,
        interval: interval.map(|(low, high)| if sign > 0.0 { (low, high) } else { (-high, -low) }),
        p: row.p_adjusted,
        verdict: if sign > 0.0 { row.verdict } else { row.verdict.reversed() },
        contrary: row.significant && row.effect_size * row.difference < 0.0,
        row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn the_other_side_has_the_other_sign() {
        let sweep = example::sweep();
        let input = sweep.input();
        let at = input.primary();
        let row = input.comparisons.iter().find(|row| row.verdict == Verdict::Worse && row.metric == at).unwrap();
        let pairs = Pairs::new(&input);
        let one = pairs.between(&row.dataset, at, &row.method_a, &row.method_b).unwrap();
        let other = pairs.between(&row.dataset, at, &row.method_b, &row.method_a).unwrap();
        assert_eq!((one.difference, one.verdict), (row.difference, Verdict::Worse));
        assert_eq!((other.difference, other.verdict), (-row.difference, Verdict::Better));
        assert_eq!(other.interval, Some((-row.ci_high.unwrap(), -row.ci_low.unwrap())));
        assert_eq!(pairs.between("elsewhere", at, &row.method_a, &row.method_b), None);
    }
}
