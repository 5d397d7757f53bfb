//! A method's trials on test, summed up for one metric.

use anyhow::{Result, ensure};
use evaluator::{MetricAt, evaluate::TrialValues, significance};
use std::collections::BTreeMap;

/// A mean over users and seeds, and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// Seeds behind the mean; 1 for what fits without sampling.
    pub(super) seeds: u32,
    /// Users behind the mean.
    pub(super) users: u32,
    /// Mean over users of each user's mean over splits and seeds.
    pub(super) mean: f64,
    /// The t interval of the mean over users; none for one user.
    pub(super) interval: Option<(f64, f64)>,
    /// Standard deviation of the means of single seeds; none for one seed.
    pub(super) seed_std: Option<f64>,
}

impl Measured {
    /// Sums up the trials of one method, with an interval of this level; none where they have no values of the metric.
    ///
    /// # Errors
    /// When the trials were ranked for different users.
    pub(super) fn new<'a>(trials: impl Iterator<Item = &'a TrialValues>, at: MetricAt, level: f64) -> Result<Option<Self>> {
        let of_metric = |trial: &'a TrialValues| {
            let values = trial.values.iter().find(|(metric, _)| *metric == at);
            values.filter(|(_, values)| !values.is_empty()).map(|(_, values)| (trial, values))
        };
        let mut trials: Vec<(&TrialValues, &Vec<f64>)> = trials.filter_map(of_metric).collect();
        trials.sort_by(|(one, _), (other, _)| one.trial.cmp(&other.trial)); // sums have the same bits in whatever order trials come
        let Some((first, _)) = trials.first() else {
            return Ok(None);
        };
        for (trial, _) in &trials {
            let (one, other) = (&first.trial, &trial.trial);
            ensure!(trial.users == first.users, "trials {one} and {other} are of one method but ranked different users; evaluate again");
        }
        let over_seeds = |user: usize| mean(&trials.iter().map(|(_, values)| values[user]).collect::<Vec<_>>());
        let per_user: Vec<f64> = (0..first.users.len()).map(over_seeds).collect();
        let mut of_seeds: BTreeMap<Option<u64>, Vec<f64>> = BTreeMap::new();
        trials.iter().for_each(|(trial, values)| of_seeds.entry(trial.seed).or_default().push(mean(values)));
        let per_seed: Vec<f64> = of_seeds.values().map(|of_splits| mean(of_splits)).collect();
        let interval = significance::interval(&per_user, level);
        Ok(Some(Self {
            seeds: per_seed.len() as u32,
            users: per_user.len() as u32,
            mean: mean(&per_user),
            interval: interval.low.is_finite().then_some((interval.low, interval.high)),
            seed_std: deviation(&per_seed),
        }))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample's standard deviation; none for a single value.
fn deviation(values: &[f64]) -> Option<f64> {
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn users_are_averaged_over_seeds_before_the_interval() {
        let at = "ndcg@20".parse().unwrap();
        let of_seed = |seed: u64, values: &[f64]| TrialValues { seed: Some(seed), ..example::values(&seed.to_string(), at, values) };
        let trials = [of_seed(1, &[0.0, 0.5, 1.0]), of_seed(2, &[0.5, 0.5, 0.0])];
        let measured = Measured::new(trials.iter(), at, 0.95).unwrap().unwrap();
        assert_eq!((measured.seeds, measured.users), (2, 3));
        assert!((measured.mean - 5.0 / 12.0).abs() < 1e-12);
        // the users' means are 1/4, 1/2, 1/2 with deviation 1/(4 sqrt 3); t(.975, 2) = 4.30265273
        let (low, high) = measured.interval.unwrap();
        assert!((low - (5.0 - 4.302_652_73) / 12.0).abs() < 1e-8 && (high - (5.0 + 4.302_652_73) / 12.0).abs() < 1e-8);
        // the seeds' means are 1/2 and 1/3
        assert!((measured.seed_std.unwrap() - (1.0 / 6.0) / 2.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn splits_are_averaged_before_the_spread_of_seeds() {
        let at = "ndcg@20".parse().unwrap();
        let of = |split: u64, seed: Option<u64>, values: &[f64]| TrialValues {
            seed,
            split_seed: Some(split),
            ..example::values(&format!("{split}-{seed:?}"), at, values)
        };
        let trials = [of(7, Some(1), &[0.0, 1.0]), of(7, Some(2), &[0.5, 0.5]), of(8, Some(1), &[0.5, 1.0]), of(8, Some(2), &[0.0, 0.5])];
        let measured = Measured::new(trials.iter(), at, 0.95).unwrap().unwrap();
        // the users' means are 1/4 and 3/4; the seeds' means over both splits are 5/8 and 3/8
        assert_eq!((measured.seeds, measured.users, measured.mean), (2, 2, 0.5));
        assert!((measured.seed_std.unwrap() - 0.25 / 2.0_f64.sqrt()).abs() < 1e-12);
        let closed = [of(7, None, &[0.0, 1.0]), of(8, None, &[0.5, 1.0])];
        let measured = Measured::new(closed.iter(), at, 0.95).unwrap().unwrap();
        assert_eq!((measured.seeds, measured.mean, measured.seed_std), (1, 0.625, None));
    }

    #[test]
    fn nothing_measured_is_nothing() {
        assert_eq!(Measured::new([].into_iter(), "ndcg@20".parse().unwrap(), 0.95).unwrap(), None);
    }

    #[test]
    fn different_users_are_refused() {
        let at = "ndcg@20".parse().unwrap();
        let trials = [example::values("a", at, &[0.0, 0.5]), example::values("b", at, &[0.5])];
        let message = Measured::new(trials.iter(), at, 0.95).unwrap_err().to_string();
        assert!(message.contains("a and b") && message.contains("evaluate again"), "{message}");
    }
}
