//! The cost and the gain of tuning a method: configurations tried, and the best validation value to be expected by their number.

use super::{
    Input,
    method::{MethodTrials, methods},
    number,
};
use crate::tables::TuningRow;
use evaluator::significance::expected_best;
use std::collections::BTreeMap;

/// Methods of one budget that a remark names; others are counted.
const NAMED: usize = 3;

/// The best validation value to be expected of each method by the number of configurations, up to all that have one.
pub(super) fn expected(input: &Input) -> Vec<TuningRow> {
    let of_dataset = |dataset: &str| methods(input.trials, dataset).iter().flat_map(of_method).collect::<Vec<_>>();
    input.manifests.iter().flat_map(|manifest| of_dataset(&manifest.name)).collect()
}

fn of_method(method: &MethodTrials) -> Vec<TuningRow> {
    let first = method.trials[0];
    let row = |best| TuningRow { dataset: first.dataset.clone(), method: first.method.clone(), select_by: first.select_by, best };
    expected_best(&method.validations()).into_iter().map(row).collect()
}

/// That some methods were tuned more than others, of those that learn or have several configurations.
pub(super) fn unequal(methods: &[MethodTrials]) -> Option<String> {
    let mut of_budget: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    let learns =
        |method: &MethodTrials| method.trials.iter().any(|trial| trial.loss.is_some() || trial.epochs.is_some_and(|epochs| epochs > 0));
    for method in methods.iter().filter(|method| method.tried() > u32::from(!learns(method))) {
        of_budget.entry(method.tried()).or_default().push(&method.title);
    }
    let words: Vec<String> =
        of_budget.iter().rev().enumerate().map(|(place, (&budget, titles))| budget_of(budget, titles, place == 0)).collect();
    (words.len() > 1).then(|| format!("Tuning budgets differ: {}; a method that was tuned more has an advantage.", words.join(", ")))
}

/// `4 configurations for bpr on mf-64`, and then `1 for softmax on mf-64`.
fn budget_of(budget: u32, titles: &[&str], is_first: bool) -> String {
    let count = if is_first { number::counted(budget as usize, "configuration") } else { number::count(budget as usize) };
    let mut names: Vec<String> = titles.iter().take(NAMED).map(|title| (*title).to_owned()).collect();
    if titles.len() > NAMED {
        names.push(number::counted(titles.len() - NAMED, "other"));
    }
    format!("{count} for {}", number::listed(&names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        report::example,
        tables::{Status, TrialRow},
    };

    fn tuned(loss: &str, configurations: u32) -> Vec<TrialRow> {
        let trial = |rate: u32| TrialRow {
            parameters: serde_json::json!({"optimizer.learning_rate": rate}),
            ..example::trial("books", "mf-64", Some(loss))
        };
        (0..configurations).map(trial).collect()
    }

    fn said(trials: &[TrialRow]) -> Option<String> {
        unequal(&methods(trials, "books"))
    }

    #[test]
    fn unequal_budgets_are_said_the_largest_first() {
        let fixed = example::trial("books", "popularity", None);
        let trials = [tuned("bpr", 4), tuned("softmax", 1), vec![fixed.clone()]].concat();
        let expected = "Tuning budgets differ: 4 configurations for bpr on mf-64, 1 for softmax on mf-64; a method that was tuned more has an advantage.";
        assert_eq!(said(&trials).as_deref(), Some(expected));
        assert_eq!(
            said(&[tuned("bpr", 3), tuned("softmax", 3), vec![fixed]].concat()),
            None,
            "one configuration of what does not learn is no smaller budget"
        );
        let ease = |regularization: u32| TrialRow {
            parameters: serde_json::json!({"backbone.regularization": regularization}),
            ..example::trial("books", "ease", None)
        };
        let at_once = said(&[tuned("bpr", 1), vec![ease(100), ease(200)]].concat()).unwrap();
        assert!(at_once.starts_with("Tuning budgets differ: 2 configurations for ease, 1 for bpr on mf-64;"), "{at_once}");
        let als = TrialRow {
            epochs: Some(8),
            parameters: serde_json::json!({"backbone.regularization": 1}),
            ..example::trial("books", "ials-64", None)
        };
        let of_its_own = said(&[tuned("bpr", 4), vec![als]].concat()).unwrap();
        assert!(of_its_own.starts_with("Tuning budgets differ: 4 configurations for bpr on mf-64, 1 for ials-64;"), "{of_its_own}");
        let many = ["a", "b", "c", "d", "e"].map(|loss| tuned(loss, 2)).concat();
        let words = said(&[many, tuned("bpr", 1)].concat()).unwrap();
        assert!(words.contains("2 configurations for a on mf-64, b on mf-64, c on mf-64 and 2 others, 1 for bpr on mf-64;"), "{words}");
    }

    #[test]
    fn what_was_not_trained_yet_is_no_smaller_budget() {
        let missing = TrialRow { status: Status::Missing, ..tuned("softmax", 1).remove(0) };
        assert_eq!(said(&[tuned("bpr", 4), vec![missing]].concat()), None);
    }

    /// The values of two configurations over three seeds each: the best of two draws is the worse one in a quarter of all cases.
    #[test]
    fn the_best_is_expected_of_means_over_seeds() {
        let sweep = example::sweep();
        let rows = expected(&sweep.input());
        let of = |dataset: &str, method: &str| {
            let rows = rows.iter().filter(|row| row.dataset == dataset && row.method == method);
            rows.map(|row| (row.best.budget, (1e6 * row.best.mean).round(), (1e6 * row.best.std).round())).collect::<Vec<_>>()
        };
        assert_eq!(of("books", "mf-64 / softmax / uniform-1000"), [(1, 92_000.0, 20_000.0), (2, 102_000.0, 17_321.0)]);
        assert_eq!(of("books", "mf-64 / bpr / uniform-1").len(), 2, "one of the three failed");
        assert_eq!(of("films", "mf-64 / bpr / uniform-1").len(), 3);
        assert_eq!(of("films", "popularity"), [(1, 100_000.0, 0.0)]);
    }
}
