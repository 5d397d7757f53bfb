//! The page's pictures as SVG files, which need nothing else: to be put into a paper or a talk.

use super::{LineChart, Section, environment, page};
use crate::report::{Input, Report, across};
use anyhow::{Context, Result};
use minijinja::{context, value::Serde};

/// How the files look: the theme's colours, the text of charts, and what these have beside.
const STYLE: &str =
    concat!(include_str!("../../figure/theme.css"), include_str!("../../figure/chart.css"), include_str!("../figures/figures.css"));
/// The marks of methods as paths around the origin, in the order of the page's: a disc, a square, a triangle, a diamond, a cross.
const MARKS: [&str; 5] = [
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
    "M-4.4 -4.4h8.8v8.8h-8.8z",
    "M0 -5.2L5.4 4.4H-5.4z",
    "M0 -5.8L5.8 0L0 5.8L-5.8 0z",
    "M-1.9 -5.4h3.8v3.5h3.5v3.8h-3.5v3.5h-3.8v-3.5h-3.5v-3.8h3.5z",
];

/// Every picture of the report, by its file's name.
///
/// # Errors
/// When a template and a picture disagree.
pub(in crate::report) fn figures(input: &Input, report: &Report) -> Result<Vec<(String, String)>> {
    let templates = environment()?;
    let page = page(input, report)?;
    let mut files = Vec::new();
    for section in &page.sections {
        let dataset = section.dataset;
        let title = format!("{dataset}: methods by {}", input.primary());
        let board = Serde(&section.leaderboard);
        let svg = templates
            .get_template("leaderboard.svg")
            .and_then(|template| template.render(context! {title, board, style => STYLE, marks => MARKS}));
        files.push((format!("{dataset}-leaderboard.svg"), svg.context("the picture of the leaderboard")?));
        for (name, title, across, part, chart) in lines(section) {
            let values =
                context! {title => format!("{dataset}: {title}"), across, part, chart => Serde(chart), style => STYLE, marks => MARKS};
            let svg = templates.get_template("lines.svg").and_then(|template| template.render(values));
            files.push((format!("{dataset}-{name}.svg"), svg.with_context(|| format!("the picture of {name}"))?));
        }
    }
    if let Some(found) = &report.across {
        files.push(("critical-difference.svg".to_owned(), across::diagram(found).svg()?));
    }
    Ok(files)
}

/// A picture of lines: its name, its title, its horizontal axis, the part that it is measured on, and the lines.
type Lines<'a> = (&'static str, &'static str, &'static str, &'static str, &'a LineChart);

fn lines<'a>(section: &'a Section<'_>) -> Vec<Lines<'a>> {
    let (curves, groups) = (&section.curves, &section.groups);
    let all = [
        ("tuning", "the best of so many configurations", "configurations tried", "validation", section.tuning.as_ref()),
        ("training", "by epoch", "epoch", "validation", curves.validation.as_ref()),
        ("users", "by the length of users' histories", "tenths of users, the fewest items at the left", "test", groups.users.as_ref()),
        (
            "items-found",
            "held-out items found, by their popularity",
            "tenths of items, the fewest users at the left",
            "test",
            groups.found.as_ref(),
        ),
        (
            "items-shown",
            "places in lists, by the popularity of items",
            "tenths of items, the fewest users at the left",
            "test",
            groups.shown.as_ref(),
        ),
    ];
    all.into_iter().filter_map(|(name, title, across, part, chart)| Some((name, title, across, part, chart?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use std::collections::BTreeMap;

    fn drawn() -> BTreeMap<String, String> {
        let sweep = example::sweep();
        let input = sweep.input();
        figures(&input, &Report::new(&input)).unwrap().into_iter().collect()
    }

    #[test]
    fn each_dataset_has_its_pictures_and_all_of_them_one() {
        let names: Vec<String> = drawn().into_keys().collect();
        for name in ["books-leaderboard.svg", "books-training.svg", "books-tuning.svg", "films-leaderboard.svg", "critical-difference.svg"]
        {
            assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
        }
    }

    #[test]
    fn a_file_needs_nothing_else() {
        for (name, svg) in drawn() {
            assert!(svg.trim_start().starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{name}");
            assert_eq!(svg.matches("http").count(), 1, "{name}");
            assert!(!["<script", "@import", "url(", "href", "NaN"].iter().any(|outside| svg.contains(outside)), "{name}");
        }
    }

    /// The example's best method is at the mean that the leaderboard has, and its mark is drawn once for each row beside that of the interval.
    #[test]
    fn the_leaderboard_has_a_row_for_each_method() {
        let sweep = example::sweep();
        let report = Report::new(&sweep.input());
        let rows: Vec<_> = report.rows.iter().filter(|row| row.dataset == "books" && row.at == sweep.input().primary()).collect();
        let svg = &drawn()["books-leaderboard.svg"];
        assert_eq!(svg.matches("class=\"mark c").count(), rows.len() + rows.iter().filter(|row| row.mean.is_some()).count());
        for row in rows {
            assert!(svg.contains(&format!(">{}</text>", row.title)), "{}", row.title);
            assert!(row.mean.is_none_or(|mean| svg.contains(&format!(">{mean:.4}</text>"))), "{}", row.title);
        }
    }
}
