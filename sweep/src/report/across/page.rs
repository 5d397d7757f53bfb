//! The comparison over datasets as a part of the report's page, and as a page of its own.

use super::{
    super::{
        number,
        templates::{STYLE, environment},
    },
    AcrossDatasets, Control, Ranked, words,
};
use crate::figure::{CriticalDifference, LabelledRank};
use anyhow::{Context, Result};
use minijinja::value::Serde;
use serde::Serialize;

/// The values of the comparison that the template shows.
#[derive(Serialize)]
pub(in crate::report) struct ComparisonSection {
    metric: String,
    size: String,
    datasets: Vec<String>,
    winner: String,
    verdict: String,
    against: Option<String>,
    diagram: String,
    rows: Vec<AverageRankRow>,
    friedman: String,
    how_to_read: String,
    remarks: Option<String>,
}

#[derive(Serialize)]
struct AverageRankRow {
    title: String,
    best: bool,
    average_rank: String,
    record: String,
    means: Vec<String>,
    /// How surely a training of the best method beats one of this.
    improvement: String,
}

/// The page of `ranksweep compare`.
#[derive(Serialize)]
struct ComparisonPage {
    names: Vec<String>,
    style: &'static str,
    across: ComparisonSection,
}

impl ComparisonSection {
    /// Puts the section together.
    ///
    /// # Errors
    /// When the diagram's template and the diagram disagree.
    pub(in crate::report) fn new(across: &AcrossDatasets, control: Option<&Control>) -> Result<Self> {
        let verdict = words::verdict(across);
        let winner = across.methods[0].title.clone();
        let means = |place: usize| across.methods[place].means.iter().copied().map(number::value).collect();
        let row = |(place, method): (usize, &Ranked)| AverageRankRow {
            title: method.title.clone(),
            best: place < words::leading(across).count(),
            average_rank: format!("{:.2}", method.average_rank),
            record: [method.record.wins, method.record.ties, method.record.losses].map(number::count).join(" · "),
            means: means(place),
            improvement: if place == 0 { String::new() } else { improvement(across, place) },
        };
        Ok(Self {
            metric: across.at.to_string(),
            size: format!("{}, {}", number::counted(across.datasets.len(), "dataset"), number::counted(across.methods.len(), "method")),
            datasets: across.datasets.clone(),
            verdict: verdict.strip_prefix(&winner).unwrap_or(&verdict).to_owned(),
            winner,
            against: control.map(|control| words::against(across, control)),
            diagram: diagram(across).inline()?,
            rows: across.methods.iter().enumerate().map(row).collect(),
            friedman: words::friedman(across),
            how_to_read: words::how_to_read(across),
            remarks: words::remarks(across),
        })
    }
}

fn improvement(across: &AcrossDatasets, place: usize) -> String {
    let found = across.improvement(0, place);
    let interval = found.interval.map_or_else(String::new, |ends| format!(" ({:.2} – {:.2})", ends.low, ends.high));
    format!("{:.2}{interval}", found.probability)
}

/// The critical-difference diagram.
pub(crate) fn diagram(across: &AcrossDatasets) -> CriticalDifference {
    let place = |method: &Ranked| LabelledRank { title: method.title.clone(), rank: method.average_rank };
    CriticalDifference {
        title: format!("Average ranks over {} by {}", number::counted(across.datasets.len(), "dataset"), across.at),
        methods: across.methods.iter().map(place).collect(),
        groups: across.groups.iter().filter_map(|group| Some((*group.first()?, *group.last()?))).collect(),
        critical_difference: across.critical_difference,
    }
}

/// A page that has the comparison alone; `names` are those of the sweeps.
///
/// # Errors
/// When a template and the page disagree.
pub(crate) fn render(names: &[String], across: &AcrossDatasets, control: Option<&Control>) -> Result<String> {
    let page = ComparisonPage { names: names.to_vec(), style: STYLE, across: ComparisonSection::new(across, control)? };
    let templates = environment()?;
    let template = templates.get_template("compare.html").context("the comparison's template")?;
    template.render(Serde(page)).context("the comparison's page")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn the_page_needs_nothing_else_and_escapes_what_users_typed() {
        let mut sweep = example::sweep();
        sweep.manifests[1].name = "films".into();
        let mut across = AcrossDatasets::of_sweep(&sweep.input()).unwrap();
        across.methods[1].title = "<b>&".into();
        let page = render(&["which-loss".into()], &across, across.against("popularity").as_ref()).unwrap();
        for outside in ["http://", "https://", "src=", "<script", "@import", "url(", "<b>&"] {
            assert!(!page.contains(outside), "{outside}");
        }
        for part in ["<!doctype html>", "<svg", "&lt;b&gt;&amp;", "which-loss", "Against popularity alone", "average rank", "Friedman"] {
            assert!(page.contains(part), "{part}\n{page}");
        }
    }

    #[test]
    fn improvement_is_of_the_best_over_the_others() {
        let across = AcrossDatasets::of_sweep(&example::sweep().input()).unwrap();
        let section = ComparisonSection::new(&across, None).unwrap();
        assert_eq!(section.rows[0].improvement, "");
        assert_eq!(section.rows.last().unwrap().improvement, "1.00 (0.54 – 1.00)", "six trainings, three on each dataset: 0.025^(1/6)");
    }
}
