//! The leaderboard: means over users and seeds, their intervals, ranks and letters.

use super::{
    Input,
    measured::Measured,
    method::{MethodTrials, methods},
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

fn ranking(
    input: &Input,
    pairs: &Pairs,
    measured: &Measured,
    dataset: &str,
    methods: &[MethodTrials],
    at: MetricAt,
) -> Vec<LeaderboardRow> {
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

fn row(method: &MethodTrials, dataset: &str, at: MetricAt, measured: &Measured) -> LeaderboardRow {
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
    use evaluator::{
        Metric,
        significance::{Over, Verdict},
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

    /// A sweep whose methods have other lists: by one number of all of them, and by a number of each user; both grow from method to method.
    fn with_lists() -> example::Sweep {
        let mut sweep = example::sweep();
        let (gini, novelty) = ("gini@20".parse().unwrap(), "novelty@20".parse().unwrap());
        sweep.evaluation.metrics.extend([Metric::Gini, Metric::Novelty]);
        sweep.evaluation.cutoffs = vec![20];
        sweep.values.retain(|trial| trial.dataset == "books");
        let mut methods: Vec<String> = Vec::new();
        for trial in &mut sweep.values {
            if !methods.contains(&trial.method) {
                methods.push(trial.method.clone());
            }
            let place = methods.iter().position(|method| *method == trial.method).unwrap();
            let level = 0.1 * place as f64 + 0.001 * trial.seed.unwrap_or_default() as f64;
            trial.values.retain(|(at, _)| at.cutoff == Some(20));
            let users = trial.values[0].1.clone();
            trial.values.push((gini, vec![if trial.seed.is_none() { 0.7 } else { level }]));
            trial.values.push((novelty, users.iter().map(|value| value + level).collect()));
        }
        let found = evaluator::findings::compare(&sweep.values, &sweep.evaluation, &mut |_, _| ()).unwrap();
        (sweep.comparisons, sweep.components) = (found.comparisons, found.methods);
        sweep
    }

    fn rows_at(sweep: &example::Sweep, at: &str) -> Vec<LeaderboardRow> {
        let (input, at) = (sweep.input(), at.parse::<MetricAt>().unwrap());
        let rows = standings(&input, &Pairs::new(&input));
        rows.into_iter().filter(|row| row.dataset == "books" && row.at == at && row.mean.is_some()).collect()
    }

    #[test]
    fn less_is_better_where_the_metric_says_so() {
        let rows = rows_at(&with_lists(), "gini@20");
        assert!(rows.windows(2).all(|pair| pair[0].mean < pair[1].mean && pair[0].rank < pair[1].rank));
        assert_eq!((rows[0].rank, rows[0].over, rows[1].verdict), (Some(1), Some(Over::Seeds), Some(Verdict::Worse)));
        assert!(rows[0].letters.contains('a'), "{}", rows[0].letters);
    }

    #[test]
    fn where_neither_is_better_none_has_a_rank() {
        let rows = rows_at(&with_lists(), "novelty@20");
        assert!(rows.windows(2).all(|pair| pair[0].mean > pair[1].mean) && rows.iter().all(|row| row.rank.is_none()));
        assert_eq!(rows.last().unwrap().verdict, Some(Verdict::Lower));
    }

    /// Two methods that fit at once are not compared by what their lists have in common, and a letter would say that they do not differ.
    #[test]
    fn what_was_not_compared_has_no_letters() {
        let mut sweep = with_lists();
        for trial in sweep.values.iter_mut().filter(|trial| trial.method == "mf-64 / bpr / uniform-1") {
            trial.seed = None;
        }
        sweep.values.dedup_by(|next, first| first.seed.is_none() && next.method == first.method);
        let found = evaluator::findings::compare(&sweep.values, &sweep.evaluation, &mut |_, _| ()).unwrap();
        (sweep.comparisons, sweep.components) = (found.comparisons, found.methods);
        assert!(rows_at(&sweep, "gini@20").iter().all(|row| row.letters.is_empty()));
        assert!(rows_at(&sweep, "ndcg@20").iter().all(|row| !row.letters.is_empty()));
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
