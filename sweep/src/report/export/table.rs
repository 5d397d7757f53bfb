//! The leaderboard of a dataset as a table to paste.

use super::super::{Input, Report, board, number, remarks, terminal, words};
use crate::{
    tables::LeaderboardRow,
    typeset::{Cell, Table},
};
use dataset::Manifest;
use evaluator::{MetricAt, settings::Family, significance::Verdict};

/// The tables of all datasets.
pub(super) fn tables<'a>(report: &Report, input: &Input<'a>) -> Vec<Table<'a>> {
    input.manifests.iter().zip(&report.verdicts).map(|(manifest, verdict)| table(report, input, manifest, verdict)).collect()
}

fn table<'a>(report: &Report, input: &Input<'a>, manifest: &'a Manifest, verdict: &str) -> Table<'a> {
    let ranking = report.ranking(&manifest.name, input.primary());
    let headline = input.headline();
    let judged = !matches!(input.evaluation.significance.family, Family::AllPairs);
    let mut columns = vec!["method".to_owned(), headline[0].to_string(), format!("{} interval", words::level(input.evaluation))];
    columns.extend(judged.then(|| "verdict".to_owned()));
    columns.push("seeds".to_owned());
    columns.extend(headline[1..].iter().map(ToString::to_string));
    let row = |row: &&LeaderboardRow| {
        let mut cells = vec![Cell::Text(row.title.clone()), mean(report, row, headline[0]), Cell::Text(interval(row))];
        cells.extend(judged.then(|| Cell::Text(row.verdict.map_or("", Verdict::name).to_owned())));
        cells.push(Cell::Text(board::seeds(row)));
        cells.extend(headline[1..].iter().map(|&at| mean(report, row, at)));
        cells
    };
    Table {
        dataset: &manifest.name,
        heading: terminal::heading(manifest),
        columns,
        rows: ranking.iter().map(row).collect(),
        how_to_read: format!("The best mean of each metric is bold. {}", words::significance(input, &manifest.name)),
        notes: notes(input, &manifest.name, verdict, &ranking),
    }
}

fn notes(input: &Input, dataset: &str, verdict: &str, ranking: &[&LeaderboardRow]) -> Vec<String> {
    let mut notes = vec![verdict.to_owned(), terminal::legend(input, ranking)];
    notes.extend(remarks::remarks(input, dataset));
    let failed = remarks::failures(input, dataset).into_iter();
    notes.extend(failed.map(|failure| {
        let fate = if failure.has_ended { "Failed" } else { "Did not end" };
        format!("{fate}: {} ({}): {}", failure.what, failure.trial, failure.error)
    }));
    notes
}

fn mean(report: &Report, row: &LeaderboardRow, at: MetricAt) -> Cell {
    let found = report.by(row, at);
    Cell::Mean {
        value: found.and_then(|found| found.mean).map_or_else(String::new, number::value),
        best: found.is_some_and(|found| found.rank == Some(1)),
        letters: found.map_or_else(String::new, |found| found.letters.clone()),
    }
}

fn interval(row: &LeaderboardRow) -> String {
    let interval = row.ci_low.zip(row.ci_high).map(|(low, high)| format!("[{}, {}]", number::value(low), number::value(high)));
    interval.unwrap_or_default()
}
