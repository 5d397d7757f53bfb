//! The values that were tuned for a method, and those that validation picked.

use super::method::MethodTrials;
use crate::{
    plan::Spaces,
    tables::{Status, TrialRow},
};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};

impl MethodTrials<'_> {
    /// The values of the selected trials; none when nothing was selected.
    pub(super) fn picked(&self) -> Option<&Value> {
        self.trials.iter().find(|trial| trial.selected).map(|trial| &trial.parameters)
    }

    /// The keys whose values differ between the method's trials. A default that is not written is left out of some.
    pub(super) fn tuned(&self) -> Vec<String> {
        let differs = |key: &&String| self.trials.iter().any(|other| other.parameters.get(*key) != self.trials[0].parameters.get(*key));
        let keys = self.trials.iter().filter_map(|trial| trial.parameters.as_object()).flat_map(|values| values.keys());
        keys.collect::<BTreeSet<_>>().into_iter().filter(differs).cloned().collect()
    }

    /// The tuned keys whose picked value is at an end of what the sweep file has for them: the best may lie beyond.
    pub(super) fn at_the_edge(&self, spaces: &Spaces) -> Vec<(String, f64)> {
        let edge = |key: String| {
            let value = self.picked()?[&key].as_f64()?;
            spaces.is_at_an_edge(self.key, &key, value).then_some((key, value))
        };
        self.tuned().into_iter().filter_map(edge).collect()
    }

    /// How many configurations were tried: those with a trial that ended, failed or was stopped by successive halving.
    pub(super) fn tried(&self) -> u32 {
        let is_tried = |trials: &Vec<&TrialRow>| trials.iter().any(|trial| !matches!(trial.status, Status::Missing | Status::Skipped));
        self.configurations().iter().filter(|trials| is_tried(trials)).count() as u32
    }

    /// The validation values of the configurations whose trials were all trained to their ends: means over the seeds that values are picked by.
    pub(super) fn validations(&self) -> Vec<f64> {
        let repeat = |trial: &TrialRow| (trial.split_seed, trial.seed);
        let skipped: HashSet<_> = self.trials.iter().filter(|trial| trial.status == Status::Skipped).map(|trial| repeat(trial)).collect();
        let value = |trials: &Vec<&TrialRow>| {
            let picking = trials.iter().filter(|trial| !skipped.contains(&repeat(trial)));
            let values: Option<Vec<f64>> = picking.map(|trial| trial.validation.filter(|_| trial.status == Status::Done)).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        self.configurations().iter().filter_map(value).collect()
    }

    /// The trials of each configuration: those whose values are the same.
    fn configurations(&self) -> Vec<Vec<&TrialRow>> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut configurations: Vec<Vec<&TrialRow>> = Vec::new();
        for trial in &self.trials {
            let place = *places.entry(trial.parameters.to_string()).or_insert(configurations.len());
            match configurations.get_mut(place) {
                Some(trials) => trials.push(trial),
                None => configurations.push(vec![trial]),
            }
        }
        configurations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        file::SweepFile,
        report::{example, method::methods},
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

    /// A range of learning rates, as a sweep file has it.
    fn spaces(rates: &str) -> Spaces {
        let text = format!(
            "
name: s
datasets: [{{name: d, source: {{format: synthetic}}, split: {{kind: random, test: 0.2, validation: 0.1, seed: 1}}}}]
grid:
  - backbones: [{{kind: mf, dim: 64}}]
    losses: [{{kind: bpr}}]
    samplers: [{{kind: uniform, negatives: 1}}]
    optimizer: {{kind: adam, learning_rate: {rates}}}
search: {{kind: random, trials: 3}}
"
        );
        Spaces::of(&SweepFile::parse(&text, "s.yaml").unwrap())
    }

    #[test]
    fn the_ends_of_what_the_file_lists_are_edges_and_those_of_the_draws_are_not() {
        let edges = |rates: &str, picked| methods(&grid(picked), "d")[0].at_the_edge(&spaces(rates));
        assert_eq!(edges("[0.1, 0.001, 0.01]", 0.1), [("optimizer.learning_rate".to_owned(), 0.1)]);
        assert_eq!(edges("[0.1, 0.001, 0.01]", 0.001), [("optimizer.learning_rate".to_owned(), 0.001)]);
        assert_eq!(edges("[0.1, 0.001, 0.01]", 0.01), []);
        for drawn in ["{log_uniform: [0.0001, 1]}", "[1, 0.1, 0.01, 0.001, 0.0001]"] {
            assert_eq!([0.1, 0.001, 0.01].map(|picked| edges(drawn, picked)), [const { Vec::new() }; 3], "{drawn}");
        }
        assert_eq!(edges("{log_uniform: [0.0001, 0.11]}", 0.1), [("optimizer.learning_rate".to_owned(), 0.1)]);
    }

    #[test]
    fn configurations_count_as_tried_once_and_have_a_value_where_all_seeds_were_trained_to_the_end() {
        let trial = |rate: f64, seed: u64, status: Status, validation: Option<f64>| TrialRow {
            parameters: serde_json::json!({"optimizer.learning_rate": rate}),
            seed: Some(seed),
            status,
            validation,
            ..example::trial("d", "mf-64", Some("bpr"))
        };
        let trials = [
            trial(0.1, 1, Status::Done, Some(0.25)),
            trial(0.01, 1, Status::Done, Some(0.5)),
            trial(0.02, 1, Status::Stopped, Some(0.4)),
            trial(0.03, 1, Status::Failed, None),
            trial(0.04, 1, Status::Done, Some(0.9)),
            trial(0.05, 1, Status::Missing, None),
            trial(0.1, 2, Status::Done, Some(0.75)),
            trial(0.01, 2, Status::Done, Some(0.25)),
            trial(0.02, 2, Status::Stopped, Some(0.3)),
            trial(0.03, 2, Status::Failed, None),
            trial(0.04, 2, Status::Failed, None),
            trial(0.05, 2, Status::Missing, None),
        ];
        let method = &methods(&trials, "d")[0];
        assert_eq!(method.tried(), 5, "all but the one of 0.05");
        assert_eq!(method.validations(), [0.5, 0.375]);
        // One that was picked by its first seed is compared by that.
        let picked = [
            trial(0.1, 1, Status::Done, Some(0.25)),
            trial(0.1, 2, Status::Skipped, None),
            trial(0.01, 1, Status::Done, Some(0.5)),
            trial(0.01, 2, Status::Done, Some(0.75)),
        ];
        let method = &methods(&picked, "d")[0];
        assert_eq!((method.tried(), method.validations()), (2, vec![0.25, 0.5]));
    }
}
