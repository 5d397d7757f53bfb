//! What a sweep found: who ranks best, by how much, and whether the difference is real.
//!
//! [`write()`] makes `leaderboard.parquet` and `report.html` from the sweep's tables; [`Report::terminal`] prints the same findings as text.

pub(crate) mod across;
mod board;
mod measured;
mod method;
pub(crate) mod number;
mod page;
mod pairs;
mod remarks;
mod standings;
mod terminal;
mod tuning;
mod verdict;
mod words;

#[cfg(test)]
mod example;

use crate::tables::{self, CurveRow, LeaderboardRow, TrialRow};
use across::AcrossDatasets;
use dataset::{Location, Manifest};
use evaluator::{Evaluation, MetricAt, evaluate::TrialValues, significance::Comparison};

pub use terminal::Style;

/// Everything a report is made from.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The sweep's name.
    pub name: &'a str,
    /// The sweep file as typed.
    pub sweep_file: &'a str,
    /// What was measured, and how differences were tested.
    pub evaluation: &'a Evaluation,
    /// The datasets, in the order of the sweep file.
    pub manifests: &'a [Manifest],
    /// All trials, in the order of the plan.
    pub trials: &'a [TrialRow],
    /// Test values by user of the selected trials.
    pub values: &'a [TrialValues],
    /// Tests between the methods of each dataset.
    pub comparisons: &'a [Comparison],
    /// Loss and validation by epoch.
    pub curves: &'a [CurveRow],
}

impl Input<'_> {
    /// The first metric at the first cutoff: the one that decides.
    fn primary(&self) -> MetricAt {
        self.evaluation.metric_ats()[0]
    }

    /// The metrics of the leaderboard's columns: the primary one, then the others at its cutoff.
    fn headline(&self) -> Vec<MetricAt> {
        let all = self.evaluation.metric_ats();
        let primary = all[0];
        let beside = |at: &MetricAt| *at == primary || at.cutoff.is_none() || (at.metric != primary.metric && at.cutoff == primary.cutoff);
        all.into_iter().filter(beside).collect()
    }
}

/// The findings.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The leaderboard: by dataset, metric and rank.
    pub rows: Vec<LeaderboardRow>,
    /// One sentence for each dataset.
    pub verdicts: Vec<String>,
    /// The methods over all datasets, where there are several.
    across: Option<AcrossDatasets>,
}

impl Report {
    /// Ranks the methods and sums up each dataset in a sentence.
    ///
    /// # Errors
    /// When the trials of a method were ranked for different users.
    pub fn new(input: &Input) -> anyhow::Result<Self> {
        let rows = standings::standings(input)?;
        let verdicts = input.manifests.iter().map(|manifest| verdict::verdict(input, &rows, &manifest.name)).collect();
        Ok(Self { rows, verdicts, across: AcrossDatasets::of_sweep(input) })
    }

    /// The rows of one dataset and metric, best first.
    fn ranking<'a>(&'a self, dataset: &str, at: MetricAt) -> Vec<&'a LeaderboardRow> {
        self.rows.iter().filter(|row| row.dataset == dataset && row.at == at).collect()
    }
}

/// Writes `leaderboard.parquet`, then `report.html`, into the sweep's folder.
///
/// # Errors
/// When the trials of a method were ranked for different users, or something cannot be stored.
pub fn write(folder: &Location, input: &Input) -> anyhow::Result<Report> {
    let report = Report::new(input)?;
    tables::leaderboard::write(&folder.join("leaderboard.parquet"), &report.rows)?;
    folder.join("report.html").write(page::render(input, &report)?)?;
    Ok(report)
}
