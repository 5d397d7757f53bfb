//! A report for elsewhere: its page, or its leaderboards as tables that a README, a paper or a spreadsheet takes.

mod spreadsheet;
mod table;

use super::{Input, Report, page};
use crate::typeset;
use clap::ValueEnum;

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// The page
    Html,
    /// A table for each dataset, as GitHub sets them
    Markdown,
    /// A table for each dataset, for the package booktabs
    Latex,
    /// One table: a row for each dataset, metric and method, with all digits
    Csv,
}

impl ReportFormat {
    /// The format of a file of this name, by its suffix.
    pub fn of_file(name: &str) -> Option<Self> {
        let (_, suffix) = name.rsplit_once('.')?;
        match &*suffix.to_ascii_lowercase() {
            "html" | "htm" => Some(Self::Html),
            "md" | "markdown" => Some(Self::Markdown),
            "tex" => Some(Self::Latex),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

impl Report {
    /// The page, or the leaderboards by the primary metric and the others at its cutoff, as text.
    ///
    /// # Errors
    /// When the page's template and its content disagree.
    pub fn export(&self, input: &Input, format: ReportFormat) -> anyhow::Result<String> {
        match format {
            ReportFormat::Html => page::render(input, self),
            ReportFormat::Markdown => Ok(typeset::markdown(&table::tables(self, input))),
            ReportFormat::Latex => Ok(typeset::latex(input.name, &table::tables(self, input))),
            ReportFormat::Csv => spreadsheet::csv(self, input),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        report::example,
        tables::{LeaderboardRow, leaderboard},
    };
    use dataset::Location;
    use evaluator::settings::Family;

    /// The example's report in a format, and its leaderboard as it is stored.
    fn exported(format: ReportFormat) -> (String, Vec<LeaderboardRow>) {
        let sweep = example::sweep();
        let report = Report::new(&sweep.input());
        let at = Location::parse(&format!("memory:///report/{format:?}.parquet")).unwrap();
        leaderboard::write(&at, &report.rows).unwrap();
        (report.export(&sweep.input(), format).unwrap(), leaderboard::read(&at).unwrap())
    }

    /// The parts of a mean in a table: the value, whether it is the best, and its letters.
    fn means(stored: &[LeaderboardRow], dataset: &str, title: &str) -> Vec<(String, bool, String)> {
        let of = |at: &str| {
            let at = at.parse().unwrap();
            let row = stored.iter().find(|row| row.dataset == dataset && row.title == title && row.at == at).unwrap();
            (format!("{:.4}", row.mean.unwrap()), row.rank == Some(1), row.letters.clone())
        };
        ["ndcg@20", "recall@20", "precision@20", "mrr@20"].map(of).to_vec()
    }

    /// Holds each row of text tables against the stored leaderboard.
    fn assert_same(tables: &[(&str, Vec<Vec<String>>)], stored: &[LeaderboardRow], mean: impl Fn(&(String, bool, String)) -> String) {
        for (dataset, rows) in tables {
            assert_eq!(rows.len(), 7, "{dataset}");
            for cells in rows {
                let expected: Vec<String> = means(stored, dataset, &cells[0]).iter().map(&mean).collect();
                assert_eq!([&cells[1..2], &cells[4..]].concat(), expected, "{dataset}: {}", cells[0]);
                let row = stored.iter().find(|row| row.dataset == *dataset && row.title == cells[0] && row.rank.is_some()).unwrap();
                let interval = format!("[{:.4}, {:.4}]", row.ci_low.unwrap(), row.ci_high.unwrap());
                assert_eq!(cells[2].replace(['\\', '{', '}'], ""), interval);
            }
        }
    }

    #[test]
    fn latex_has_the_means_of_the_leaderboard() {
        let (text, stored) = exported(ReportFormat::Latex);
        let table = |part: &str| -> Vec<Vec<String>> {
            let rows = part.split("\\midrule\n").nth(1).unwrap().split("    \\bottomrule").next().unwrap().lines();
            rows.map(|row| row.trim().strip_suffix(" \\\\").unwrap().split(" & ").map(str::to_owned).collect()).collect()
        };
        let parts: Vec<&str> = text.split("\\end{table*}").collect();
        assert_same(&[("books", table(parts[0])), ("films", table(parts[1]))], &stored, |(value, best, letters)| {
            let value = if *best { format!("\\textbf{{{value}}}") } else { value.clone() };
            format!("{value}\\textsuperscript{{{letters}}}")
        });
        for expected in [
            "% ranksweep 0.1.0, sweep which-loss. The preamble needs \\usepackage{booktabs}.",
            "\\caption{books: 400 users, 8,360 items, 32,520 interactions. The best mean of each metric is bold. Methods that share a letter",
            "\\label{tab:which-loss-films}",
            "\\begin{tabular}{@{}lllllll@{}}\n    \\toprule\n    method & ndcg@20 & 95\\% interval & seeds & recall@20",
            "% Failed: bpr on mf-64, learning_rate 1, seed 1 (books-mf-64-bpr-uniform-1-1-1): step 7",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn markdown_has_the_means_of_the_leaderboard() {
        let (text, stored) = exported(ReportFormat::Markdown);
        let table = |part: &str| -> Vec<Vec<String>> {
            let rows = part.lines().filter(|line| line.starts_with("| ")).skip(2);
            rows.map(|row| row.trim_matches(['|', ' ']).split(" | ").map(str::to_owned).collect()).collect()
        };
        let parts: Vec<&str> = text.split("**films").collect();
        assert_same(&[("books", table(parts[0])), ("films", table(parts[1]))], &stored, |(value, best, letters)| {
            let value = if *best { format!("**{value}**") } else { value.clone() };
            format!("{value} <sup>{letters}</sup>")
        });
        assert!(
            text.starts_with("**books: 400 users, 8,360 items, 32,520 interactions**\n\n| method | ndcg@20 | 95% interval |"),
            "{text}"
        );
        assert!(text.contains("item vectors is NaN \\<\\&\\>"), "{text}");
    }

    #[test]
    fn csv_has_the_columns_and_all_digits_of_the_leaderboard() {
        let (text, stored) = exported(ReportFormat::Csv);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let at = Location::parse("memory:///report/columns.parquet").unwrap();
        leaderboard::write(&at, &stored).unwrap();
        let schema = dataset::table::read(&at).unwrap().schema();
        assert_eq!(header, schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>());
        let column = |name: &str| header.iter().position(|column| column == name).unwrap();
        let headline: Vec<&LeaderboardRow> = stored.iter().filter(|row| row.at.cutoff == Some(20)).collect();
        let lines: Vec<csv::StringRecord> = reader.into_records().map(Result::unwrap).collect();
        assert_eq!(lines.len(), headline.len());
        for (line, row) in lines.iter().zip(headline) {
            let number = |name: &str| line[column(name)].parse::<f64>().ok();
            assert_eq!((&line[column("dataset")], &line[column("title")]), (row.dataset.as_str(), row.title.as_str()));
            assert_eq!(line[column("metric")], *row.at.metric.name());
            assert_eq!([number("mean"), number("ci_low"), number("ci_high")], [row.mean, row.ci_low, row.ci_high]);
            assert_eq!((number("seed_std"), &line[column("letters")]), (row.seed_std, row.letters.as_str()));
        }
    }

    #[test]
    fn verdicts_stand_where_there_are_no_letters() {
        let mut sweep = example::sweep();
        sweep.evaluation.significance.family = Family::AgainstBest;
        let report = Report::new(&sweep.input());
        let text = report.export(&sweep.input(), ReportFormat::Latex).unwrap();
        assert!(
            text.contains("95\\% interval & verdict & seeds") && text.contains("{]} & worse & 3") && !text.contains("superscript"),
            "{text}"
        );
    }

    #[test]
    fn the_page_is_that_of_the_sweeps_folder() {
        let sweep = example::sweep();
        let folder = Location::parse("memory:///report/page").unwrap();
        let report = super::super::write(&folder, &sweep.input()).unwrap();
        let stored = folder.join("report.html").read().unwrap();
        assert_eq!(report.export(&sweep.input(), ReportFormat::Html).unwrap().as_bytes(), &stored[..]);
    }
}
