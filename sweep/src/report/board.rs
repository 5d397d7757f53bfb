//! The leaderboard's table as text: as many columns as fit.

use super::{
    Input, Report, Style,
    method::{Method, methods},
    number, words,
};
use crate::tables::LeaderboardRow;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, TableComponent, presets};
use evaluator::MetricAt;

/// Columns of the terminal around a cell's content.
const AROUND: usize = 3;

struct Column {
    title: String,
    cells: Vec<String>,
    alignment: CellAlignment,
    /// Whether it may be left out, the last one first.
    spare: bool,
}

/// The rows of a dataset by the primary metric, and the titles of the columns that were left out to fit the terminal.
pub(super) fn board(report: &Report, input: &Input, ranking: &[&LeaderboardRow], style: Style) -> (Table, Vec<String>) {
    let mut columns = columns(report, input, ranking);
    let mut left_out = Vec::new();
    while let Some(last) = columns.iter().rposition(|column| column.spare).filter(|_| !fits(&columns, style)) {
        left_out.insert(0, columns.remove(last).title);
    }
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

fn fits(columns: &[Column], style: Style) -> bool {
    let longest = |column: &Column| column.cells.iter().chain([&column.title]).map(|text| text.chars().count()).max().unwrap_or(0);
    let width: usize = columns.iter().map(|column| longest(column) + AROUND).sum();
    style.width.is_none_or(|all| width <= usize::from(all))
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
        column(&format!("{} interval", words::level(input.evaluation)), left, false, &interval),
        column("letters", left, false, &|row| row.letters.clone()),
        column("seeds", right, false, &seeds),
        column("validation picked", left, true, &|row| picked(row, &methods)),
    ];
    columns.extend(headline[1..].iter().map(|&at| column(&at.to_string(), right, true, &|row| mean(report, row, at))));
    columns
}

fn mean(report: &Report, row: &LeaderboardRow, at: MetricAt) -> String {
    let same = |other: &&LeaderboardRow| other.dataset == row.dataset && other.method == row.method && other.at == at;
    report.rows.iter().find(same).and_then(|found| found.mean).map_or_else(|| "-".to_owned(), number::value)
}

fn interval(row: &LeaderboardRow) -> String {
    let interval = row.ci_low.zip(row.ci_high).map(|(low, high)| format!("{} to {}", number::value(low), number::value(high)));
    interval.unwrap_or_else(|| "-".to_owned())
}

fn seeds(row: &LeaderboardRow) -> String {
    let failed = if row.failed > 0 { format!(" ({} failed)", row.failed) } else { String::new() };
    format!("{}{failed}", row.seeds)
}

/// The picked values of what was tuned.
fn picked(row: &LeaderboardRow, methods: &[Method]) -> String {
    let tuned = methods.iter().find(|method| method.key == row.method).map(Method::tuned).unwrap_or_default();
    row.parameters.as_ref().map(|picked| number::parameters(picked, Some(&tuned))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn drawn(width: Option<u16>) -> (String, Vec<String>) {
        let sweep = example::sweep();
        let input = sweep.input();
        let report = Report::new(&input);
        let (table, left_out) = board(&report, &input, &report.ranking("books", input.primary()), Style { width, color: false });
        (table.to_string(), left_out)
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_from_the_last() {
        let (table, left_out) = drawn(Some(110));
        assert!(table.lines().all(|line| line.chars().count() <= 110), "{table}");
        assert_eq!(left_out.last().unwrap(), "mrr@20");
        let (narrow, left_out) = drawn(Some(20));
        assert_eq!(left_out, ["validation picked", "recall@20", "precision@20", "mrr@20"]);
        assert!(narrow.contains("softmax-at-k(20) on light-gcn-64x2"), "{narrow}");
    }

    #[test]
    fn without_a_width_all_columns_stand() {
        let (table, left_out) = drawn(None);
        assert!(left_out.is_empty() && table.contains("mrr@20") && table.contains("3 (2 failed)"), "{table}");
        assert_eq!(table.lines().count(), 4 + 7, "a line above, below and under the header\n{table}");
    }
}
