//! From the values of trials to what is known of methods: comparisons of pairs, and the components of each method's variance.

use crate::{
    Error, Evaluation, MetricAt, Result, TrialValues,
    significance::{
        Comparison, Interval, MethodComponents, Over, Significance, Spread, Spreads,
        compare::Compared,
        differences::mean,
        method::{MethodValues, all_users},
    },
};
use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// What is known of the methods of all datasets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Ordered by dataset, metric, test, pair.
    pub comparisons: Vec<Comparison>,
    /// Ordered by dataset, metric, method.
    pub methods: Vec<MethodComponents>,
}

/// Compares the methods of each dataset, for each of its metrics and cutoffs, by all tests of the settings. `progress` hears how many of how
/// many tests of such a family are done.
///
/// Trials of the same method are its seeds, or the seeds of its splits. Datasets, metrics and methods keep the order in which they first
/// appear. Of a dataset with several splits those trials count that [`counted`] names.
///
/// # Errors
/// Settings out of range, values that are not finite, or trials of a split that differ in part, users or metrics.
pub fn compare(trials: &[TrialValues], evaluation: &Evaluation, progress: &mut dyn FnMut(usize, usize)) -> Result<Findings> {
    evaluation.significance.validate()?;
    let datasets = grouped(trials.iter(), |trial| &trial.dataset);
    let tests = |(metric, _): &(MetricAt, Vec<f64>)| settings(&evaluation.significance, *metric).tests.len();
    let all: usize = datasets.iter().map(|trials| trials[0].values.iter().map(tests).sum::<usize>()).sum();
    let (mut findings, mut done) = (Findings::default(), 0);
    for trials in datasets {
        for group in grouped(trials.iter().copied(), |trial| trial.split_seed) {
            group.iter().try_for_each(|trial| check(trial, group[0]))?;
        }
        let compared = Dataset::new(&trials);
        for (place, &(metric, _)) in trials[0].values.iter().enumerate() {
            compared.metric(place, metric, evaluation, &mut findings, &mut || {
                done += 1;
                progress(done, all);
            })?;
        }
    }
    Ok(findings)
}

/// The methods of a dataset by one metric.
pub struct MethodsAt<'a> {
    /// The methods' values, in the order of their first trials.
    pub methods: Vec<MethodValues<'a>>,
    /// The methods' spreads, in the order of `methods`.
    pub spreads: Spreads,
}

impl MethodsAt<'_> {
    /// The place of a method.
    pub fn place(&self, method: &str) -> Option<usize> {
        self.methods.iter().position(|found| found.method == method)
    }
}

/// What trials of a dataset reached by a metric, with the spreads that [`compare`] counts; none where there are no trials, or none of that metric.
///
/// # Errors
/// Values that are not finite.
pub fn methods_at<'a>(trials: &'a [TrialValues], dataset: &str, metric: MetricAt) -> Result<Option<MethodsAt<'a>>> {
    let trials: Vec<&TrialValues> = trials.iter().filter(|trial| trial.dataset == dataset).collect();
    let place = trials.first().and_then(|trial| trial.values.iter().position(|(at, _)| *at == metric));
    place.map(|place| Dataset::new(&trials).methods(place, metric)).transpose()
}

/// The trials of a dataset that [`compare`] counts: those on the splits that every method has trials of. Where no split has all methods, those with the fewest splits are
/// left out until there is one, of equally many the one that came last first.
pub fn counted<'a>(trials: &[&'a TrialValues]) -> Vec<&'a TrialValues> {
    let mut methods = grouped(trials.iter().copied(), |trial| &trial.method);
    let has = |trials: &[&TrialValues], split| trials.iter().any(|trial| trial.split_seed == split);
    let of_method = |trials: &[&TrialValues]| grouped(trials.iter().copied(), |trial| trial.split_seed).len();
    loop {
        let is_common = |trial: &&TrialValues| methods.iter().all(|trials| has(trials, trial.split_seed));
        let common: Vec<&TrialValues> = methods.iter().flatten().copied().filter(is_common).collect();
        let fewest = methods.iter().enumerate().rev().min_by_key(|(_, trials)| of_method(trials)).map(|(place, _)| place);
        match fewest {
            Some(fewest) if common.is_empty() => drop(methods.remove(fewest)),
            _ => return common,
        }
    }
}

/// The trials of a dataset by method, on the splits that all of these methods have.
struct Dataset<'a> {
    name: &'a str,
    splits: Vec<Option<u64>>,
    users: Vec<u32>,
    methods: Vec<Vec<&'a TrialValues>>,
}

impl<'a> Dataset<'a> {
    fn new(trials: &[&'a TrialValues]) -> Self {
        let counted = counted(trials);
        // In the order of all trials, whichever methods count.
        let splits = grouped(trials.iter().copied(), |trial| trial.split_seed).into_iter().map(|group| group[0].split_seed);
        let splits = splits.filter(|split| counted.iter().any(|trial| trial.split_seed == *split)).collect();
        let users = all_users(&counted);
        Self { name: &trials[0].dataset, users, splits, methods: grouped(counted, |trial| &trial.method) }
    }

    fn methods(&self, place: usize, metric: MetricAt) -> Result<MethodsAt<'a>> {
        let values = |trials: &Vec<&'a TrialValues>| MethodValues::new(trials, place, &self.users, &self.splits);
        let methods: Vec<MethodValues<'a>> = self.methods.iter().map(values).collect();
        methods.iter().try_for_each(|method| method.check(self.name, metric))?;
        Ok(MethodsAt { spreads: Spreads::new(&methods), methods })
    }

    /// Adds what one metric, at a place of the trials' lists, says of all methods.
    fn metric(
        &self,
        place: usize,
        metric: MetricAt,
        evaluation: &Evaluation,
        findings: &mut Findings,
        done: &mut dyn FnMut(),
    ) -> Result<()> {
        let MethodsAt { methods, spreads } = self.methods(place, metric)?;
        let primary = metric == evaluation.primary();
        let settings = settings(&evaluation.significance, metric);
        let compared = Compared::new(self.name, metric, primary, &methods, &spreads, &settings);
        findings.comparisons.extend(compared.rows(done));
        let components = (0..methods.len()).map(|method| self.components(method, &methods[method], metric, &spreads, evaluation));
        findings.methods.extend(components);
        Ok(())
    }

    fn components(
        &self,
        place: usize,
        method: &MethodValues<'_>,
        metric: MetricAt,
        spreads: &Spreads,
        evaluation: &Evaluation,
    ) -> MethodComponents {
        let settings = settings(&evaluation.significance, metric);
        let (spread, mean) = (spreads.methods[place], method.mean());
        let over = if method.is_of_all_users { Over::Seeds } else { spreads.counted(place, place, spreads.known(settings.over)) };
        let varies = over != Over::Seeds || matches!(spread.source, Spread::Own | Spread::Pooled);
        let finite = |interval: Interval| (varies && interval.low.is_finite()).then_some(interval);
        let interval = finite(spreads.of_mean(place, &method.values, over).interval(mean, settings.alpha));
        let users = spreads.of_mean(place, &method.values, Over::Users).users;
        let var_seeds = within(&method.trial_means);
        let seeds = method.trial_means.iter().map(Vec::len).min().unwrap_or(1).max(1) as f64;
        MethodComponents {
            dataset: self.name.to_owned(),
            metric,
            method: method.method.clone(),
            users: method.users.len(),
            trials: method.trial_means.iter().map(Vec::len).sum(),
            splits: self.splits.len(),
            mean,
            ci_low: interval.map(|interval| interval.low),
            ci_high: interval.map(|interval| interval.high),
            over,
            var_users: users.is_finite().then_some(users),
            var_seeds: var_seeds.filter(|_| spread.source != Spread::None),
            var_splits: spread.raw.filter(|_| self.splits.len() > 1).map(|raw| (raw - var_seeds.unwrap_or_default() / seeds).max(0.0)),
            var_replicate: spread.variance,
            degrees: spread.degrees,
            var_interaction: spread.interaction,
            spread: spread.source,
        }
    }
}

/// How differences by a metric are tested. One value of all users' lists has no users to count: it is tested over seeds alone, by the tests that
/// can tell by them, and not at all where seeds are not to be counted.
fn settings(asked: &Significance, metric: MetricAt) -> Cow<'_, Significance> {
    if metric.metric.is_per_user() {
        return Cow::Borrowed(asked);
    }
    let tests = asked.tests.iter().copied().filter(|test| test.tells_by_seeds_alone() && asked.over != Over::Users).collect();
    Cow::Owned(Significance { tests, over: Over::Seeds, ..asked.clone() })
}

/// The variance of values within their groups, pooled; none where no group has two.
fn within(groups: &[Vec<f64>]) -> Option<f64> {
    let squares = |values: &Vec<f64>| values.iter().map(|value| (value - mean(values)).powi(2)).sum::<f64>();
    let degrees: usize = groups.iter().map(|values| values.len().saturating_sub(1)).sum();
    (degrees > 0).then(|| groups.iter().map(squares).sum::<f64>() / degrees as f64)
}

/// Trials with the same key together, keys in the order of their first trial.
fn grouped<'a, K: PartialEq>(
    trials: impl IntoIterator<Item = &'a TrialValues>,
    key: fn(&'a TrialValues) -> K,
) -> Vec<Vec<&'a TrialValues>> {
    let mut groups: Vec<Vec<&TrialValues>> = Vec::new();
    for trial in trials {
        match groups.iter_mut().find(|group| key(group[0]) == key(trial)) {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    groups
}

/// Refuses a trial that cannot be paired with the first of its split.
fn check(trial: &TrialValues, first: &TrialValues) -> Result<()> {
    let refuse = |reason: String| Err(Error::Comparison { dataset: trial.dataset.clone(), reason });
    let (ours, theirs) = (&trial.trial, &first.trial);
    if trial.split != first.split {
        return refuse(format!("trial {ours} was ranked on {}, trial {theirs} on {}", trial.split.name(), first.split.name()));
    }
    if trial.users != first.users {
        let (count, other) = (trial.users.len(), first.users.len());
        return refuse(format!(
            "trial {ours} was ranked for {count} users that are not the {other} users of trial {theirs}; tests are paired by user, so \
             evaluate both on the same prepared dataset"
        ));
    }
    if !trial.values.iter().map(|(metric, _)| metric).eq(first.values.iter().map(|(metric, _)| metric)) {
        return refuse(format!("trial {ours} has the metrics {}, trial {theirs} has {}", names(trial), names(first)));
    }
    let expected = |metric: MetricAt| if metric.metric.is_per_user() { trial.users.len() } else { 1 };
    match trial.values.iter().find(|(metric, values)| values.len() != expected(*metric)) {
        Some((metric, values)) => refuse(format!("trial {ours} has {} values of {metric}, expected {}", values.len(), expected(*metric))),
        None => Ok(()),
    }
}

fn names(trial: &TrialValues) -> String {
    trial.values.iter().map(|(metric, _): &(MetricAt, _)| metric.to_string()).collect::<Vec<_>>().join(", ")
}
