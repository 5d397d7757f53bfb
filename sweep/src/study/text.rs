//! Short tables for a terminal.

use crate::report::number::count;
use comfy_table::{CellAlignment, Table, TableComponent, presets::UTF8_HORIZONTAL_ONLY};
use std::fmt;
use theory::Statement;

/// Rows of text under a header. All columns but the first are numbers, and stand at the right.
pub(crate) struct Rows(Table);

impl Rows {
    pub(crate) fn new(header: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_preset(UTF8_HORIZONTAL_ONLY).remove_style(TableComponent::HorizontalLines);
        table.remove_style(TableComponent::MiddleIntersections);
        table.set_header(header.to_vec());
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        Self(table)
    }

    pub(crate) fn add(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.add_row(cells);
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What held and what did not.
pub(super) fn statements(statements: &[Statement]) -> Rows {
    let mut rows = Rows::new(&["checked", "by", "outcome"]);
    rows.0.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Left));
    for statement in statements {
        let verdict = match (statement.cases, statement.violations) {
            (0, _) => "no case".to_owned(),
            (cases, 0) => format!("holds in {}", count(cases as usize)),
            (cases, violations) => format!("fails in {} of {}", count(violations as usize), count(cases as usize)),
        };
        rows.add([statement.claim.clone(), statement.source.to_owned(), verdict]);
    }
    rows
}
