//! `theory bounds`: the probabilities that sampled losses bound metrics.

use super::{Study, fractions};
use crate::text_table::TextTable;
use crate::{
    figure::{Axis, Chart, LegendEntry, Line, Panel, PlotStyle},
    number,
    tables::{numbers, texts},
};
use anyhow::{Context, Result};
use arrow::datatypes::{Float64Type, UInt64Type};
use dataset::table::Column;
use theory::bounds::{Bound, Form, Grid, Loss, Metric, Sampling, full_losses, statements};

/// The bounds that have a line in the picture and a column on the terminal.
const LINES: [(Loss, Form, &str, usize, bool); 6] = [
    (Loss::Bpr, Form::Survival, "BPR", 1, false),
    (Loss::Bce, Form::Survival, "BCE", 3, false),
    (Loss::Cce, Form::Tight, "CCE, tight", 2, false),
    (Loss::Cce, Form::Survival, "CCE", 5, false),
    (Loss::Bpr, Form::Printed, "BPR as printed", 6, true),
    (Loss::Cce, Form::Printed, "CCE as printed", 0, true),
];

/// The seed of the random scores on which the full losses are compared.
const SEED: u64 = 1;

/// Computes the grid.
///
/// # Errors
/// When there is no axis for the ranks.
pub(crate) fn study(grid: &Grid) -> Result<Study> {
    let bounds = grid.bounds();
    let statements = full_losses(&mut fractions(SEED)).into_iter().chain(statements(&bounds)).collect();
    Ok(Study {
        name: "bounds",
        heading:
            "With which probability does a loss of K sampled negatives bound -log of a metric? (paper 000, Theorems 2 to 10, Figure 6)"
                .into(),
        chart: chart(grid)?,
        rows: rows(grid, &bounds),
        remarks: remarks(grid),
        tables: vec![("", columns(&bounds))],
        statements,
    })
}

fn columns(bounds: &[Bound]) -> Vec<Column> {
    let count = |name, field: fn(&Bound) -> u64| numbers::<UInt64Type>(name, bounds.iter().map(field));
    vec![
        texts("metric", bounds.iter().map(|bound| bound.metric.name())),
        texts("loss", bounds.iter().map(|bound| bound.loss.name())),
        texts("form", bounds.iter().map(|bound| bound.form.name())),
        texts("sampling", bounds.iter().map(|bound| bound.sampling.name())),
        count("rank", |bound| bound.rank),
        count("negatives", |bound| bound.negatives),
        count("population", |bound| bound.population),
        count("above", |bound| bound.above),
        count("needed", |bound| bound.needed),
        numbers::<Float64Type>("probability", bounds.iter().map(|bound| bound.probability)),
    ]
}

fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::Ndcg => "NDCG",
        Metric::ReciprocalRank => "RR",
    }
}

/// NDCG without replacement, as the paper has it.
fn rows(grid: &Grid, bounds: &[Bound]) -> TextTable {
    let names = LINES.map(|(_, _, name, _, _)| name);
    let mut rows = TextTable::new(&[&["-log NDCG: rank", "K"], &names[..]].concat());
    for (&rank, &negatives) in grid.ranks.iter().flat_map(|rank| grid.negatives.iter().map(move |negatives| (rank, negatives))) {
        let cell = |(loss, form, ..): &(Loss, Form, _, _, _)| {
            let same = |bound: &&Bound| {
                (bound.metric, bound.sampling, bound.rank, bound.negatives) == (Metric::Ndcg, Sampling::WithoutReplacement, rank, negatives)
                    && (bound.loss, bound.form) == (*loss, *form)
            };
            bounds.iter().find(same).map_or_else(String::new, |bound| format!("{:.6}", bound.probability))
        };
        rows.add([number::count(rank as usize), number::count(negatives as usize)].into_iter().chain(LINES.iter().map(cell)));
    }
    rows
}

fn remarks(grid: &Grid) -> Vec<String> {
    vec![
        format!(
            "Sampled without replacement from {} negatives, of which {} score at least 0 (or all above the positive, where these are more). \
             The table on disk has RR and sampling with replacement too.",
            number::count(grid.population as usize),
            number::count(grid.nonnegative as usize)
        ),
        "The printed form is too small where the threshold is an integer; read it as P(at least the threshold). The tight form of CCE keeps \
         the positive's own term, and at rank 1 says 1 where the paper says 0."
            .into(),
        "Theorem 10 is empty: it needs as many high-scoring negatives as the rank, and there is one less. These are probabilities of a \
         sufficient condition: the losses bound more often."
            .into(),
    ]
}

fn chart(grid: &Grid) -> Result<Chart> {
    let panels = Metric::ALL.into_iter().flat_map(|metric| grid.negatives.iter().map(move |&negatives| (metric, negatives)));
    Ok(Chart {
        title: "How surely K sampled negatives bound a metric".into(),
        notes: vec![
            format!(
                "Probability that the loss is at least -log of the metric, for a positive at a rank among {} negatives.",
                number::count(grid.population as usize)
            ),
            "Sampled without replacement. Dots: the ranks of the table; lines: ranks between. CCE never surely bounds RR (Theorem 10)."
                .into(),
        ],
        keys: LINES.map(|(_, _, name, color, dashed)| LegendEntry { name: name.into(), color, dashed }).to_vec(),
        columns: grid.negatives.len().min(4),
        panels: panels.map(|(metric, negatives)| panel(grid, metric, negatives)).collect::<Result<_>>()?,
    })
}

fn panel(grid: &Grid, metric: Metric, negatives: u64) -> Result<Panel> {
    let ends = || grid.ranks.iter().map(|&rank| rank as f64);
    let drawn = |ranks: &[u64], key: usize, mark: PlotStyle| {
        let (loss, form, ..) = LINES[key];
        let value = |&rank: &u64| (rank as f64, grid.bound(metric, loss, form, Sampling::WithoutReplacement, negatives, rank).probability);
        Line { key, points: ranks.iter().map(value).collect(), mark }
    };
    let between = between(&grid.ranks);
    let lines = (0..LINES.len()).flat_map(|key| [drawn(&grid.ranks, key, PlotStyle::Dots), drawn(&between, key, PlotStyle::Line)]);
    Ok(Panel {
        title: format!("{}, K = {}", name(metric), number::count(negatives as usize)),
        across: "rank of the positive".into(),
        up: "probability".into(),
        x: Axis::logarithmic(ends(), 0.03).context("no ranks")?,
        y: Axis::around([0.0, 1.0].into_iter(), 0.03, 5).context("no probabilities")?,
        lines: lines.collect(),
        levels: Vec::new(),
    })
}

/// Ranks from the least to the largest, all of them or about 300 in equal ratios.
fn between(ranks: &[u64]) -> Vec<u64> {
    const MOST: u32 = 300;
    let (least, largest) = (ranks.iter().copied().min().unwrap_or(1), ranks.iter().copied().max().unwrap_or(1));
    let ratio = (largest as f64 / least as f64).powf(1.0 / f64::from(MOST));
    let mut between: Vec<u64> = (0..=MOST as i32).map(|step| (least as f64 * ratio.powi(step)).round() as u64).collect();
    between.dedup();
    between
}

#[cfg(test)]
mod tests {
    use super::super::tests::text_of;
    use super::*;

    #[test]
    fn the_terminal_has_the_grid_of_the_reference() {
        let grid = Grid { ranks: vec![1, 3, 500], negatives: vec![10, 100], population: 1_000, nonnegative: 400 };
        let study = study(&grid).unwrap();
        let text = text_of(&study);
        let row = text.lines().find(|line| line.trim_start().starts_with('3') && line.contains("100")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["3", "100", "0.190090", "1.000000", "0.190090", "0.009910", "0.009910", "0.000000"]);
        assert!(text.contains("Theorem 10 is empty"), "{text}");
        assert_eq!(study.chart.panels.len(), 4);
        assert!(study.chart.svg().unwrap().contains("NDCG, K = 100"));
    }

    #[test]
    fn few_ranks_are_all_drawn_and_many_in_equal_ratios() {
        assert_eq!(between(&[5, 1, 3]), [1, 2, 3, 4, 5]);
        let many = between(&[1, 1_000_000]);
        assert!(many.len() < 310 && many.last() == Some(&1_000_000));
    }
}
