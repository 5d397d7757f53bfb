//! A table of text in the terminal.

use comfy_table::{CellAlignment, Table, TableComponent, presets::UTF8_HORIZONTAL_ONLY};
use std::fmt;

/// Rows of text under a header. All columns but the first are numbers, and stand at the right.
pub(crate) struct TextTable(Table);

impl TextTable {
    pub(crate) fn new(header: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_preset(UTF8_HORIZONTAL_ONLY).remove_style(TableComponent::HorizontalLines);
        table.remove_style(TableComponent::MiddleIntersections);
        table.set_header(header.to_vec());
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        Self(table)
    }

    /// All columns are words, and stand at the left.
    pub(crate) fn of_words(header: &[&str]) -> Self {
        let mut table = Self::new(header);
        table.0.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Left));
        table
    }

    pub(crate) fn add(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.add_row(cells);
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
