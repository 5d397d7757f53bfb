//! The studies of `ranksweep theory`: one file for each of its commands. The mathematics is the crate `theory`'s.

pub(crate) mod bounds;
pub(crate) mod dro;
pub(crate) mod opauc;
pub(crate) mod quantiles;
pub(crate) mod rg;
mod text;

use crate::{
    figure::Chart,
    report::Style,
    tables::{numbers, texts},
    text_table::TextTable,
};
use anyhow::Result;
use arrow::datatypes::UInt64Type;
use dataset::{
    Location,
    table::{self, Column},
};
use streams::{Purpose, Stream};
use theory::Statement;

/// The findings of a command.
pub(crate) struct Study {
    /// The command, and the first part of its files' names.
    pub(crate) name: &'static str,
    /// The question, and whose it is.
    pub(crate) heading: String,
    /// Its tables: what follows the name of the file, and the columns.
    pub(crate) tables: Vec<(&'static str, Vec<Column>)>,
    /// The statements that were checked on the way.
    pub(crate) statements: Vec<Statement>,
    /// The picture.
    pub(crate) chart: Chart,
    /// The findings as a short table.
    pub(crate) rows: TextTable,
    /// The decisions, in sentences.
    pub(crate) remarks: Vec<String>,
}

impl Study {
    /// Writes the tables and the picture into a folder, and gives the files' names.
    ///
    /// # Errors
    /// When something cannot be stored.
    pub(crate) fn write(&self, folder: &Location) -> Result<Vec<String>> {
        let mut written = Vec::new();
        for (suffix, columns) in self.tables.iter().cloned().chain([("_statements", statement_columns(&self.statements))]) {
            written.push(format!("{}{suffix}.parquet", self.name));
            table::write(&folder.join(&written[written.len() - 1]), &table::batch(columns))?;
        }
        written.push(format!("{}.svg", self.name));
        folder.join(&written[written.len() - 1]).write(self.chart.svg()?)?;
        Ok(written)
    }

    /// The findings for whoever reads standard output.
    pub(crate) fn text(&self, style: Style) -> String {
        let remarks = self.remarks.iter().map(|remark| style.wrap(remark));
        let parts = [style.bold(&self.heading), self.rows.to_string(), text::statements(&self.statements).to_string()];
        parts.into_iter().chain(remarks).collect::<Vec<_>>().join("\n") + "\n"
    }
}

fn statement_columns(statements: &[Statement]) -> Vec<Column> {
    vec![
        texts("statement", statements.iter().map(|statement| &statement.claim)),
        texts("source", statements.iter().map(|statement| statement.source)),
        numbers::<UInt64Type>("cases", statements.iter().map(|statement| statement.cases)),
        numbers::<UInt64Type>("violations", statements.iter().map(|statement| statement.violations)),
    ]
}

/// Uniform numbers of `[0, 1)` for random cases.
fn fractions(seed: u64) -> impl FnMut() -> f64 {
    let mut stream = Stream::new(seed, Purpose::Theory, 0, 0, 0);
    move || stream.fraction()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, LegendEntry, Line, Panel, PlotStyle};

    pub(super) fn text_of(study: &Study) -> String {
        study.text(Style::default())
    }

    #[test]
    fn files_are_named_by_the_command_and_texts_say_what_held() {
        let axis = Axis::around([0.0, 1.0].into_iter(), 0.0, 4).unwrap();
        let panel = Panel {
            title: String::new(),
            across: String::new(),
            up: String::new(),
            x: axis.clone(),
            y: axis,
            lines: vec![Line { key: 0, points: vec![(0.0, 0.0)], mark: PlotStyle::Both }],
            levels: Vec::new(),
        };
        let keys = vec![LegendEntry { name: "key".into(), color: 1, dashed: false }];
        let study = Study {
            name: "bounds",
            heading: "a question".into(),
            tables: vec![("", statement_columns(&[])), ("_more", statement_columns(&[]))],
            statements: vec![Statement::of("one", "Theorem 1", [true, false]), Statement::of("other", "Theorem 2", [true])],
            chart: Chart { title: "title".into(), notes: Vec::new(), keys, columns: 1, panels: vec![panel] },
            rows: TextTable::new(&["a"]),
            remarks: vec!["what follows".into()],
        };
        let folder = Location::parse("memory:///study/written").unwrap();
        let written = study.write(&folder).unwrap();
        assert_eq!(written, ["bounds.parquet", "bounds_more.parquet", "bounds_statements.parquet", "bounds.svg"]);
        assert!(written.iter().all(|name| folder.join(name).read().is_ok()));
        let text = text_of(&study);
        for part in ["a question", "fails in 1 of 2", "holds in 1", "Theorem 2", "what follows"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
