//! `report.html`: one file that needs no network. Its words and numbers are put together here; how it looks is the template's and the style's.

mod chart;
mod curves;
mod facts;
mod figures;
mod groups;
mod leaderboard;
mod matrix;
mod palette;
mod spread;
mod trials;
mod tuning;

use super::{
    Input, Report, across,
    method::{MethodTrials, methods},
    number,
    pairs::Pairs,
    remarks::{self, Failure},
    reproduction, sampled, splits,
    templates::{STYLE, environment},
    words,
};
use anyhow::{Context, Result};
use chart::LineChart;
use curves::Curves;
use dataset::Manifest;
use facts::Facts;
pub(super) use figures::figures;
use groups::Groups;
use leaderboard::{Every, Leaderboard};
use matrix::Matrix;
use minijinja::value::Serde;
use palette::Palette;
use serde::Serialize;
use trials::TrialLine;

/// The whole page. The template engine escapes everything but the style.
///
/// # Errors
/// When the template and the page disagree.
pub(super) fn render(input: &Input, report: &Report) -> Result<String> {
    let templates = environment()?;
    let template = templates.get_template("report.html").context("the report's template")?;
    template.render(Serde(page(input, report)?)).context("the report's page")
}

#[derive(Serialize)]
struct Page<'a> {
    name: &'a str,
    version: &'static str,
    style: &'static str,
    overview: String,
    across: Option<across::ComparisonSection>,
    sections: Vec<Section<'a>>,
    reproduction: Option<reproduction::ReproductionSection>,
    settings: Vec<(&'static str, String)>,
    sweep_file: &'a str,
}

/// The section of one dataset.
#[derive(Serialize)]
struct Section<'a> {
    dataset: &'a str,
    winner: &'a str,
    verdict: &'a str,
    leaderboard: Leaderboard<'a>,
    every: Every<'a>,
    matrix: Matrix<'a>,
    tuning: Option<LineChart>,
    curves: Curves,
    groups: Groups,
    trials: Vec<TrialLine<'a>>,
    remarks: Vec<String>,
    fates: String,
    failures: Vec<Failure>,
    facts: Facts<'a>,
}

fn page<'a>(input: &Input<'a>, report: &'a Report) -> Result<Page<'a>> {
    let (palette, pairs) = (Palette::new(input, report), Pairs::new(input));
    let sections = input.manifests.iter().zip(&report.verdicts);
    Ok(Page {
        name: input.name,
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        overview: overview(input),
        across: report.across.as_ref().map(|across| across::ComparisonSection::new(across, None)).transpose()?,
        sections: sections.map(|(manifest, verdict)| section(input, report, &pairs, &palette, manifest, verdict)).collect(),
        reproduction: report.reproduction.as_ref().map(|found| reproduction::ReproductionSection::new(input, found)),
        settings: settings(input),
        sweep_file: input.sweep_file,
    })
}

fn section<'a>(
    input: &Input<'a>,
    report: &'a Report,
    pairs: &Pairs,
    palette: &Palette,
    manifest: &'a Manifest,
    verdict: &'a str,
) -> Section<'a> {
    let dataset = manifest.name.as_str();
    let ranking = report.ranking(dataset, input.primary());
    let mut methods = methods(input.trials, dataset);
    methods.sort_by_key(|method| ranking.iter().position(|row| row.method == method.key));
    let winner = ranking.first().map_or("", |row| row.title.as_str());
    let failures = remarks::failures(input, dataset);
    Section {
        dataset,
        winner: if verdict.starts_with(winner) { winner } else { "" },
        verdict: verdict.strip_prefix(winner).unwrap_or(verdict),
        leaderboard: leaderboard::leaderboard(input, report, &methods, palette, &ranking),
        every: leaderboard::every(input, report, &ranking),
        matrix: matrix::matrix(input, pairs, &ranking),
        tuning: tuning::tuning(report, dataset, &methods, palette),
        curves: curves::curves(input, &methods, palette),
        groups: groups::groups(input, dataset, &methods, palette),
        trials: methods.iter().flat_map(|method| trials::lines(method, palette)).collect(),
        remarks: remarks::remarks(input, dataset),
        fates: remarks::fates(&failures),
        failures,
        facts: facts::facts(manifest, &splits::splits(input, dataset)),
    }
}

fn overview(input: &Input) -> String {
    let mut methods: Vec<&str> = input.trials.iter().map(|trial| trial.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    let counted = [(input.manifests.len(), "dataset"), (methods.len(), "method"), (input.trials.len(), "trial")];
    let time: f64 = input.trials.iter().filter_map(|trial| trial.seconds).sum();
    format!("{}, {} of training", counted.map(|(count, noun)| number::counted(count, noun)).join(", "), number::seconds(time))
}

fn settings(input: &Input) -> Vec<(&'static str, String)> {
    let evaluation = input.evaluation;
    let splits = input.manifests.iter().any(|manifest| splits::are_replicates(input, &manifest.name));
    let significance = &evaluation.significance;
    // What was counted, and how it was adjusted, may be less than was asked for.
    let primary = || input.comparisons.iter().filter(|row| row.primary);
    let counted = |test| words::least_counted(primary().filter(|row| row.test == test), significance.over);
    let tests: Vec<String> = significance.tests.iter().map(|&test| words::test(test, counted(test), splits)).collect();
    let mut adjusted: Vec<&str> = primary().map(|row| row.correction.words()).collect();
    adjusted.sort_unstable();
    adjusted.dedup();
    if adjusted.is_empty() {
        adjusted.push(significance.correction.words());
    }
    let metrics: Vec<String> = evaluation.metric_ats().iter().map(ToString::to_string).collect();
    vec![
        ("decided by", format!("{}, on test users, after values were picked on validation", input.primary())),
        ("metrics", metrics.join(", ")),
        ("users", words::users(evaluation.users).to_owned()),
        ("ranked", sampled::among(evaluation)),
        ("ties", words::ties(evaluation.ties).to_owned()),
        ("recall", words::recall(evaluation.recall).to_owned()),
        ("tests", number::listed(&tests)),
        ("comparisons", words::family(&significance.family, |key| words::title(input, key))),
        ("p-values", format!("{}; called significant below {}", adjusted.join(", or "), significance.alpha)),
        ("margin of equivalence", significance.margin.map_or_else(|| "none".to_owned(), |margin| margin.to_string())),
        ("ranksweep", env!("CARGO_PKG_VERSION").to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn rendered(change: impl Fn(&mut example::Sweep)) -> String {
        let mut sweep = example::sweep();
        change(&mut sweep);
        let input = sweep.input();
        render(&input, &Report::new(&input)).unwrap()
    }

    #[test]
    fn the_page_needs_no_network_and_no_script() {
        let page = rendered(|_| ());
        for outside in ["http://", "https://", "src=", "<script", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.starts_with("<!doctype html>") && page.contains("<svg"));
    }

    #[test]
    fn what_tuning_gave_is_drawn_where_something_was_tuned() {
        let drawn = "validation ndcg@20 of the best configuration by how many are tried";
        assert_eq!(rendered(|_| ()).matches(drawn).count(), 2, "once for each dataset");
        let single = |sweep: &mut example::Sweep| sweep.trials.retain(|trial| trial.selected);
        assert!(!rendered(single).contains(drawn));
    }

    #[test]
    fn what_users_typed_is_escaped() {
        let page = rendered(|sweep| sweep.manifests[0].steps[0].step = "<b>\"read\"".into());
        assert!(
            page.contains("&lt;script&gt;alert(1)") && page.contains("is NaN &lt;&amp;&gt;") && page.contains("&lt;b&gt;&quot;read&quot;")
        );
    }

    #[test]
    fn a_sweep_without_any_result_has_a_page() {
        let page = rendered(|sweep| {
            sweep.values.clear();
            sweep.components.clear();
            sweep.comparisons.clear();
            sweep.curves.clear();
        });
        assert!(page.contains("No method has a result on books.") && !page.contains("All datasets together"));
    }

    #[test]
    fn several_datasets_are_compared_first_and_one_is_not() {
        let page = rendered(|_| ());
        let (together, books) = (page.find("All datasets together").unwrap(), page.find("id=\"dataset-1\"").unwrap());
        assert!(together < books && page.contains("class=\"cd\""));
        assert!(!rendered(|sweep| sweep.manifests.truncate(1)).contains("All datasets together"));
    }

    #[test]
    fn the_page_is_the_same_each_time() {
        assert_eq!(rendered(|_| ()), rendered(|_| ()));
    }
}
