//! Errors and probabilities by the number of draws.

use super::{Estimator, QuantileSettings, Row, Subject, bound};
use crate::{
    figure::{Axis, Chart, LegendEntry, Line, Panel, PlotStyle},
    number,
};
use anyhow::{Context, Result};
use theory::quantile::two_sided;

const ESTIMATORS: [Estimator; 2] = [Estimator::Union, Estimator::Sample];
/// The key of the theorem's bound, behind those of the estimators.
const BOUND: usize = 4;

pub(super) fn chart(subject: &Subject, settings: &QuantileSettings, rows: &[Row]) -> Result<Chart> {
    let key = |name: &str, color, dashed| LegendEntry { name: name.to_owned(), color, dashed };
    Ok(Chart {
        title: format!("The top-{} quantile, estimated from N of {} items", settings.cutoff, number::count(subject.items as usize)),
        notes: vec![
            format!("{}.", subject.title),
            "Left: estimate less quantile, mean and one standard deviation around it. Right: shares of estimates; a bound above 1 says nothing.".into(),
        ],
        keys: vec![
            key("positives and N negatives", 1, false),
            key("its deviation; share exact", 1, true),
            key("N items", 2, false),
            key("its deviation; share exact", 2, true),
            key(if subject.has_known_distribution() { "Theorem 3.2" } else { "Theorem 3.2, or more" }, 0, false),
        ],
        columns: 2,
        panels: vec![errors(rows)?, shares(settings, rows)?],
    })
}

fn of(rows: &[Row], estimator: Estimator, value: impl Fn(&Row) -> Option<f64>) -> Vec<(f64, f64)> {
    let of = rows.iter().filter(|row| row.estimator == estimator);
    of.filter_map(|row| Some((f64::from(row.negatives), value(row)?))).collect()
}

fn errors(rows: &[Row]) -> Result<Panel> {
    let lines = ESTIMATORS.into_iter().enumerate().flat_map(|(place, estimator)| {
        let around = |deviations: f64| of(rows, estimator, |row| Some(row.errors.mean + deviations * row.errors.deviation));
        [(2 * place, 0.0), (2 * place + 1, 1.0), (2 * place + 1, -1.0)].map(|(key, deviations)| Line {
            key,
            points: around(deviations),
            mark: if deviations == 0.0 { PlotStyle::Both } else { PlotStyle::Line },
        })
    });
    panel("error of the estimate", "estimate less exact quantile", lines.collect(), vec![(0.0, String::new())])
}

fn shares(settings: &QuantileSettings, rows: &[Row]) -> Result<Panel> {
    let lines = ESTIMATORS.into_iter().enumerate().flat_map(|(place, estimator)| {
        [
            Line { key: 2 * place, points: of(rows, estimator, |row| Some(row.errors.beyond)), mark: PlotStyle::Both },
            Line { key: 2 * place + 1, points: of(rows, estimator, |row| Some(row.errors.exact)), mark: PlotStyle::Line },
        ]
    });
    let bound = Line { key: BOUND, points: of(rows, Estimator::Sample, |row| bound(row, two_sided)), mark: PlotStyle::Both };
    let title = format!("further off than {} (solid), and exact (dashed)", settings.error);
    panel(&title, "share of estimates, or probability", lines.chain([bound]).collect(), vec![(1.0, "certain".into())])
}

fn panel(title: &str, up: &str, lines: Vec<Line>, levels: Vec<(f64, String)>) -> Result<Panel> {
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    let level = levels.iter().map(|(value, _)| *value);
    Ok(Panel {
        title: title.to_owned(),
        across: "N: items drawn for an estimate".into(),
        up: up.to_owned(),
        x: Axis::logarithmic(points().map(|(draws, _)| draws), 0.02).context("no draws")?,
        y: Axis::around(points().map(|(_, value)| value).chain(level).chain([0.0]), 0.04, 5).context("no estimates")?,
        lines,
        levels,
    })
}
