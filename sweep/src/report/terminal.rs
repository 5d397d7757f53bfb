//! The leaderboard as text, for the end of a run.

use super::{Input, Report, board::board, number, remarks, unknown, words};
use crate::tables::LeaderboardRow;
use dataset::Manifest;
use std::fmt::Write;

/// How text is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Columns of the terminal; none sets lines as long as they are.
    pub width: Option<u16>,
    /// Whether bold and colours are understood.
    pub color: bool,
}

impl Report {
    /// The findings as text: for each dataset its table, how to read it, its verdict, and the trials that failed; then all datasets together, and
    /// what a paper prints and claims.
    pub fn terminal(&self, input: &Input, style: Style) -> String {
        let sections = input.manifests.iter().zip(&self.verdicts);
        let texts: Vec<String> = sections.map(|(manifest, verdict)| self.section(input, manifest, verdict, style)).collect();
        let together = self.across.as_ref().map(|across| across.terminal(style));
        let printed = self.reproduction.as_ref().map(|reproduction| reproduction.terminal(input, style));
        texts.into_iter().chain(together).chain(printed).collect::<Vec<_>>().join("\n\n")
    }

    fn section(&self, input: &Input, manifest: &Manifest, verdict: &str, style: Style) -> String {
        let ranking = self.ranking(&manifest.name, input.primary());
        let mut text = String::new();
        let mut line = |content: &str| writeln!(text, "{content}").expect("a string takes all text");
        line(&style.bold(&heading(manifest)));
        let (table, left_out) = board(self, input, &ranking, style);
        line(&table.to_string());
        if !left_out.is_empty() {
            line(&style.wrap(&format!("Left out for want of room: {}.", left_out.join(", "))));
        }
        line("");
        line(&style.wrap(&style.bold(verdict)));
        line(&style.wrap(&legend(input, &ranking)));
        for remark in remarks::remarks(input, &manifest.name) {
            line(&style.wrap(&format!("Note. {remark}")));
        }
        let failures = remarks::failures(input, &manifest.name);
        if !failures.is_empty() {
            line(&style.alarm(&format!("{}:", remarks::fates(&failures))));
        }
        for failure in failures {
            line(&style.wrap(&format!("  {} ({}): {}", failure.what, failure.trial, failure.error)));
        }
        text.trim_end().to_owned()
    }
}

/// A dataset's name and sizes.
pub(super) fn heading(manifest: &Manifest) -> String {
    let sizes = [(manifest.users, "user"), (manifest.items, "item"), (manifest.interactions(), "interaction")];
    format!("{}: {}", manifest.name, sizes.map(|(size, noun)| number::counted(size, noun)).join(", "))
}

/// How to read the letters and intervals, and how the ranking was made.
pub(super) fn legend(input: &Input, ranking: &[&LeaderboardRow]) -> String {
    let dataset = ranking.first().map_or("", |row| row.dataset.as_str());
    let how_to_read = words::significance(input, dataset);
    let note = ranking.first().map_or_else(String::new, |row| unknown::note(input, &row.dataset));
    format!("{how_to_read} {}{note}", words::conventions(input, ranking))
}

impl Style {
    /// Bold, where that is understood.
    pub(crate) fn bold(self, text: &str) -> String {
        if self.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn alarm(self, text: &str) -> String {
        if self.color { format!("\u{1b}[1;31m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Breaks a paragraph at spaces.
    pub(crate) fn wrap(self, text: &str) -> String {
        let width = usize::from(self.width.unwrap_or(u16::MAX));
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if line.trim().is_empty() || line.chars().count() + 1 + word.chars().count() <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn the_table_says_who_won_how_to_read_it_and_what_failed() {
        let sweep = example::sweep();
        let input = sweep.input();
        let report = Report::new(&input);
        let text = report.terminal(&input, Style { width: Some(120), color: false });
        assert!(text.starts_with("books: 400 users, 8,360 items, 32,"), "{text}");
        for expected in [
            "softmax-at-k(20) on mf-64 ranks best on books",
            "Methods that share a letter do not differ significantly: t-test over users and seeds, 21 comparisons (every pair of methods)",
            "adjusted after Romano and Wolf",
            "2 trials failed:",
            "step 7: the gradient of the item vectors is NaN <&>",
            "films: 300 users",
            "All 2 datasets: books, films",
        ] {
            assert!(text.replace('\n', " ").contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn the_best_row_is_marked_where_colours_are_understood() {
        let sweep = example::sweep();
        let input = sweep.input();
        let text = Report::new(&input).terminal(&input, Style { width: None, color: true });
        let best = text.lines().find(|line| line.contains("softmax-at-k(20) on mf-64")).unwrap();
        assert!(best.contains("\u{1b}["), "{best}");
    }

    #[test]
    fn paragraphs_break_at_spaces() {
        let style = Style { width: Some(10), color: false };
        assert_eq!(style.wrap("one two three four"), "one two\nthree four");
        assert_eq!(style.wrap("  indented"), "  indented");
        assert_eq!(Style::default().wrap("one two three four"), "one two three four");
    }

    #[test]
    fn nothing_measured_is_still_a_table() {
        let sweep = example::sweep();
        let input = Input { values: &[], comparisons: &[], components: &[], ..sweep.input() };
        let text = Report::new(&input).terminal(&input, Style::default());
        assert!(text.contains("No method has a result on books.") && text.contains("bpr on mf-64"), "{text}");
    }
}
