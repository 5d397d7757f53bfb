//! Tables as LaTeX has them, for the package booktabs.
//!
//! Texts are escaped for any engine, font and language: in the encoding OT1 `<`, `>` and `|` are other characters, `--` is one dash everywhere, babel
//! may give `"` a meaning, and a bracket or star that begins a row would belong to the `\\` before it.

use super::{Cell, Table};
use dataset::quote;

/// Each dataset's table, as wide as two columns where the page has two, below its notes as comments.
pub(crate) fn latex(sweep: &str, tables: &[Table]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let head = format!("% ranksweep {version}, sweep {}. The preamble needs \\usepackage{{booktabs}}.\n", quote::visible(sweep));
    head + &tables.iter().map(|table| self::table(sweep, table)).collect::<Vec<_>>().join("\n")
}

fn table(sweep: &str, table: &Table) -> String {
    let notes: String = table.notes.iter().map(|note| format!("% {}\n", quote::visible(note))).collect();
    let rows: String = table.rows.iter().map(|row| line(row.iter().map(cell))).collect();
    format!(
        "{notes}\\begin{{table*}}\n  \\centering\\small\n  \\caption{{{}. {}}}\n  \\label{{tab:{}}}\n  \\smallskip\n  \
         \\begin{{tabular}}{{@{{}}{}@{{}}}}\n    \\toprule\n{}    \\midrule\n{rows}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table*}}\n",
        escaped(&table.heading),
        escaped(&table.how_to_read),
        label(&format!("{sweep}-{}", table.dataset)),
        "l".repeat(table.columns.len()),
        line(table.columns.iter().map(|title| escaped(title))),
    )
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("    {} \\\\\n", cells.collect::<Vec<_>>().join(" & "))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Mean { value: text, .. } if text.is_empty() => "--".to_owned(),
        Cell::Text(text) => escaped(text),
        Cell::Mean { value, best, letters } => {
            let value = if *best { format!("\\textbf{{{value}}}") } else { value.clone() };
            if letters.is_empty() { value } else { format!("{value}\\textsuperscript{{{}}}", escaped(letters)) }
        }
    }
}

/// The text in one line, as it stands.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in quote::visible(text).chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', letter]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("\\char34{}"),
            '`' => escaped.push_str("\\textasciigrave{}"),
            '[' | ']' | '*' => escaped.extend(['{', letter, '}']),
            // The minus of numbers.
            '\u{2212}' => escaped.push_str("$-$"),
            '-' if escaped.ends_with('-') => escaped.push_str("{}-"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// The text with what a label may not hold as dashes.
fn label(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_latex_would_obey_is_escaped() {
        assert_eq!(escaped("a_b & c% {$d$} #1 ~e^f"), "a\\_b \\& c\\% \\{\\$d\\$\\} \\#1 \\textasciitilde{}e\\textasciicircum{}f");
        assert_eq!(escaped("\\input{x}"), "\\textbackslash{}input\\{x\\}");
        assert_eq!(
            escaped("[p < 0.05] | q > \"1\" -- `r`*"),
            concat!(
                "{[}p \\textless{} 0.05{]} \\textbar{} q \\textgreater{} \\char34{}1\\char34{} -{}- ",
                "\\textasciigrave{}r\\textasciigrave{}{*}"
            )
        );
        assert_eq!(escaped("two\nlines"), "two\\textbackslash{}nlines");
    }

    #[test]
    fn a_label_has_no_character_that_latex_obeys() {
        assert_eq!(label("a_b-c.1 %{d}"), "a_b-c.1---d-");
    }

    #[test]
    fn the_best_is_bold_and_letters_stand_above() {
        let mean = |best, letters: &str| cell(&Cell::Mean { value: "0.1250".into(), best, letters: letters.into() });
        assert_eq!(mean(true, "ab"), "\\textbf{0.1250}\\textsuperscript{ab}");
        assert_eq!((mean(false, ""), cell(&Cell::Text(String::new()))), ("0.1250".into(), "--".into()));
    }
}
