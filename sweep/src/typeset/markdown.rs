//! Tables as GitHub's Markdown has them.

use super::{Cell, Table};

/// Characters that Markdown, or GitHub, takes for more than themselves.
const SPECIAL: &str = r"\`*_[]<>|~&$#";
/// An empty cell.
const NOTHING: &str = "–";

/// Each dataset's table below its name, and its notes below the table.
pub(crate) fn markdown(tables: &[Table]) -> String {
    tables.iter().map(table).collect::<Vec<_>>().join("\n")
}

fn table(table: &Table) -> String {
    let header = line(table.columns.iter().map(|title| escaped(title)));
    let rule = line(table.columns.iter().map(|_| "---".to_owned()));
    let rows: String = table.rows.iter().map(|row| line(row.iter().map(cell))).collect();
    let notes: String = table.notes.iter().map(|note| format!("\n{}\n", escaped(note))).collect();
    format!("**{}**\n\n{header}{rule}{rows}{notes}", escaped(&table.heading))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Mean { value: text, .. } if text.is_empty() => NOTHING.to_owned(),
        Cell::Text(text) => escaped(text),
        Cell::Mean { value, best, letters } => {
            let value = if *best { format!("**{value}**") } else { value.clone() };
            if letters.is_empty() { value } else { format!("{value} <sup>{}</sup>", escaped(letters)) }
        }
    }
}

/// The text in one line, as it stands.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in dataset::quote::visible(text).chars() {
        if SPECIAL.contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_markdown_would_obey_is_escaped() {
        assert_eq!(escaped("a|b *c* _d_ <e> [f] `g` $h$ #1\n"), r"a\|b \*c\* \_d\_ \<e\> \[f\] \`g\` \$h\$ \#1\\n");
    }

    #[test]
    fn the_best_is_bold_and_letters_stand_above() {
        let mean = |best, letters: &str| cell(&Cell::Mean { value: "0.1250".into(), best, letters: letters.into() });
        assert_eq!(mean(true, "ab"), "**0.1250** <sup>ab</sup>");
        assert_eq!(mean(false, ""), "0.1250");
        assert_eq!(cell(&Cell::Mean { value: String::new(), best: false, letters: String::new() }), "–");
    }
}
