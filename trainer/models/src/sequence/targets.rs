//! Which interactions are predicted, in runs of one window.

use super::{first_of_window, histories};
use crate::{Error, Result};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `targets` of models of sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetsOf {
    /// Every item of a history but the first.
    #[default]
    EveryPosition,
    /// The last item of a history.
    Last,
}

/// The train interactions that are predicted, by their places in train; those of a window stand together, in the order of time.
pub struct Targets {
    starts: Vec<usize>,
    places: Vec<u32>,
}

impl Targets {
    /// The targets of a dataset whose order is known.
    ///
    /// # Errors
    /// [`Error::Impossible`] where it is not, or where no user has two train interactions.
    pub fn new(dataset: &Dataset, max_length: u32, of: TargetsOf) -> Result<Self> {
        let Some([histories, _]) = histories(dataset) else {
            return Err(Error::Impossible(
                "the model reads histories in order, and the dataset has none: its source has no timestamps, or noise was added to it; take a source \
                 with timestamps and no `noise`, or another model"
                    .to_owned(),
            ));
        };
        let mut targets = Self { starts: vec![0], places: Vec::new() };
        for user in 0..histories.users() {
            let (history, row, start) = (histories.row(user), dataset.train.row(user), dataset.train.offsets()[user]);
            let first = if of == TargetsOf::Last { history.len().saturating_sub(1).max(1) } else { 1 };
            for place in first..history.len() {
                let window = |place| first_of_window(history.len(), place, max_length as usize);
                if place > first && window(place) != window(place - 1) {
                    targets.end_run();
                }
                let at = row.binary_search(&history[place]).expect("a history has the items of train");
                targets.places.push((start + at) as u32);
            }
            targets.end_run();
        }
        match targets.places.is_empty() {
            true => Err(Error::Impossible(
                "the model predicts items from those before them, and no user has two train interactions: take another split or another model".to_owned(),
            )),
            false => Ok(targets),
        }
    }

    /// The places of all targets among the train interactions.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    fn end_run(&mut self) {
        if self.starts.last() != Some(&self.places.len()) {
            self.starts.push(self.places.len());
        }
    }

    /// The number of windows.
    pub fn runs(&self) -> usize {
        self.starts.len() - 1
    }

    /// The targets of a window.
    pub fn run(&self, run: usize) -> &[u32] {
        &self.places[self.starts[run]..self.starts[run + 1]]
    }

    /// The number of targets.
    pub fn number(&self) -> usize {
        self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Order;
    use testing::dataset_of;

    /// User 0 took 4, 1, 3, 0 and 2, user 1 took 2, user 2 nothing, user 3 took 1 and 0.
    fn ordered() -> Dataset {
        let pairs = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 0), (3, 1)];
        let order = Order { train: vec![3, 1, 4, 2, 0, 0, 1, 0], fold_in: Vec::new(), validation: Vec::new(), test: Vec::new() };
        Dataset { order: Some(order), ..dataset_of([4, 5], &pairs) }
    }

    fn runs(max_length: u32, of: TargetsOf) -> Vec<Vec<u32>> {
        let targets = Targets::new(&ordered(), max_length, of).unwrap();
        assert_eq!(targets.number(), (0..targets.runs()).map(|run| targets.run(run).len()).sum::<usize>());
        (0..targets.runs()).map(|run| targets.run(run).to_vec()).collect()
    }

    #[test]
    fn targets_of_a_window_stand_together_in_the_order_of_time() {
        assert_eq!(runs(50, TargetsOf::EveryPosition), [vec![1, 3, 0, 2], vec![6]]);
        assert_eq!(runs(3, TargetsOf::EveryPosition), [vec![1], vec![3, 0, 2], vec![6]]);
        assert_eq!(runs(50, TargetsOf::Last), [vec![2], vec![6]]);
    }

    #[test]
    fn datasets_without_order_or_histories_are_refused() {
        let message = |dataset: &Dataset| Targets::new(dataset, 5, TargetsOf::default()).map(|_| ()).unwrap_err().to_string();
        assert!(message(&dataset_of([4, 5], &[(0, 1)])).contains("its source has no timestamps, or noise was added to it"));
        let order = Some(Order { train: vec![0], fold_in: Vec::new(), validation: Vec::new(), test: Vec::new() });
        assert!(message(&Dataset { order, ..dataset_of([4, 5], &[(0, 1)]) }).contains("no user has two train interactions"));
    }
}
