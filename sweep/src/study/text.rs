//! Short tables for a terminal.

use crate::{number::count, text_table::TextTable};
use theory::Statement;

/// The statements that held and those that did not.
pub(super) fn statements(statements: &[Statement]) -> TextTable {
    let mut rows = TextTable::of_words(&["checked", "by", "outcome"]);
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
