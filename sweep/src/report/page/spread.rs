//! The parts of a method's interval: the means of its trainings as points, and the parts of its variance as one bar.

use super::super::{Input, measured::Measured, number};
use crate::{figure::Axis, tables::LeaderboardRow};
use evaluator::{
    TrialValues,
    findings::counted,
    significance::{MethodComponents, Spread},
};
use serde::Serialize;

/// The parts of the variance of a method's mean, in percent of their sum.
#[derive(Serialize)]
pub(super) struct VarianceShares {
    users: f64,
    seeds: f64,
    splits: f64,
    said: String,
}

/// Where each training's mean lies on an axis, in percent; none for a single one.
pub(super) fn points(input: &Input, row: &LeaderboardRow, axis: &Axis) -> Vec<f64> {
    let means = means(input, row);
    if means.len() < 2 { Vec::new() } else { means.into_iter().map(|mean| axis.percent(mean)).collect() }
}

/// The trials of a method that its mean is of: those on splits that count.
pub(super) fn counted_of<'a>(input: &'a Input, dataset: &str, method: &str) -> impl Iterator<Item = &'a TrialValues> {
    let of_dataset: Vec<&TrialValues> = input.values.iter().filter(|trial| trial.dataset == dataset).collect();
    counted(&of_dataset).into_iter().filter(move |trial| trial.method == method)
}

/// The means over users of a method's trainings.
pub(super) fn means(input: &Input, row: &LeaderboardRow) -> Vec<f64> {
    let trials = counted_of(input, &row.dataset, &row.method);
    let values = trials.filter_map(|trial| trial.values.iter().find(|(metric, _)| *metric == row.at));
    values.map(|(_, values)| values.iter().sum::<f64>() / values.len().max(1) as f64).collect()
}

/// The parts of a method's variance; none where users are all that is known of it.
pub(super) fn parts(measured: &Measured, row: &LeaderboardRow) -> Option<VarianceShares> {
    let found = measured.of(&row.dataset, row.at, &row.method).filter(|found| !matches!(found.spread, Spread::None | Spread::Unknown))?;
    let [users, seeds, splits] = variances(found)?;
    let all = users + seeds + splits;
    let percent = |part: f64| (1000.0 * part / all).round() / 10.0;
    let named = [(users, "users"), (seeds, "seeds"), (splits, "splits")].into_iter().filter(|(part, _)| *part > 0.0);
    let said: Vec<String> = named.map(|(part, name)| format!("{name} {:.0}%", percent(part))).collect();
    (all > 0.0).then(|| VarianceShares {
        users: percent(users),
        seeds: percent(seeds),
        splits: percent(splits),
        said: format!("standard error {}: variance by {}", number::value(all.sqrt()), number::listed(&said)),
    })
}

/// The parts of users, seeds and splits in the variance of the mean. Interaction is the users': the more of them, the less there is.
fn variances(found: &MethodComponents) -> Option<[f64; 3]> {
    let users = found.var_users?;
    let trials = found.trials.max(1) as f64;
    if found.splits > 1 {
        let splits = found.splits as f64;
        let beyond = (found.var_replicate - found.var_interaction).max(0.0) / splits;
        let seeds = (found.var_seeds.unwrap_or_default() / trials).min(beyond);
        return Some([users, seeds, beyond - seeds]);
    }
    Some([users, (found.var_replicate - found.var_interaction).max(0.0) / trials, 0.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Report, example};

    #[test]
    fn every_training_has_a_point() {
        let sweep = example::sweep();
        let input = sweep.input();
        let report = Report::new(&input);
        let ranking = report.ranking("books", input.primary());
        let means = means(&input, ranking[0]);
        assert_eq!(means.len(), 3);
        assert!((means.iter().sum::<f64>() / 3.0 - ranking[0].mean.unwrap()).abs() < 1e-12);
        let axis = Axis::around([0.0, 1.0].into_iter(), 0.06, 6).unwrap();
        assert_eq!(points(&input, ranking[0], &axis).len(), 3);
        let popularity = ranking.iter().find(|row| row.method == "popularity").unwrap();
        assert!(points(&input, popularity, &axis).is_empty());
    }

    /// 2e-5 by users; one seed 9e-6, of which 3e-6 is interaction, over 3 seeds: 2e-6.
    #[test]
    fn parts_are_shares_of_the_variance() {
        let sweep = example::sweep();
        let found = MethodComponents {
            var_users: Some(1.8e-5),
            var_replicate: 9e-6,
            var_interaction: 3e-6,
            trials: 3,
            spread: Spread::Own,
            ..sweep.components[0].clone()
        };
        let [users, seeds, splits] = variances(&found).unwrap();
        assert!((users - 1.8e-5).abs() < 1e-18 && (seeds - 2e-6).abs() < 1e-18 && splits == 0.0);
        let split = MethodComponents { splits: 3, trials: 6, var_seeds: Some(6e-6), ..found.clone() };
        let [_, seeds, splits] = variances(&split).unwrap();
        assert!((seeds - 1e-6).abs() < 1e-18 && (splits - 1e-6).abs() < 1e-18);
        assert_eq!(variances(&MethodComponents { var_users: None, ..found }), None);
    }
}
