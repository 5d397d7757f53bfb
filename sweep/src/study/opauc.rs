//! `theory opauc`: how closely partial areas under the ROC curve follow metrics, over permutations and over a model's lists.

use super::Study;
use crate::text_table::TextTable;
use crate::{
    figure::{Axis, Chart, LegendEntry, Line, Panel, PlotStyle},
    number,
    tables::{numbers, numbers_or_null, texts},
};
use anyhow::Result;
use arrow::{
    array::BooleanArray,
    datatypes::{Float64Type, UInt32Type, UInt64Type},
};
use dataset::table::Column;
use evaluator::Rankings;
use std::sync::Arc;
use streams::{Purpose, Stream};
use theory::{
    Statement,
    opauc::{self, Brackets, Correlation, RankedList, TopKMetric, best, brackets_of_all_lists},
};

/// N+, N- and K of the lists that are all looked at.
const SHAPES: [(u32, u32, u32); 4] = [(3, 4, 2), (4, 5, 3), (5, 5, 4), (3, 6, 3)];

/// A model's lists.
pub(crate) struct Lists {
    /// The trial's id.
    pub(crate) trial: String,
    /// The trial's method, with its dataset, in words.
    pub(crate) title: String,
    /// The places of the held-out items.
    pub(crate) rankings: Rankings,
}

/// Correlations over some lists.
struct ListCorrelations {
    /// `permutations`, or the trial's id.
    name: String,
    /// The name on the terminal and in the picture.
    title: &'static str,
    count: usize,
    sizes: Option<(u32, u32)>,
    correlations: Vec<Correlation>,
}

/// Permutes, and ranks what is given.
///
/// # Errors
/// When a picture has no axis.
pub(crate) fn study(study: &opauc::Study, seed: u64, lists: Option<&Lists>) -> Result<Study> {
    let found = study.run(|block| {
        let mut stream = Stream::new(seed, Purpose::Theory, 0, block, 0);
        move |bound| stream.below(bound)
    });
    let permutations = ListCorrelations {
        name: "permutations".into(),
        title: "permutations",
        count: study.permutations as usize,
        sizes: Some((study.positives, study.negatives)),
        correlations: found.correlations,
    };
    let parts: Vec<ListCorrelations> = [permutations].into_iter().chain(lists.map(|lists| of_model(lists, &study.cutoffs))).collect();
    let brackets = brackets(study, &found.brackets);
    Ok(Study {
        name: "opauc",
        heading: format!(
            "Which part of the ROC curve do metrics of the list's head follow? {} permutations of {} positives and {} negatives{} (paper 003, Theorem 3, Figure 6)",
            number::count(study.permutations as usize),
            number::count(study.positives as usize),
            number::count(study.negatives as usize),
            lists.map(|lists| format!(", and the users of {}, trial {}", lists.title, lists.trial)).unwrap_or_default()
        ),
        tables: vec![("", correlation_columns(&parts)), ("_brackets", bracket_columns(&brackets))],
        statements: statements(&brackets, &parts, &study.cutoffs),
        chart: chart(study, &parts)?,
        rows: rows(&parts, &study.cutoffs),
        remarks: remarks(&brackets, &parts[0].correlations),
    })
}

fn of_model(lists: &Lists, cutoffs: &[u32]) -> ListCorrelations {
    let ranked: Vec<RankedList> = lists.rankings.iter().map(|user| RankedList { ranks: user.ranks, places: user.candidates }).collect();
    let correlations = opauc::of_lists(&ranked, cutoffs);
    ListCorrelations { name: lists.trial.clone(), title: "the model's users", count: ranked.len(), sizes: None, correlations }
}

/// Theorem 3 on some lists.
struct Bracketed {
    all: bool,
    positives: u32,
    negatives: u32,
    cutoff: u32,
    brackets: Brackets,
}

fn brackets(study: &opauc::Study, permuted: &[(u32, Brackets)]) -> Vec<Bracketed> {
    let all = SHAPES.into_iter().map(|(positives, negatives, cutoff)| {
        let brackets = brackets_of_all_lists(positives, negatives, cutoff);
        Bracketed { all: true, positives, negatives, cutoff, brackets }
    });
    let (positives, negatives) = (study.positives, study.negatives);
    let permuted = permuted.iter().map(|&(cutoff, brackets)| Bracketed { all: false, positives, negatives, cutoff, brackets });
    all.chain(permuted).collect()
}

fn correlation_columns(parts: &[ListCorrelations]) -> Vec<Column> {
    let all = || parts.iter().flat_map(|part| part.correlations.iter().map(move |row| (part, row)));
    let is_best = |(part, row): (&ListCorrelations, &Correlation)| {
        best(&part.correlations, row.metric, row.cutoff).is_some_and(|best| best.depth == row.depth)
    };
    let share =
        |(part, row): (&ListCorrelations, &Correlation)| part.sizes.map(|(_, negatives)| f64::from(row.depth) / f64::from(negatives));
    let best: BooleanArray = all().map(|row| Some(is_best(row))).collect();
    vec![
        texts("lists", all().map(|(part, _)| &part.name)),
        numbers::<UInt64Type>("count", all().map(|(part, _)| part.count as u64)),
        numbers_or_null::<UInt32Type>("positives", all().map(|(part, _)| part.sizes.map(|(positives, _)| positives))),
        numbers_or_null::<UInt32Type>("negatives", all().map(|(part, _)| part.sizes.map(|(_, negatives)| negatives))),
        texts("metric", all().map(|(_, row)| row.metric.name())),
        numbers::<UInt32Type>("cutoff", all().map(|(_, row)| row.cutoff)),
        numbers::<UInt32Type>("depth", all().map(|(_, row)| row.depth)),
        numbers_or_null::<Float64Type>("share", all().map(share)),
        numbers_or_null::<Float64Type>("correlation", all().map(|(_, row)| row.value)),
        ("best", Arc::new(best), false),
    ]
}

fn bracket_columns(rows: &[Bracketed]) -> Vec<Column> {
    let count = |name, field: fn(&Brackets) -> u64| numbers::<UInt64Type>(name, rows.iter().map(|row| field(&row.brackets)));
    let size = |name, field: fn(&Bracketed) -> u32| numbers::<UInt32Type>(name, rows.iter().map(field));
    vec![
        texts("lists", rows.iter().map(|row| if row.all { "all" } else { "permutations" })),
        size("positives", |row| row.positives),
        size("negatives", |row| row.negatives),
        size("cutoff", |row| row.cutoff),
        count("count", |brackets| brackets.lists),
        count("violations", |brackets| brackets.violations),
        count("single_points", |brackets| brackets.single_points),
        numbers::<Float64Type>("mean_width", rows.iter().map(|row| row.brackets.width as f64 / row.brackets.lists as f64)),
    ]
}

fn statements(brackets: &[Bracketed], parts: &[ListCorrelations], cutoffs: &[u32]) -> Vec<Statement> {
    let within = brackets.iter().map(|row| Statement {
        claim: format!(
            "the hits of the first {} are in their bracket, {} positives, {} negatives, {}",
            row.cutoff,
            row.positives,
            row.negatives,
            if row.all { "all lists" } else { "permutations" }
        ),
        source: "Theorem 3",
        cases: row.brackets.lists,
        violations: row.brackets.violations,
    });
    let mut sorted = cutoffs.to_vec();
    sorted.sort_unstable();
    let grows = parts.iter().map(|part| {
        // A metric that is the same of all lists has no best b.
        let depth = |metric, cutoff| best(&part.correlations, metric, cutoff).map(|best| best.depth);
        let step = |metric, pair: &[u32]| Some(depth(metric, pair[0])? <= depth(metric, pair[1])?);
        let steps = TopKMetric::ALL.into_iter().flat_map(|metric| sorted.windows(2).filter_map(move |pair| step(metric, pair)));
        Statement::of(
            format!("the best b does not fall when the cutoff grows, {}", part.title),
            "second guideline of section 5",
            steps.collect::<Vec<_>>(),
        )
    });
    within.chain(grows).collect()
}

fn rows(parts: &[ListCorrelations], cutoffs: &[u32]) -> TextTable {
    let mut rows = TextTable::new(&[
        "correlation of the area of the best b negatives with",
        "best b",
        "share",
        "there",
        "at b = cutoff",
        "at the largest b",
    ]);
    for part in parts {
        for (metric, &cutoff) in TopKMetric::ALL.into_iter().flat_map(|metric| cutoffs.iter().map(move |cutoff| (metric, cutoff))) {
            let of = || part.correlations.iter().filter(|row| row.metric == metric && row.cutoff == cutoff);
            let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
            let best = best(&part.correlations, metric, cutoff);
            let share = best.zip(part.sizes).map(|(best, (_, negatives))| f64::from(best.depth) / f64::from(negatives));
            rows.add([
                format!("{}@{cutoff}, {}", metric.name(), part.title),
                best.map_or_else(|| "-".to_owned(), |best| best.depth.to_string()),
                shown(share),
                shown(best.and_then(|best| best.value)),
                shown(of().find(|row| row.depth == cutoff).and_then(|row| row.value)),
                shown(of().max_by_key(|row| row.depth).and_then(|row| row.value)),
            ]);
        }
    }
    rows
}

fn remarks(brackets: &[Bracketed], of_permutations: &[Correlation]) -> Vec<String> {
    let total =
        |all: bool, field: fn(&Brackets) -> u64| brackets.iter().filter(|row| row.all == all).map(|row| field(&row.brackets)).sum::<u64>();
    let counts = |all| [total(all, |row| row.lists), total(all, |row| row.single_points)].map(|count| number::count(count as usize));
    let ([all, points], [permuted, of_permuted]) = (counts(true), counts(false));
    vec![
        format!(
            "The bracket of Theorem 3 is a single number of hits in {points} of all {all} small lists, and in {of_permuted} of {permuted} brackets of permutations."
        ),
        format!("The area over all negatives (the largest b of the permutations) is AUC{}.", least_of_auc(of_permutations)),
        "Recall and precision differ by a constant where all lists have the same number of positives: one correlation.".into(),
    ]
}

/// The metric that AUC follows least, where it is not the best area of all metrics, in words that follow a sentence.
fn least_of_auc(permuted: &[Correlation]) -> String {
    let last = permuted.iter().map(|row| row.depth).max();
    let of_auc = permuted.iter().filter(|row| Some(row.depth) == last).filter_map(|row| Some((row, row.value?)));
    let least = of_auc.min_by(|(_, one), (_, other)| one.total_cmp(other));
    let beside = least.and_then(|(row, value)| Some((row, value, best(permuted, row.metric, row.cutoff)?)));
    match beside {
        Some((row, value, Correlation { depth, value: Some(best), .. })) if depth < row.depth => {
            format!(
                ", which follows {}@{} least: with {value:.2}, and the area over the best {depth} with {best:.2}",
                row.metric.name(),
                row.cutoff
            )
        }
        _ => String::new(),
    }
}

fn chart(study: &opauc::Study, parts: &[ListCorrelations]) -> Result<Chart> {
    let key = |(place, cutoff): (usize, &u32)| LegendEntry {
        name: format!("cutoff {cutoff}"),
        color: if place < 8 { place + 1 } else { 0 },
        dashed: false,
    };
    let panels = parts.iter().flat_map(|part| [TopKMetric::Recall, TopKMetric::Ndcg].map(|metric| (part, metric)));
    Ok(Chart {
        title: "Which negatives matter for the head of a list".into(),
        notes: vec![
            format!(
                "Pearson correlation of OPAUC over the best b negatives with a metric, over lists of {} positives and {} negatives{}.",
                study.positives,
                study.negatives,
                if parts.len() > 1 { ", and over the model's users" } else { "" }
            ),
            "The further left a line peaks, the harder the negatives that its metric depends on. Permutations end at AUC, users at the fewest negatives that one has."
                .into(),
        ],
        keys: study.cutoffs.iter().enumerate().map(key).collect(),
        columns: 2,
        panels: panels.filter_map(|(part, metric)| panel(part, metric, &study.cutoffs)).collect(),
    })
}

/// None of a metric that is the same of all lists.
fn panel(part: &ListCorrelations, metric: TopKMetric, cutoffs: &[u32]) -> Option<Panel> {
    let line = |(key, &cutoff): (usize, &u32)| {
        let of = part.correlations.iter().filter(|row| row.metric == metric && row.cutoff == cutoff);
        Line { key, points: of.filter_map(|row| Some((f64::from(row.depth), row.value?))).collect(), mark: PlotStyle::Both }
    };
    let lines: Vec<Line> = cutoffs.iter().enumerate().map(line).collect();
    let name = match metric {
        TopKMetric::Recall if part.sizes.is_some() => "recall and precision",
        _ => metric.name(),
    };
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    Some(Panel {
        title: format!("{name}, {}", part.title),
        across: "b: best negatives that the area is over".into(),
        up: "correlation".into(),
        x: Axis::logarithmic(points().map(|(depth, _)| depth), 0.02)?,
        y: Axis::around(points().map(|(_, value)| value).chain([0.0, 1.0]), 0.03, 5)?,
        lines,
        levels: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::text_of;
    use super::*;

    #[test]
    fn the_terminal_says_where_correlations_peak() {
        let settings = opauc::Study { positives: 20, negatives: 80, permutations: 3_000, cutoffs: vec![5, 10] };
        let study = study(&settings, 1, None).unwrap();
        let text = text_of(&study);
        assert!(text.contains("a single number of hits in 217 of all 497 small lists"), "{text}");
        assert!(text.lines().any(|line| line.contains("ndcg@5, permutations")) && !text.contains("fails"), "{text}");
        assert_eq!(study.chart.panels.len(), 2);
        assert!(study.chart.svg().is_ok());
    }

    /// Of seven items with three positives recall@7 is 1 for all: nothing follows it, and no step leads to it.
    #[test]
    fn a_metric_that_never_varies_is_left_out() {
        let of = |cutoffs: Vec<u32>| study(&opauc::Study { positives: 3, negatives: 4, permutations: 2_000, cutoffs }, 1, None).unwrap();
        let both = of(vec![2, 7]);
        let grows = both.statements.iter().find(|statement| statement.claim.contains("does not fall")).unwrap();
        assert_eq!((grows.cases, grows.violations, both.chart.panels.len()), (1, 0, 2));
        let whole = of(vec![7]);
        assert_eq!(whole.chart.panels.len(), 1);
        assert!(whole.chart.svg().is_ok());
    }
}
