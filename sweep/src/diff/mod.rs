//! `ranksweep diff`: two sweeps, or one sweep before and after a change, from their stored tables: what differs in their settings, and whether
//! what they have in common ranks differently.

mod export;
mod method_pairs;
mod settings;
mod shared_users;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

use crate::{compare::conventions, plan::Titles, runner::StoredSweep, tested::Tested, usage::Usage};
use anyhow::Result;
use evaluator::{
    MetricAt,
    significance::{Estimate, judge},
};
pub(crate) use export::DiffFormat;
use method_pairs::MethodPairs;
use settings::{Change, Settings};
use shared_users::SharedUsers;
use std::collections::BTreeSet;

/// Two sweeps side by side.
pub(crate) struct Difference<'a> {
    sides: [&'a StoredSweep; 2],
    titles: Titles,
    at: MetricAt,
    settings: Settings,
    /// The setting by which values of the two do not compare; none where they do.
    incomparable: Option<&'static str>,
    /// What both plans have and the first sweep has no result of, and the second: datasets, and methods of the others.
    without_result: [Vec<String>; 2],
    datasets: Vec<DatasetDifference>,
}

/// A dataset that both sweeps have.
pub(crate) struct DatasetDifference {
    name: String,
    /// Whether both are the same data, split in the same way.
    is_same: bool,
    /// How many splits count: those that both have, with results of both of every method that is compared.
    splits: usize,
    /// How many splits each has.
    splits_of: [usize; 2],
    /// Users that both ranked on the splits that count.
    users: usize,
    /// Users that each ranked on the splits that count.
    users_of: [usize; 2],
    methods: Vec<MethodDifference>,
    /// Methods that both have results of, but not on the splits that count.
    uncounted: Vec<String>,
}

/// A method that both sweeps have results of on the splits that count.
pub(crate) struct MethodDifference {
    key: String,
    title: String,
    means: [f64; 2],
    /// How many trials the first sweep has that the second has not, and the second that the first has not.
    alone: [usize; 2],
    /// What is said of the second mean less the first; none where one sweep has all trials of the other, which are no sample of their own.
    tested: Option<Tested>,
}

impl<'a> Difference<'a> {
    /// Compares by a metric, the first sweep's primary one where none is named. Means are over the users that both ranked, by their own ids; the tests are
    /// over what the second sweep's `significance.over` names, and adjusted after Holm for all methods of all datasets.
    ///
    /// # Errors
    /// [`Usage`] for a metric that does not decide or that one of the sweeps has not measured.
    pub(crate) fn new(first: &'a StoredSweep, second: &'a StoredSweep, metric: Option<MetricAt>) -> Result<Self> {
        let sides = [first, second];
        let at = metric.unwrap_or_else(|| first.plan.evaluation.primary());
        for side in sides {
            check(side, at)?;
        }
        let incomparable = conventions::differing(&first.plan.evaluation, &second.plan.evaluation);
        let settings = Settings::of(&first.plan, &second.plan);
        let mut difference = Self {
            sides,
            titles: Titles::of_both([&first.plan, &second.plan]),
            at,
            settings,
            incomparable,
            without_result: Default::default(),
            datasets: Vec::new(),
        };
        if incomparable.is_none() {
            difference.without_result = [0, 1].map(|side| difference.lacking(side));
            difference.datasets = difference.compared()?;
        }
        Ok(difference)
    }

    fn compared(&self) -> Result<Vec<DatasetDifference>> {
        let significance = &self.sides[1].plan.evaluation.significance;
        let values = self.sides.map(|side| side.values.as_slice());
        // The rows that are tested, by their places.
        let (mut datasets, mut estimates, mut compared): (Vec<DatasetDifference>, Vec<Estimate>, Vec<(usize, usize)>) = Default::default();
        for name in self.common_datasets() {
            let keys = self.methods_with_results(&name);
            // A dataset that one has no result of is named among what lacks.
            let Some(shared) = SharedUsers::new(values, [0, 1].map(|side| self.only_split(side, &name)), &name, self.at, &keys) else {
                continue;
            };
            let pairs = MethodPairs::new(&shared, &name, self.at)?;
            let (mut methods, mut uncounted): (Vec<MethodDifference>, Vec<String>) = Default::default();
            for (key, &alone) in keys.iter().zip(&shared.alone) {
                let title = self.titles.by_key(&name, key).to_owned();
                let [Some(first), Some(second)] = [0, 1].map(|side| pairs.mean(side, key)) else {
                    uncounted.push(title);
                    continue;
                };
                if let Some(estimate) = pairs.difference(key, significance.over) {
                    estimates.push(estimate);
                    compared.push((datasets.len(), methods.len()));
                }
                methods.push(MethodDifference { key: key.clone(), title, means: [first, second], alone, tested: None });
            }
            datasets.push(DatasetDifference {
                is_same: self.fingerprints(0, &name) == self.fingerprints(1, &name),
                splits: shared.splits,
                splits_of: [0, 1].map(|side| self.fingerprints(side, &name).len()),
                users: shared.users,
                users_of: shared.users_of,
                methods,
                uncounted,
                name,
            });
        }
        let judged = judge(&estimates, significance.margin, significance.alpha);
        for ((dataset, method), (judged, estimate)) in compared.into_iter().zip(judged.into_iter().zip(&estimates)) {
            datasets[dataset].methods[method].tested = Some(Tested { difference: estimate.value, judged });
        }
        Ok(datasets)
    }

    /// Datasets that both sweeps have, by name, in the order of the first.
    fn common_datasets(&self) -> Vec<String> {
        let of = |side: usize| self.sides[side].plan.dataset_names();
        let second: BTreeSet<&str> = of(1).into_iter().collect();
        of(0).into_iter().filter(|name| second.contains(name)).map(str::to_owned).collect()
    }

    /// Methods that both sweeps have on a dataset, by key, in the order of the first.
    fn common_methods(&self, dataset: &str) -> Vec<String> {
        let of = |side: usize| self.sides[side].plan.methods.iter().filter(|method| method.dataset == dataset);
        let second: BTreeSet<&str> = of(1).map(|method| method.label.as_str()).collect();
        of(0).map(|method| method.label.as_str()).filter(|key| second.contains(key)).map(str::to_owned).collect()
    }

    /// Methods of a dataset that both sweeps have results of, by key, in the order of the first.
    fn methods_with_results(&self, dataset: &str) -> Vec<String> {
        let has_both = |key: &String| [0, 1].iter().all(|&side| self.has_result(side, dataset, key));
        self.common_methods(dataset).into_iter().filter(has_both).collect()
    }

    /// What both plans have and a sweep has no result of: datasets, and methods of the others.
    fn lacking(&self, side: usize) -> Vec<String> {
        let of_dataset = |name: String| -> Vec<String> {
            if !self.sides[side].values.iter().any(|values| values.dataset == name) {
                return vec![format!("dataset {name}")];
            }
            let lacking = self.common_methods(&name).into_iter().filter(|key| !self.has_result(side, &name, key));
            lacking.map(|key| format!("{} on {name}", self.titles.by_key(&name, &key))).collect()
        };
        self.common_datasets().into_iter().flat_map(of_dataset).collect()
    }

    fn has_result(&self, side: usize, dataset: &str, key: &str) -> bool {
        self.sides[side].values.iter().any(|values| values.dataset == dataset && values.method == key)
    }

    fn fingerprints(&self, side: usize, dataset: &str) -> BTreeSet<&str> {
        let all = self.sides[side].plan.datasets.iter().filter(|planned| planned.name() == dataset);
        all.map(|planned| planned.fingerprint.as_str()).collect()
    }

    /// The seed, or the fold, of a dataset's split in one of the sweeps, where it has a single one.
    fn only_split(&self, side: usize, dataset: &str) -> Option<u64> {
        let mut all = self.sides[side].plan.datasets.iter().filter(|planned| planned.name() == dataset);
        let only = all.next().filter(|_| all.next().is_none())?;
        only.preparation.split.repetition()
    }
}

fn check(side: &StoredSweep, at: MetricAt) -> Result<()> {
    if !at.metric.decides() {
        let known = evaluator::Metric::deciding();
        return Err(Usage(format!("--metric: `{at}` does not say which method ranks better; expected one of {known}")).into());
    }
    let has = side.plan.evaluation.metric_ats();
    if has.contains(&at) {
        return Ok(());
    }
    let names: Vec<String> = has.iter().map(ToString::to_string).collect();
    Err(Usage(format!("{} has no {at}; --metric takes one that both sweeps have, of {}", side.folder, names.join(", "))).into())
}
