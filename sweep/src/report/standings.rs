//! The leaderboard: means over users and seeds, their intervals, ranks and letters.

use super::{
    Input,
    measured::Measured,
    method::{Method, methods},
    pairs,
};
use crate::tables::{LeaderboardRow, Status};
use anyhow::Result;
use evaluator::{MetricAt, significance};

/// Every method of every dataset by every metric; best first, what was not measured last.
pub(super) fn standings(input: &Input) -> Result<Vec<LeaderboardRow>> {
    let mut rows = Vec::new();
    for manifest in input.manifests {
        let methods = methods(input.trials, &manifest.name);
        for at in input.evaluation.metric_ats() {
            rows.extend(ranking(input, &manifest.name, &methods, at)?);
        }
    }
    Ok(rows)
}

fn ranking(input: &Input, dataset: &str, methods: &[Method], at: MetricAt) -> Result<Vec<LeaderboardRow>> {
    let mut rows = Vec::with_capacity(methods.len());
    let level = 1.0 - input.evaluation.significance.alpha;
    for method in methods {
        let values = input.values.iter().filter(|values| values.dataset == dataset && values.method == method.key);
        rows.push(row(method, at, Measured::new(values, at, level)?));
    }
    let mean = |row: &LeaderboardRow| row.mean.unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| mean(b).total_cmp(&mean(a)).then_with(|| a.method.cmp(&b.method)));
    let means: Vec<f64> = rows.iter().filter_map(|row| row.mean).collect();
    for row in &mut rows {
        row.rank = row.mean.map(|mean| 1 + means.iter().filter(|&&other| other > mean).count() as u32);
    }
    letter(input, dataset, at, &mut rows);
    Ok(rows)
}

fn row(method: &Method, at: MetricAt, measured: Option<Measured>) -> LeaderboardRow {
    let first = method.trials[0];
    let interval = measured.as_ref().and_then(|measured| measured.interval);
    LeaderboardRow {
        dataset: first.dataset.clone(),
        at,
        rank: None,
        method: first.method.clone(),
        title: method.title.clone(),
        backbone: first.backbone.clone(),
        loss: first.loss.clone(),
        sampler: first.sampler.clone(),
        parameters: method.picked().cloned(),
        configurations: method.tried(),
        seeds: measured.as_ref().map_or(0, |measured| measured.seeds),
        failed: method.trials.iter().filter(|trial| trial.status == Status::Failed).count() as u32,
        users: measured.as_ref().map_or(0, |measured| measured.users),
        ci_low: interval.map(|(low, _)| low),
        ci_high: interval.map(|(_, high)| high),
        mean: measured.as_ref().map(|measured| measured.mean),
        seed_std: measured.and_then(|measured| measured.seed_std),
        letters: String::new(),
    }
}

/// Letters by the first test; none where nothing was measured.
fn letter(input: &Input, dataset: &str, at: MetricAt, rows: &mut [LeaderboardRow]) {
    let means: Vec<f64> = rows.iter().map_while(|row| row.mean).collect();
    let differ = |one: usize, other: usize| {
        let pair = pairs::between(input, dataset, at, &rows[one].method, &rows[other].method);
        pair.is_some_and(|pair| pair.significant)
    };
    if input.evaluation.significance.tests.is_empty() {
        return;
    }
    let letters = significance::letters(&means, &differ);
    for (row, letters) in rows.iter_mut().zip(letters) {
        row.letters = letters;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::example, tables::TrialRow};

    #[test]
    fn the_best_mean_is_first_and_failures_are_counted() {
        let sweep = example::sweep();
        let input = sweep.input();
        let rows = standings(&input).unwrap();
        let first: Vec<&LeaderboardRow> = rows.iter().filter(|row| row.dataset == "books" && row.at == input.primary()).collect();
        assert_eq!(first.iter().map(|row| row.rank).collect::<Vec<_>>()[..3], [Some(1), Some(2), Some(3)]);
        assert!(first.windows(2).all(|pair| pair[0].mean.unwrap_or(-1.0) >= pair[1].mean.unwrap_or(-1.0)));
        assert!(first[0].letters.contains('a'));
        assert_eq!(first.iter().map(|row| row.failed).sum::<u32>(), 2);
    }

    #[test]
    fn a_method_without_a_result_stands_last_and_empty() {
        let sweep = example::sweep();
        let dead =
            TrialRow { method: "dead".into(), status: Status::Failed, selected: false, ..example::trial("books", "mf-64", Some("cce")) };
        let trials = [sweep.trials.clone(), vec![dead]].concat();
        let rows = standings(&Input { trials: &trials, ..sweep.input() }).unwrap();
        let last = rows.iter().rfind(|row| row.dataset == "books" && row.at == sweep.input().primary()).unwrap();
        assert_eq!((last.method.as_str(), last.rank, last.mean, last.failed), ("dead", None, None, 1));
        assert_eq!((last.letters.as_str(), last.seeds, last.parameters.as_ref()), ("", 0, None));
    }

    #[test]
    fn the_order_of_the_tables_does_not_matter() {
        let sweep = example::sweep();
        let (mut values, mut comparisons) = (sweep.values.clone(), sweep.comparisons.clone());
        values.reverse();
        comparisons.reverse();
        let turned = standings(&Input { values: &values, comparisons: &comparisons, ..sweep.input() }).unwrap();
        assert_eq!(turned, standings(&sweep.input()).unwrap());
    }
}
