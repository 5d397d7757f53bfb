//! The leaderboard's table as text: as many columns as fit.

use super::{
    Input, Report, Style,
    method::{MethodTrials, methods},
    number, words,
};
use crate::tables::LeaderboardRow;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, TableComponent, presets};
use evaluator::{MetricAt, settings::Family, significance::Verdict};

/// Columns of the terminal around a cell's content.
const AROUND: usize = 2;
/// Columns of the terminal between two cells.
const BETWEEN: usize = 1;

struct Column {
    title: String,
    cells: Vec<String>,
    alignment: CellAlignment,
    /// Whether it may be left out for want of room; those before it have the room first.
    spare: bool,
}

/// The rows of a dataset by the primary metric, and the titles of the columns that were left out to fit the terminal.
pub(super) fn board(report: &Report, input: &Input, ranking: &[&LeaderboardRow], style: Style) -> (Table, Vec<String>) {
    let (columns, left_out) = fitting(columns(report, input, ranking), style);
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    table.remove_style(TableComponent::HorizontalLines).remove_style(TableComponent::MiddleIntersections);
    if style.color {
        table.enforce_styling();
    }
    table.set_header(columns.iter().map(|column| Cell::new(&column.title).set_alignment(column.alignment)));
    for (place, row) in ranking.iter().enumerate() {
        let best = style.color && row.rank == Some(1);
        let cell = |column: &Column| {
            let cell = Cell::new(&column.cells[place]).set_alignment(column.alignment);
            if best { cell.add_attribute(Attribute::Bold).fg(Color::Green) } else { cell }
        };
        table.add_row(columns.iter().map(cell));
    }
    (table, left_out)
}

/// The columns that fit, the first ones first, and the titles of the others. Those that are not spare stand in any case.
fn fitting(columns: Vec<Column>, style: Style) -> (Vec<Column>, Vec<String>) {
    let all = style.width.map_or(usize::MAX, |width| usize::from(width) + BETWEEN);
    let mut taken: usize = columns.iter().filter(|column| !column.spare).map(Column::width).sum();
    let fits = |column: &Column| {
        let fits = !column.spare || taken + column.width() <= all;
        taken += if fits && column.spare { column.width() } else { 0 };
        fits
    };
    let (fitting, others): (Vec<Column>, Vec<Column>) = columns.into_iter().partition(fits);
    (fitting, others.into_iter().map(|column| column.title).collect())
}

impl Column {
    /// Columns of the terminal that it takes, with the one that sets it apart from the next.
    fn width(&self) -> usize {
        let longest = self.cells.iter().chain([&self.title]).map(|text| console::measure_text_width(text)).max().unwrap_or(0);
        longest + AROUND + BETWEEN
    }
}

/// All columns, in their order.
fn columns(report: &Report, input: &Input, ranking: &[&LeaderboardRow]) -> Vec<Column> {
    let headline = input.headline();
    let methods = methods(input.trials, ranking.first().map_or("", |row| &row.dataset));
    let column = |title: &str, alignment: CellAlignment, spare: bool, cell: &dyn Fn(&LeaderboardRow) -> String| Column {
        title: title.to_owned(),
        cells: ranking.iter().map(|row| cell(row)).collect(),
        alignment,
        spare,
    };
    let (left, right) = (CellAlignment::Left, CellAlignment::Right);
    let mut columns = vec![
        column("#", right, false, &|row| row.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string())),
        column("method", left, false, &|row| row.title.clone()),
        column(&headline[0].to_string(), right, false, &|row| mean(report, row, headline[0])),
        column(&format!("{} interval", words::level(input.evaluation)), left, true, &interval),
        match input.evaluation.significance.family {
            Family::AllPairs => column("letters", left, true, &|row| row.letters.clone()),
            _ => column("verdict", left, true, &|row| row.verdict.map_or("", Verdict::name).to_owned()),
        },
        column("seeds", right, true, &seeds),
        column("tried", right, true, &|row| row.configurations.to_string()),
        column("validation picked", left, true, &|row| picked(row, &methods)),
    ];
    columns.extend(headline[1..].iter().map(|&at| column(&at.to_string(), right, true, &|row| mean(report, row, at))));
    columns
}

fn mean(report: &Report, row: &LeaderboardRow, at: MetricAt) -> String {
    report.by(row, at).and_then(|found| found.mean).map_or_else(|| "-".to_owned(), number::value)
}

fn interval(row: &LeaderboardRow) -> String {
    let interval = row.ci_low.zip(row.ci_high).map(|(low, high)| format!("{} to {}", number::value(low), number::value(high)));
    interval.unwrap_or_else(|| "-".to_owned())
}

/// The seeds behind the mean, and how many trials failed.
pub(super) fn seeds(row: &LeaderboardRow) -> String {
    let failed = if row.failed > 0 { format!(" ({} failed)", row.failed) } else { String::new() };
    format!("{}{failed}", row.seeds)
}

/// The picked values of what was tuned.
fn picked(row: &LeaderboardRow, methods: &[MethodTrials]) -> String {
    let tuned = methods.iter().find(|method| method.key == row.method).map(MethodTrials::tuned).unwrap_or_default();
    row.parameters.as_ref().map(|picked| number::parameters(picked, Some(&tuned))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use std::collections::HashMap;

    fn with_report<T>(of: impl Fn(&Report, &Input, &[&LeaderboardRow]) -> T) -> T {
        let sweep = example::sweep();
        let input = sweep.input();
        let report = Report::new(&input);
        of(&report, &input, &report.ranking("books", input.primary()))
    }

    fn drawn(width: Option<u16>) -> (String, Vec<String>) {
        let (table, left_out) = with_report(|report, input, ranking| board(report, input, ranking, Style { width, color: false }));
        (table.to_string(), left_out)
    }

    fn widest(table: &str) -> usize {
        table.lines().map(|line| line.chars().count()).max().unwrap()
    }

    /// One of the whole list has no cutoff: the others are those of the first one.
    #[test]
    fn beside_a_metric_without_a_cutoff_stand_the_others() {
        let mut sweep = example::sweep();
        let headline = |sweep: &example::Sweep| sweep.input().headline().iter().map(ToString::to_string).collect::<Vec<_>>();
        let of = |at: &str| at.parse::<MetricAt>().unwrap().metric;
        (sweep.evaluation.metrics, sweep.evaluation.cutoffs) = (["ndcg@20", "auc", "recall@20"].map(of).to_vec(), vec![50, 20]);
        sweep.evaluation.primary = Some("auc".parse().unwrap());
        assert_eq!(headline(&sweep), ["auc", "ndcg@50", "recall@50"]);
        sweep.evaluation.primary = Some("ndcg@20".parse().unwrap());
        assert_eq!(headline(&sweep), ["ndcg@20", "auc", "recall@20"]);
    }

    #[test]
    fn verdicts_stand_where_methods_are_not_all_compared() {
        let titles = |family: Family| {
            let mut sweep = example::sweep();
            sweep.evaluation.significance.family = family;
            let input = sweep.input();
            let report = Report::new(&input);
            columns(&report, &input, &report.ranking("books", input.primary())).into_iter().map(|column| column.title).collect::<Vec<_>>()
        };
        let (all, best) = (titles(Family::AllPairs), titles(Family::AgainstBest));
        assert_eq!((all.contains(&"letters".to_owned()), all.contains(&"verdict".to_owned())), (true, false));
        assert_eq!((best.contains(&"letters".to_owned()), best.contains(&"verdict".to_owned())), (false, true));
    }

    #[test]
    fn every_column_that_fits_stands_and_no_line_is_too_long() {
        let (whole, _) = drawn(None);
        let all = widest(&whole) as u16;
        assert_eq!(drawn(Some(all)), (whole, vec![]), "what just fits, fits");
        assert_eq!(drawn(Some(all - 1)).1, ["mrr@20"]);
        let widths: HashMap<String, usize> = with_report(|report, input, ranking| {
            columns(report, input, ranking).iter().map(|column| (column.title.clone(), column.width())).collect()
        });
        for width in 54..all {
            let (table, left_out) = drawn(Some(width));
            let narrowest = left_out.iter().map(|title| widths[title]).min().unwrap();
            assert!(widest(&table) <= usize::from(width), "{width}\n{table}");
            assert!(widest(&table) + narrowest > usize::from(width), "{width}: {left_out:?}\n{table}");
        }
    }

    #[test]
    fn a_wide_column_leaves_its_room_to_narrow_ones_behind_it() {
        let (table, left_out) = drawn(Some(116));
        assert_eq!(left_out, ["validation picked", "precision@20", "mrr@20"], "{table}");
        let (table, left_out) = drawn(Some(60));
        assert_eq!(left_out[..2], ["95% interval", "seeds"], "{table}");
        assert!(table.contains("letters") && widest(&table) <= 60, "{table}");
    }

    #[test]
    fn rank_method_and_metric_stand_whatever_the_width() {
        let (narrow, left_out) = drawn(Some(20));
        assert_eq!(left_out.len(), 8);
        assert!(narrow.contains("softmax-at-k(20) on light-gcn-64x2") && narrow.contains("ndcg@20"), "{narrow}");
    }

    #[test]
    fn without_a_width_all_columns_stand() {
        let (table, left_out) = drawn(None);
        assert!(left_out.is_empty() && table.contains("mrr@20") && table.contains("3 (2 failed)"), "{table}");
        assert_eq!(table.lines().count(), 4 + 7, "a line above, below and under the header\n{table}");
    }
}
