//! The leaderboard: means over users and seeds, their intervals, ranks and letters.

use super::{
    Input,
    measured::Measured,
    method::{Method, methods},
    pairs::Pairs,
};
use crate::tables::LeaderboardRow;
use evaluator::{MetricAt, metric::Direction, settings::Family, significance};

/// All rows: by dataset, metric, and mean, the best first; where neither more nor less is better, the largest first and without ranks.
pub(super) fn standings(input: &Input, pairs: &Pairs) -> Vec<LeaderboardRow> {
    let measured = Measured::new(input);
    let mut rows = Vec::new();
    for manifest in input.manifests {
        let methods = methods(input.trials, &manifest.name);
        for at in input.evaluation.metric_ats() {
            rows.extend(ranking(input, pairs, &measured, &manifest.name, &methods, at));
        }
    }
    rows
}

fn ranking(input: &Input, pairs: &Pairs, measured: &Measured, dataset: &str, methods: &[Method], at: MetricAt) -> Vec<LeaderboardRow> {
    let mut rows: Vec<LeaderboardRow> = methods.iter().map(|method| row(method, dataset, at, measured)).collect();
    let direction = at.metric.direction();
    let order = |a: &LeaderboardRow, b: &LeaderboardRow| match (a.mean, b.mean) {
        (Some(a), Some(b)) => direction.order(a, b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    rows.sort_by(|a, b| order(a, b).then_with(|| a.method.cmp(&b.method)));
    let means: Vec<f64> = rows.iter().filter_map(|row| row.mean).filter(|_| direction != Direction::Neither).collect();
    for row in rows.iter_mut().filter(|_| !means.is_empty()) {
        row.rank = row.mean.map(|mean| 1 + means.iter().filter(|&&other| direction.order(other, mean).is_lt()).count() as u32);
    }
    compared(input, pairs, dataset, at, &mut rows);
    rows
}

fn row(method: &Method, dataset: &str, at: MetricAt, measured: &Measured) -> LeaderboardRow {
    let (first, found) = (method.trials[0], measured.of(dataset, at, method.key));
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
        seeds: found.map_or(0, |found| found.trials.div_ceil(found.splits) as u32),
        failed: method.trials.iter().filter(|trial| trial.status.has_failed()).count() as u32,
        users: found.map_or(0, |found| found.users as u32),
        mean: found.map(|found| found.mean),
        ci_low: found.and_then(|found| found.ci_low),
        ci_high: found.and_then(|found| found.ci_high),
        over: found.map(|found| found.over),
        seed_std: found.and_then(|found| found.var_seeds).map(f64::sqrt),
        verdict: None,
        letters: String::new(),
    }
}

/// Fills in what is said of each method against the first one, or the one that the family names, and the letters of all pairs.
fn compared(input: &Input, pairs: &Pairs, dataset: &str, at: MetricAt, rows: &mut [LeaderboardRow]) {
    let settings = &input.evaluation.significance;
    let Some(first) = rows.first().filter(|_| !settings.tests.is_empty()).map(|row| row.method.clone()) else { return };
    let against = if let Family::Against(named) = &settings.family { named.clone() } else { first };
    for row in rows.iter_mut() {
        row.verdict = pairs.between(dataset, at, &row.method, &against).map(|pair| pair.verdict);
    }
    if settings.family != Family::AllPairs {
        return;
    }
    let is_less_better = at.metric.direction() == Direction::LowerIsBetter;
    let means: Vec<f64> = rows.iter().map_while(|row| row.mean).map(|mean| if is_less_better { -mean } else { mean }).collect();
    let pair = |one: usize, other: usize| pairs.between(dataset, at, &rows[one].method, &rows[other].method);
    // A letter says that two methods were compared and are not told apart: what nothing is known of has none.
    if !at.metric.is_per_user() && (0..means.len()).any(|one| (0..one).any(|other| pair(other, one).is_none())) {
        return;
    }
    let differ = |one: usize, other: usize| pair(one, other).is_some_and(|pair| pair.row.significant && !pair.contrary);
    let letters = significance::letters(&means, &differ);
    for (row, letters) in rows.iter_mut().zip(letters) {
        row.letters = letters;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        report::example,
        tables::{Status, TrialRow},
    };

    #[test]
    fn the_best_mean_is_first_and_failures_are_counted() {
        let sweep = example::sweep();
        let input = sweep.input();
        let rows = standings(&input, &Pairs::new(&input));
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
        let input = Input { trials: &trials, ..sweep.input() };
        let rows = standings(&input, &Pairs::new(&input));
        let last = rows.iter().rfind(|row| row.dataset == "books" && row.at == sweep.input().primary()).unwrap();
        assert_eq!((last.method.as_str(), last.rank, last.mean, last.failed), ("dead", None, None, 1));
        assert_eq!((last.letters.as_str(), last.seeds, last.parameters.as_ref()), ("", 0, None));
    }

    #[test]
    fn the_order_of_the_tables_does_not_matter() {
        let sweep = example::sweep();
        let (mut components, mut comparisons) = (sweep.components.clone(), sweep.comparisons.clone());
        components.reverse();
        comparisons.reverse();
        let (input, turned) = (sweep.input(), Input { components: &components, comparisons: &comparisons, ..sweep.input() });
        assert_eq!(standings(&turned, &Pairs::new(&turned)), standings(&input, &Pairs::new(&input)));
    }
}
