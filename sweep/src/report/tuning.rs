//! What was tuned for a method, and what validation picked.

use super::method::Method;
use serde_json::Value;

impl Method<'_> {
    /// The values of the selected trials; none when nothing was selected.
    pub(super) fn picked(&self) -> Option<&Value> {
        self.trials.iter().find(|trial| trial.selected).map(|trial| &trial.parameters)
    }

    /// The keys whose values differ between the method's trials.
    pub(super) fn tuned(&self) -> Vec<String> {
        let first = self.trials[0].parameters.as_object();
        let differs = |key: &&String| self.trials.iter().any(|other| other.parameters.get(*key) != self.trials[0].parameters.get(*key));
        first.into_iter().flat_map(|values| values.keys()).filter(differs).cloned().collect()
    }

    /// The tuned keys whose picked value is the least or the largest of three or more that were tried: the best may lie beyond.
    pub(super) fn at_the_edge(&self) -> Vec<(String, f64)> {
        let edge = |key: String| {
            let mut tried: Vec<f64> = self.trials.iter().filter_map(|trial| trial.parameters[&key].as_f64()).collect();
            tried.sort_by(f64::total_cmp);
            tried.dedup();
            let value = self.picked()?[&key].as_f64()?;
            (tried.len() >= 3 && (tried.first() == Some(&value) || tried.last() == Some(&value))).then_some((key, value))
        };
        self.tuned().into_iter().filter_map(edge).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        report::{example, method::methods},
        tables::TrialRow,
    };

    fn grid(picked: f64) -> Vec<TrialRow> {
        let trial = |rate: f64| TrialRow {
            parameters: serde_json::json!({"loss.temperature": 0.2, "optimizer.learning_rate": rate}),
            selected: rate == picked,
            ..example::trial("d", "mf-64", Some("bpr"))
        };
        [0.1, 0.001, 0.01].map(trial).to_vec()
    }

    #[test]
    fn what_differs_was_tuned() {
        let trials = grid(0.01);
        let method = &methods(&trials, "d")[0];
        assert_eq!(method.tuned(), ["optimizer.learning_rate"]);
        assert_eq!(method.picked().unwrap()["optimizer.learning_rate"], 0.01);
    }

    #[test]
    fn the_ends_of_a_grid_are_edges_and_its_middle_is_not() {
        let edges = |picked| methods(&grid(picked), "d")[0].at_the_edge();
        assert_eq!(edges(0.1), [("optimizer.learning_rate".to_owned(), 0.1)]);
        assert_eq!(edges(0.001), [("optimizer.learning_rate".to_owned(), 0.001)]);
        assert_eq!(edges(0.01), []);
    }
}
