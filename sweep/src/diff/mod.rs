//! `ranksweep diff`: two sweeps, or one sweep before and after a change, from their stored tables: what differs in their settings, and whether
//! what they have in common ranks differently.

mod export;
mod settings;
mod shared_users;
mod table;
mod terminal;

use crate::{compare::conventions, plan::Titles, runner::StoredSweep, tested::Tested, usage::Usage};
use anyhow::Result;
use evaluator::{
    MetricAt, TrialValues,
    findings::methods_at,
    significance::{Contrast, Estimate, judge},
};
pub(crate) use export::DiffFormat;
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
    datasets: Vec<DatasetDifference>,
}

/// A dataset that both sweeps have.
pub(crate) struct DatasetDifference {
    name: String,
    /// Whether both are the same data, split in the same way.
    is_same: bool,
    /// How many splits both have; values of other splits do not compare.
    splits: usize,
    /// Users that both ranked.
    users: usize,
    /// Users that each ranked.
    users_of: [usize; 2],
    methods: Vec<MethodDifference>,
}

/// A method that both sweeps have results of.
pub(crate) struct MethodDifference {
    key: String,
    title: String,
    means: [f64; 2],
    /// What is said of the second mean less the first; none where both are of the same trials.
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
        let mut difference = Self { sides, titles: Titles::new(&second.plan), at, settings, incomparable, datasets: Vec::new() };
        if incomparable.is_none() {
            difference.datasets = difference.compared()?;
        }
        Ok(difference)
    }

    fn compared(&self) -> Result<Vec<DatasetDifference>> {
        let significance = &self.sides[1].plan.evaluation.significance;
        // The rows that are tested, by their places.
        let (mut datasets, mut estimates, mut compared): (Vec<DatasetDifference>, Vec<Estimate>, Vec<(usize, usize)>) = Default::default();
        for name in self.common_datasets() {
            let common = self.common_methods(&name);
            let same: Vec<String> = common.iter().filter(|key| self.is_of_same_trials(&name, key)).cloned().collect();
            let Some(shared) = SharedUsers::new(self.sides, &name, self.at, &same) else { continue };
            let measured = methods_at(&shared.values, &name, self.at)?;
            let mut methods: Vec<MethodDifference> = Vec::new();
            for key in common {
                let is_same = same.contains(&key);
                let [one, other] = [0, usize::from(!is_same)].map(|side| shared_users::named(side, &key));
                let places = measured.as_ref().and_then(|found| Some((found, found.place(&one)?, found.place(&other)?)));
                let Some((found, one, other)) = places else { continue };
                let means = [one, other].map(|place| found.methods[place].mean());
                if !is_same {
                    let contrast = Contrast::difference(other, one);
                    estimates.push(Estimate::new(&contrast, &found.methods, &found.spreads, significance.over));
                    compared.push((datasets.len(), methods.len()));
                }
                methods.push(MethodDifference { title: self.titles.by_key(&name, &key).to_owned(), key, means, tested: None });
            }
            datasets.push(DatasetDifference {
                is_same: self.fingerprints(0, &name) == self.fingerprints(1, &name),
                splits: shared.splits,
                users: shared.users,
                users_of: shared.users_of,
                methods,
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

    /// Whether both results of a method are of the same trials.
    fn is_of_same_trials(&self, dataset: &str, key: &str) -> bool {
        let of = |side: usize| {
            let is_of = |values: &&TrialValues| values.dataset == dataset && values.method == key;
            self.sides[side].values.iter().filter(is_of).map(|values| values.trial.as_str()).collect::<BTreeSet<_>>()
        };
        of(0) == of(1)
    }

    fn fingerprints(&self, side: usize, dataset: &str) -> Vec<&str> {
        let all = self.sides[side].plan.datasets.iter().filter(|planned| planned.name() == dataset);
        all.map(|planned| planned.fingerprint.as_str()).collect()
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
