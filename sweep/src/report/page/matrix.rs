//! Every pair of methods: by how much the one ranks better than the other, and how sure that is.

use super::super::{Input, number, pairs::Pairs};
use crate::tables::LeaderboardRow;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Matrix<'a> {
    metric: String,
    rows: Vec<MatrixRow<'a>>,
}

#[derive(Serialize)]
struct MatrixRow<'a> {
    rank: usize,
    title: &'a str,
    /// The comparisons with the methods that stand below.
    cells: Vec<Option<MatrixCell>>,
}

#[derive(Serialize)]
struct MatrixCell {
    difference: String,
    p: String,
    /// `better`, `worse`, `equivalent` or `undecided`, of the row's method.
    verdict: &'static str,
    /// 0 to 1: the difference beside the largest one of the matrix.
    strength: f64,
    said: String,
}

/// The upper half: each method against those that stand below it.
pub(super) fn matrix<'a>(input: &Input, pairs: &Pairs, ranking: &[&'a LeaderboardRow]) -> Matrix<'a> {
    let measured: Vec<&LeaderboardRow> = ranking.iter().copied().filter(|row| row.mean.is_some()).collect();
    let between = |one: &LeaderboardRow, other: &LeaderboardRow| pairs.between(&one.dataset, one.at, &one.method, &other.method);
    let spread = measured.first().zip(measured.last()).and_then(|(first, last)| Some(first.mean? - last.mean?)).unwrap_or(0.0);
    let cell = |one: &LeaderboardRow, other: &LeaderboardRow| {
        let pair = between(one, other)?;
        let (difference, p) = (number::difference(pair.difference), number::p_value(pair.p));
        let strength = if spread > 0.0 { (pair.difference / spread).clamp(0.0, 1.0) } else { 0.0 };
        Some(MatrixCell {
            said: format!(
                "{} minus {}: {difference}{}, adjusted p = {p}: {}",
                one.title,
                other.title,
                ends(pair.interval),
                pair.verdict.name()
            ),
            difference,
            p,
            verdict: pair.verdict.name(),
            strength: (100.0 * strength).round() / 100.0,
        })
    };
    let line = |(place, row): (usize, &&'a LeaderboardRow)| MatrixRow {
        rank: place + 1,
        title: &row.title,
        cells: measured[place + 1..].iter().map(|other| cell(row, other)).collect(),
    };
    let rows = ranking.iter().filter(|row| row.mean.is_some()).enumerate().map(line).collect();
    Matrix { metric: input.primary().to_string(), rows }
}

fn ends(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(String::new, |(low, high)| format!(" [{}, {}]", number::difference(low), number::difference(high)))
}
