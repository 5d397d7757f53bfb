//! Several sweeps as one: their datasets by name, their methods by key.

use super::{Ran, conventions};
use crate::{report::across::deciding, tables::TrialRow, usage::Usage};
use anyhow::Result;
use dataset::Manifest;
use evaluator::{Evaluation, Metric, MetricAt, TrialValues, findings, significance::Comparison};
use std::collections::{BTreeMap, BTreeSet};

/// The sweeps' values on all of their datasets.
pub(super) struct United {
    /// The metric that is compared.
    pub(super) at: MetricAt,
    /// The datasets' names, in the order of the sweeps.
    pub(super) datasets: Vec<String>,
    /// The trials of all datasets.
    pub(super) trials: Vec<TrialRow>,
    /// Test values of the picked trials.
    pub(super) values: Vec<TrialValues>,
    /// The deciding test of each pair of methods on each dataset.
    pub(super) deciding: Vec<Comparison>,
}

/// An error of whoever named the sweeps.
pub(super) fn refusal(message: String) -> anyhow::Error {
    Usage(message).into()
}

impl United {
    /// Joins the sweeps. A dataset whose methods come from several sweeps, or from one that decides by other settings than the first sweep, is tested anew, as the first
    /// sweep decides.
    ///
    /// # Errors
    /// [`Usage`] for a metric that a sweep has not, sweeps that rank by different conventions, a name of two datasets, a dataset of two
    /// names, and a method that two sweeps trained differently on the same dataset.
    pub(super) fn new(sweeps: &[Ran], metric: Option<MetricAt>) -> Result<Self> {
        let at = metric.unwrap_or_else(|| sweeps[0].session.plan.evaluation.primary());
        sweeps.iter().try_for_each(|sweep| check_metric(sweep, at))?;
        sweeps.iter().try_for_each(|sweep| check_conventions(sweep, &sweeps[0]))?;
        let mut united = Self { at, datasets: datasets(sweeps)?, trials: Vec::new(), values: Vec::new(), deciding: Vec::new() };
        let owners = owners(sweeps)?;
        for (place, sweep) in sweeps.iter().enumerate() {
            let owned = |dataset: &str, method: &str| owners.get(&(dataset, method)).is_none_or(|&owner| owner == place);
            united.trials.extend(sweep.results.trials.iter().filter(|row| owned(&row.dataset, &row.method)).cloned());
            united.values.extend(sweep.results.values.iter().filter(|values| owned(&values.dataset, &values.method)).cloned());
        }
        for dataset in &united.datasets {
            let holders: BTreeSet<usize> = owners.iter().filter(|((name, _), _)| name == dataset).map(|(_, &owner)| owner).collect();
            let rows = match holders.iter().next() {
                Some(&only) if holders.len() == 1 && decides_alike(&sweeps[only], &sweeps[0]) => stored(&sweeps[only], dataset, at),
                _ => tested(&united.values, dataset, at, &sweeps[0].session.plan.evaluation)?,
            };
            united.deciding.extend(rows);
        }
        Ok(united)
    }
}

fn check_metric(sweep: &Ran, at: MetricAt) -> Result<()> {
    let has = sweep.session.plan.evaluation.metric_ats();
    if !at.metric.decides() {
        let known = Metric::deciding();
        return Err(refusal(format!(
            "--metric: `{at}` does not say which method ranks better, so that none has a rank by it; expected one of {known}"
        )));
    }
    if has.contains(&at) {
        return Ok(());
    }
    let names: Vec<String> = has.iter().filter(|at| at.metric.decides()).map(ToString::to_string).collect();
    Err(refusal(format!("{}: the sweep has no {at}; --metric takes one that all sweeps have, of {}", sweep.path, names.join(", "))))
}

/// Values that were measured by other rules do not compare.
fn check_conventions(sweep: &Ran, first: &Ran) -> Result<()> {
    match conventions::differing(&first.session.plan.evaluation, &sweep.session.plan.evaluation) {
        None => Ok(()),
        Some(key) => Err(refusal(format!(
            "{} and {} have a different `evaluation.{key}`, so their values do not compare; give both the same and run `ranksweep evaluate`",
            first.path, sweep.path
        ))),
    }
}

/// The names of all datasets, each once.
fn datasets(sweeps: &[Ran]) -> Result<Vec<String>> {
    let mut known: Vec<(&str, Vec<&str>, &str)> = Vec::new();
    for sweep in sweeps {
        for manifest in &sweep.results.manifests {
            let (name, content) = (manifest.name.as_str(), content(sweep, manifest));
            match known.iter().find(|(other, held, _)| *other == name || *held == content) {
                Some((other, held, _)) if *other == name && *held == content => {}
                Some((other, _, path)) if *other == name => {
                    let words = format!("dataset `{name}` is not the same in {path} and {}: its source or its settings differ", sweep.path);
                    return Err(refusal(format!("{words}; give one of them another name")));
                }
                Some((other, _, path)) => {
                    let words = format!("dataset `{other}` of {path} and dataset `{name}` of {} are the same data", sweep.path);
                    return Err(refusal(format!("{words}, which must not count twice; give them one name")));
                }
                None => known.push((name, content, &sweep.path)),
            }
        }
    }
    Ok(known.into_iter().map(|(name, _, _)| name.to_owned()).collect())
}

/// The fingerprints of a dataset's splits.
fn content<'a>(sweep: &'a Ran, manifest: &'a Manifest) -> Vec<&'a str> {
    let splits = sweep.results.splits.iter().filter(|split| split.manifest.name == manifest.name);
    let of_splits: Vec<&str> = splits.map(|split| split.manifest.fingerprint.as_str()).collect();
    if of_splits.is_empty() { vec![&manifest.fingerprint] } else { of_splits }
}

/// The first sweep that has values of each method on each dataset.
fn owners(sweeps: &[Ran]) -> Result<BTreeMap<(&str, &str), usize>> {
    let mut owners: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (place, sweep) in sweeps.iter().enumerate() {
        for values in &sweep.results.values {
            let owner = *owners.entry((&values.dataset, &values.method)).or_insert(place);
            let first = &sweeps[owner];
            if picked(first, &values.dataset, &values.method) != picked(sweep, &values.dataset, &values.method) {
                return Err(refusal(format!(
                    "method `{}` stands in {} and in {}, trained differently on `{}` (other seeds, or other tuned values); leave it out of one",
                    values.method, first.path, sweep.path, values.dataset
                )));
            }
        }
    }
    Ok(owners)
}

/// The ids of the trials that were ranked on test.
fn picked<'a>(sweep: &'a Ran, dataset: &str, method: &str) -> BTreeSet<&'a str> {
    let of = |values: &&TrialValues| values.dataset == dataset && values.method == method;
    sweep.results.values.iter().filter(of).map(|values| values.trial.as_str()).collect()
}

/// Whether both sweeps have their verdicts by the same test, at the same level.
fn decides_alike(one: &Ran, other: &Ran) -> bool {
    let [one, other] = [one, other].map(|sweep| {
        let mut settings = sweep.session.plan.evaluation.significance.clone();
        settings.tests.truncate(1);
        settings
    });
    one == other
}

/// The verdicts that a sweep stored.
fn stored(sweep: &Ran, dataset: &str, at: MetricAt) -> Vec<Comparison> {
    let settings = &sweep.session.plan.evaluation.significance;
    deciding(&sweep.results.comparisons, settings, at).filter(|row| row.dataset == dataset).cloned().collect()
}

/// The verdicts between the methods of several sweeps.
fn tested(values: &[TrialValues], dataset: &str, at: MetricAt, evaluation: &Evaluation) -> Result<Vec<Comparison>> {
    let of_metric = |values: &TrialValues| TrialValues {
        values: values.values.iter().filter(|(metric, _)| *metric == at).cloned().collect(),
        ..values.clone()
    };
    let values: Vec<TrialValues> = values.iter().filter(|values| values.dataset == dataset).map(of_metric).collect();
    let mut evaluation = evaluation.clone();
    evaluation.significance.tests.truncate(1);
    Ok(findings::compare(&values, &evaluation, &mut |_, _| ())?.comparisons)
}
