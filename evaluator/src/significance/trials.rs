//! From the values of trials to comparisons of methods: a user's value is the mean over the method's seeds.

use super::{Comparison, MethodValues, compare_methods};
use crate::{Error, MetricAt, Result, evaluate::TrialValues, settings::Significance};

/// Compares all pairs of methods of each dataset, for each of its metrics and cutoffs, by all tests of the settings.
///
/// Trials of the same method are its seeds. Datasets, metrics and methods keep the order in which they first appear; rows are ordered by
/// dataset, metric, test, pair.
///
/// # Errors
/// Settings out of range, values that are not finite, or trials of a dataset that differ in split, users or metrics.
pub fn compare(trials: &[TrialValues], settings: &Significance) -> Result<Vec<Comparison>> {
    settings.validate()?;
    let mut comparisons = Vec::new();
    for trials in grouped(trials.iter(), |trial| &trial.dataset) {
        let first = trials[0];
        trials.iter().try_for_each(|trial| check(trial, first))?;
        let methods = grouped(trials, |trial| &trial.method);
        for (place, &(metric, _)) in first.values.iter().enumerate() {
            let values: Vec<MethodValues> = methods.iter().map(|seeds| mean_over_seeds(seeds, place)).collect();
            comparisons.extend(compare_methods(&first.dataset, metric, &values, settings)?);
        }
    }
    Ok(comparisons)
}

/// Trials with the same key together, keys in the order of their first trial.
fn grouped<'a>(trials: impl IntoIterator<Item = &'a TrialValues>, key: fn(&TrialValues) -> &str) -> Vec<Vec<&'a TrialValues>> {
    let mut groups: Vec<Vec<&TrialValues>> = Vec::new();
    for trial in trials {
        match groups.iter_mut().find(|group| key(group[0]) == key(trial)) {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    groups
}

/// The mean of the values at this place of the list of metrics.
fn mean_over_seeds(seeds: &[&TrialValues], place: usize) -> MethodValues {
    let mean = |user: usize| seeds.iter().map(|seed| seed.values[place].1[user]).sum::<f64>() / seeds.len() as f64;
    let users = seeds[0].users.clone();
    MethodValues { method: seeds[0].method.clone(), values: (0..users.len()).map(mean).collect(), users }
}

/// Refuses a trial that cannot be paired with the first of its dataset.
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
    match trial.values.iter().find(|(_, values)| values.len() != trial.users.len()) {
        Some((metric, values)) => refuse(format!("trial {ours} has {} values of {metric} for {} users", values.len(), trial.users.len())),
        None => Ok(()),
    }
}

fn names(trial: &TrialValues) -> String {
    trial.values.iter().map(|(metric, _): &(MetricAt, _)| metric.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Test;
    use crate::significance::tests::{A, B};
    use dataset::Split;

    fn trial(dataset: &str, method: &str, seed: u32, values: &[f64]) -> TrialValues {
        TrialValues {
            trial: format!("{method}-{seed}"),
            method: method.to_owned(),
            dataset: dataset.to_owned(),
            seed: Some(seed.into()),
            split_seed: None,
            split: Split::Test,
            users: (0..values.len() as u32).collect(),
            user_ids: (0..values.len()).map(|user| user.to_string()).collect(),
            values: vec![("ndcg@20".parse().unwrap(), values.to_vec()), ("auc".parse().unwrap(), values.to_vec())],
            tied_users: 0,
            unknown_users: 0,
        }
    }

    fn settings() -> Significance {
        Significance { tests: vec![Test::Wilcoxon, Test::PairedT], bootstrap_resamples: 100, ..Significance::default() }
    }

    /// Two seeds whose mean is the worked example give its p-values.
    #[test]
    fn seeds_are_averaged_per_user() {
        let up: Vec<f64> = A.iter().map(|value| value + 0.1).collect();
        let down: Vec<f64> = A.iter().map(|value| value - 0.1).collect();
        let trials = [trial("tiny", "mf", 1, &up), trial("tiny", "pop", 1, &B), trial("tiny", "mf", 2, &down)];
        let rows = compare(&trials, &settings()).unwrap();
        let found: Vec<(String, &str)> = rows.iter().map(|row| (row.metric.to_string(), row.test.name())).collect();
        let (ndcg, auc) = ("ndcg@20".to_owned(), "auc".to_owned());
        assert_eq!(found, [(ndcg.clone(), "wilcoxon"), (ndcg, "paired-t"), (auc.clone(), "wilcoxon"), (auc, "paired-t")]);
        assert_eq!(rows[0].p_value, 0.013671875);
        assert!((rows[1].p_value - 0.01647098).abs() < 5e-9);
        assert_eq!((rows[0].method_a.as_str(), rows[0].method_b.as_str()), ("mf", "pop"));
    }

    #[test]
    fn methods_are_compared_within_a_dataset() {
        let trials = [trial("x", "mf", 1, &A), trial("y", "mf", 1, &A[1..]), trial("y", "pop", 1, &B[1..]), trial("x", "pop", 1, &B)];
        let rows = compare(&trials, &settings()).unwrap();
        assert_eq!(rows.iter().map(|row| (row.dataset.as_str(), row.users)).collect::<Vec<_>>(), [[("x", 10); 4], [("y", 9); 4]].concat());
    }

    #[test]
    fn trials_that_cannot_be_paired_are_refused() {
        let message = |other: TrialValues| compare(&[trial("tiny", "mf", 1, &A), other], &settings()).unwrap_err().to_string();
        assert_eq!(
            message(trial("tiny", "mf", 2, &A[1..])),
            "tiny: trial mf-2 was ranked for 9 users that are not the 10 users of trial mf-1; tests are paired by user, so evaluate both on \
             the same prepared dataset"
        );
        let validation = TrialValues { split: Split::Validation, ..trial("tiny", "mf", 2, &A) };
        assert_eq!(message(validation), "tiny: trial mf-2 was ranked on validation, trial mf-1 on test");
        let mut other = trial("tiny", "mf", 2, &A);
        other.values.truncate(1);
        assert_eq!(message(other.clone()), "tiny: trial mf-2 has the metrics ndcg@20, trial mf-1 has ndcg@20, auc");
        other.values.push(("auc".parse().unwrap(), vec![0.5]));
        assert_eq!(message(other), "tiny: trial mf-2 has 1 values of auc for 10 users");
    }
}
