//! Which method is better on a dataset, by the verdict of the test that decides there.

use super::Data;
use evaluator::significance::{Comparison, Verdict};
use std::{cmp::Ordering, collections::HashMap};

/// The verdicts of all pairs of methods on all datasets.
pub(super) struct Outcomes<'a>(HashMap<[&'a str; 3], Ordering>);

impl<'a> Outcomes<'a> {
    /// Collects them from the deciding tests.
    pub(super) fn new(data: &Data<'a>) -> Self {
        let outcome = |row: &&'a Comparison| ([row.dataset.as_str(), row.method_a.as_str(), row.method_b.as_str()], verdict(row));
        Self(data.deciding.iter().map(outcome).collect())
    }

    /// `Greater` where the one is better; `Equal` where they are equivalent or nothing is decided; `None` where they were not tested.
    pub(super) fn of(&self, dataset: &str, one: &str, other: &str) -> Option<Ordering> {
        let found = |one, other| self.0.get(&[dataset, one, other]).copied();
        found(one, other).or_else(|| found(other, one).map(Ordering::reverse))
    }
}

fn verdict(row: &Comparison) -> Ordering {
    match row.verdict {
        Verdict::Better | Verdict::Higher => Ordering::Greater,
        Verdict::Worse | Verdict::Lower => Ordering::Less,
        Verdict::Equivalent | Verdict::Undecided => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn only_what_is_better_wins() {
        let mut sweep = example::sweep();
        let input = sweep.input();
        let (at, row) = (input.primary(), input.comparisons[0].clone());
        let outcome = |sweep: &example::Sweep, one: &str, other: &str| {
            let input = sweep.input();
            Outcomes::new(&Data::of(&input, at)).of("books", one, other)
        };
        let mut set = |verdict| {
            sweep.comparisons[0].verdict = verdict;
            [outcome(&sweep, &row.method_a, &row.method_b), outcome(&sweep, &row.method_b, &row.method_a)]
        };
        assert_eq!(set(Verdict::Better), [Some(Ordering::Greater), Some(Ordering::Less)]);
        assert_eq!(set(Verdict::Worse), [Some(Ordering::Less), Some(Ordering::Greater)]);
        assert_eq!(set(Verdict::Equivalent), [Some(Ordering::Equal); 2]);
        assert_eq!(set(Verdict::Undecided), [Some(Ordering::Equal); 2]);
        assert_eq!(outcome(&sweep, &row.method_a, "elsewhere"), None);
    }
}
