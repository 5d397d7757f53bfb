//! Printed numbers and claims as text: what they come to, the numbers that are not reproduced, and every claim.

use super::{
    super::{Input, Style, number},
    Reproduction, words,
};
use crate::text_table::TextTable;

impl Reproduction {
    /// The tables and the sentences.
    pub(in crate::report) fn terminal(&self, input: &Input, style: Style) -> String {
        let mut lines = Vec::new();
        if let Some(printed) = input.printed {
            lines.push(style.wrap(&style.bold(&words::numbers(self, printed))));
            let apart: Vec<_> = self.numbers.iter().filter(|row| row.verdict() != "reproduced").collect();
            if !apart.is_empty() {
                let mut rows = TextTable::new(&["number", "printed", "ours", "difference", "verdict"]);
                for row in apart {
                    let ours = row.ours.as_ref().map_or_else(|| "-".to_owned(), |ours| number::value(ours.mean));
                    let name = format!("{} on {}, {}", row.title, row.dataset, row.at);
                    rows.add([
                        name,
                        number::rounded(row.printed, row.unit),
                        ours,
                        words::share(row).unwrap_or_default(),
                        row.verdict().to_owned(),
                    ]);
                }
                lines.push(rows.to_string());
            }
            lines.push(style.wrap(&words::numbers_how(self, printed, input.evaluation)));
        }
        if !self.claims.is_empty() {
            lines.push(style.wrap(&style.bold(&words::claims(self))));
            let mut rows = TextTable::new(&["claim", "difference", "p", "verdict"]);
            for row in &self.claims {
                let tested = row.tested.as_ref();
                let cell = |of: fn(&crate::tables::TestedClaim) -> String| tested.map_or_else(|| "-".to_owned(), of);
                let difference = cell(|tested| tested.relative.map_or_else(|| "-".to_owned(), words::percent));
                let p = cell(|tested| number::p_value(tested.p_adjusted));
                rows.add([format!("{} on {}, {}", row.claim, row.dataset, row.at), difference, p, row.verdict().to_owned()]);
            }
            lines.push(rows.to_string());
            lines.push(style.wrap(&words::claims_how(self, input)));
        }
        lines.join("\n")
    }
}
