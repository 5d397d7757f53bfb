//! The difference between two methods, seen from either side.

use super::Input;
use evaluator::{MetricAt, settings::Test, significance::Comparison};

/// The first test of two methods by one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    /// Mean of the one minus mean of the other.
    pub(super) difference: f64,
    /// Adjusted for the number of pairs.
    pub(super) p: f64,
    /// Whether it is called significant, in the direction of the means.
    pub(super) significant: bool,
    /// Whether the test is significant in the other direction: ranks and means disagree.
    pub(super) contrary: bool,
}

/// The first test between `one` and `other`; none where they were not compared.
pub(super) fn between(input: &Input, dataset: &str, at: MetricAt, one: &str, other: &str) -> Option<Pair> {
    let test = *input.evaluation.significance.tests.first()?;
    let found = |sign: f64, row: &Comparison| {
        let contrary = row.significant && row.effect_size * row.difference < 0.0;
        Pair { difference: sign * row.difference, p: row.p_adjusted, significant: row.significant && !contrary, contrary }
    };
    first_tests(input, dataset, at, test).find_map(|row| match (row.method_a.as_str(), row.method_b.as_str()) {
        (a, b) if a == one && b == other => Some(found(1.0, row)),
        (a, b) if a == other && b == one => Some(found(-1.0, row)),
        _ => None,
    })
}

/// All comparisons of one dataset and metric by one test.
pub(super) fn first_tests<'a>(input: &Input<'a>, dataset: &str, at: MetricAt, test: Test) -> impl Iterator<Item = &'a Comparison> {
    input.comparisons.iter().filter(move |row| row.dataset == dataset && row.metric == at && row.test == test)
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
        let row = &input.comparisons[0];
        let one = between(&input, &row.dataset, at, &row.method_a, &row.method_b).unwrap();
        let other = between(&input, &row.dataset, at, &row.method_b, &row.method_a).unwrap();
        assert_eq!(one.difference, row.difference);
        assert_eq!(other, Pair { difference: -row.difference, ..one });
        assert_eq!(between(&input, "elsewhere", at, &row.method_a, &row.method_b), None);
    }
}
