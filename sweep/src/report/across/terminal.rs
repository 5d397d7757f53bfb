//! The comparison over datasets as text.

use super::{AcrossDatasets, words};
use crate::{number, report::Style, text_table::TextTable};

/// The table, how sure it is, and how to read it.
pub(super) fn terminal(across: &AcrossDatasets, style: Style) -> String {
    let title = format!("All {}: {}", number::counted(across.datasets.len(), "dataset"), across.datasets.join(", "));
    let (table, left) = table(across, style);
    let mut lines = vec![style.wrap(&style.bold(&title)), table];
    if left > 0 {
        lines.push(
            style.wrap(&format!("Left out for want of room: the means on {}.", across.datasets[across.datasets.len() - left..].join(", "))),
        );
    }
    lines.push(String::new());
    lines.push(style.wrap(&style.bold(&words::verdict(across))));
    lines.push(style.wrap(&words::how_to_read(across)));
    lines.extend(words::remarks(across).map(|sentence| style.wrap(&sentence)));
    lines.join("\n")
}

/// The table with the means on as many datasets as fit, and how many are left out.
fn table(across: &AcrossDatasets, style: Style) -> (String, usize) {
    let fits = |text: &str| style.width.is_none_or(|width| text.lines().all(|line| line.chars().count() <= usize::from(width)));
    let all = across.datasets.len();
    let drawn = (0..all).map(|left| (rows(across, all - left).to_string(), left)).find(|(text, _)| fits(text));
    drawn.unwrap_or_else(|| (rows(across, 0).to_string(), all))
}

fn rows(across: &AcrossDatasets, datasets: usize) -> TextTable {
    let mut header = vec!["method", "average rank", "wins", "ties", "losses"];
    header.extend(across.datasets[..datasets].iter().map(String::as_str));
    let mut rows = TextTable::new(&header);
    for method in &across.methods {
        let record = [method.record.wins, method.record.ties, method.record.losses].map(number::count);
        let means = method.means.iter().copied().take(datasets).map(number::value);
        rows.add([method.title.clone(), format!("{:.2}", method.average_rank)].into_iter().chain(record).chain(means));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn the_table_has_ranks_records_and_as_many_means_as_fit() {
        let sweep = example::sweep();
        let across = AcrossDatasets::of_sweep(&sweep.input()).unwrap();
        let wide = across.terminal(Style::default());
        for part in ["All 2 datasets: books, films", "average rank", "losses", "softmax-at-k(20) on mf-64", "2 datasets"] {
            assert!(wide.contains(part), "{part}\n{wide}");
        }
        let narrow = across.terminal(Style { width: Some(86), color: false });
        assert!(narrow.contains("Left out for want of room: the means on films."), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 86), "{narrow}");
    }
}
