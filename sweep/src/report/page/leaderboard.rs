//! The leaderboard with its intervals drawn, and the table of every metric.

use super::{
    super::{Input, Report, measured::Measured, number, unknown, words},
    MethodTrials, Palette,
    spread::{self, VarianceShares},
};
use crate::{
    figure::{Axis, Tick},
    tables::LeaderboardRow,
};
use evaluator::{MetricAt, settings::Family, significance::Verdict};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Leaderboard<'a> {
    primary: String,
    level: String,
    others: Vec<String>,
    rows: Vec<LeaderboardEntry<'a>>,
    ticks: Vec<Tick>,
    /// Whether letters are shown; without them the verdicts are.
    letters: bool,
    how_to_read: String,
    conventions: String,
}

#[derive(Serialize)]
struct LeaderboardEntry<'a> {
    rank: String,
    best: bool,
    color: usize,
    title: &'a str,
    sampler: &'a str,
    picked: String,
    mean: String,
    interval: String,
    bar: Option<IntervalBar>,
    /// Places of the means of its trainings.
    points: Vec<f64>,
    parts: Option<VarianceShares>,
    verdict: &'static str,
    letters: &'a str,
    others: Vec<String>,
    tried: u32,
    seeds: u32,
    deviation: String,
    failed: u32,
}

/// An interval in percent of the axis.
#[derive(Serialize)]
struct IntervalBar {
    left: f64,
    width: f64,
    mean: f64,
}

/// The methods by the primary metric, with the others at its cutoff beside.
pub(super) fn leaderboard<'a>(
    input: &Input,
    report: &'a Report,
    methods: &[MethodTrials],
    palette: &Palette,
    ranking: &[&'a LeaderboardRow],
) -> Leaderboard<'a> {
    let headline = input.headline();
    let measured = Measured::new(input);
    let means = ranking.iter().flat_map(|row| spread::means(input, row));
    let ends = ranking.iter().flat_map(|row| [row.ci_low, row.mean, row.ci_high]).flatten().chain(means);
    let axis = Axis::around(ends, 0.06, 6);
    let row = |row: &&'a LeaderboardRow| LeaderboardEntry {
        rank: row.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string()),
        best: row.rank == Some(1),
        color: palette.color(&row.method),
        title: &row.title,
        sampler: row.sampler.as_deref().filter(|sampler| !row.title.contains(sampler)).unwrap_or_default(),
        picked: picked(row, methods),
        mean: row.mean.map_or_else(|| "–".to_owned(), number::value),
        interval: row
            .ci_low
            .zip(row.ci_high)
            .map_or_else(String::new, |(low, high)| format!("{} – {}", number::value(low), number::value(high))),
        bar: axis.as_ref().and_then(|axis| bar(row, axis)),
        points: axis.as_ref().map_or_else(Vec::new, |axis| spread::points(input, row, axis)),
        parts: spread::parts(&measured, row),
        verdict: row.verdict.map_or("", Verdict::name),
        letters: &row.letters,
        others: headline[1..].iter().map(|&at| mean_at(report, row, at)).collect(),
        tried: row.configurations,
        seeds: row.seeds,
        deviation: row.seed_std.map_or_else(String::new, |deviation| format!("± {}", number::value(deviation))),
        failed: row.failed,
    };
    Leaderboard {
        primary: headline[0].to_string(),
        level: words::level(input.evaluation),
        others: headline[1..].iter().map(ToString::to_string).collect(),
        rows: ranking.iter().map(row).collect(),
        ticks: axis.as_ref().map(Axis::ticks).unwrap_or_default(),
        letters: input.evaluation.significance.family == Family::AllPairs,
        how_to_read: ranking.first().map_or_else(String::new, |row| words::significance(input, &row.dataset)),
        conventions: words::conventions(input, ranking)
            + &ranking.first().map_or_else(String::new, |row| unknown::note(input, &row.dataset)),
    }
}

/// The picked values of what was tuned.
fn picked(row: &LeaderboardRow, methods: &[MethodTrials]) -> String {
    let tuned = methods.iter().find(|method| method.key == row.method).map(MethodTrials::tuned).unwrap_or_default();
    row.parameters.as_ref().map(|picked| number::parameters(picked, Some(&tuned))).unwrap_or_default()
}

fn bar(row: &LeaderboardRow, axis: &Axis) -> Option<IntervalBar> {
    let mean = row.mean?;
    let (left, right) = (axis.percent(row.ci_low.unwrap_or(mean)), axis.percent(row.ci_high.unwrap_or(mean)));
    Some(IntervalBar { left, width: ((right - left) * 10.0).round() / 10.0, mean: axis.percent(mean) })
}

fn mean_at(report: &Report, row: &LeaderboardRow, at: MetricAt) -> String {
    report.by(row, at).and_then(|found| found.mean).map_or_else(|| "–".to_owned(), number::value)
}

/// Every method by every metric.
#[derive(Serialize)]
pub(super) struct Every<'a> {
    metrics: Vec<String>,
    rows: Vec<(&'a str, Vec<Reached>)>,
}

#[derive(Serialize)]
struct Reached {
    mean: String,
    letters: String,
    best: bool,
}

/// The methods of the ranking, by every metric at every cutoff.
pub(super) fn every<'a>(input: &Input, report: &Report, ranking: &[&'a LeaderboardRow]) -> Every<'a> {
    let metrics = input.evaluation.metric_ats();
    let cell = |row: &LeaderboardRow, at: MetricAt| {
        let found = report.by(row, at);
        Reached {
            mean: found.and_then(|found| found.mean).map_or_else(|| "–".to_owned(), number::value),
            letters: found.map(|found| found.letters.clone()).unwrap_or_default(),
            best: found.is_some_and(|found| found.rank == Some(1)),
        }
    };
    let row = |row: &&'a LeaderboardRow| (row.title.as_str(), metrics.iter().map(|&at| cell(row, at)).collect());
    Every { metrics: metrics.iter().map(ToString::to_string).collect(), rows: ranking.iter().map(row).collect() }
}
