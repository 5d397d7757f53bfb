//! The findings of a sweep: who ranks best, by how much, and whether the difference is real.
//!
//! [`write()`] makes `leaderboard.parquet`, `tuning.parquet`, `report.html` and, beside a paper, `reproduction.parquet` and `claims.parquet` from the
//! sweep's tables; [`Report::terminal`] prints the same findings as text, and [`Report::export`] gives them to other programs.

pub(crate) mod across;
mod board;
mod budget;
mod export;
mod measured;
mod method;
mod new_users;
mod page;
mod pairs;
mod remarks;
mod reproduction;
mod sampled;
mod splits;
mod standings;
mod templates;
mod terminal;
mod tuning;
mod unknown;
mod verdict;
mod whole_lists;
pub(crate) mod words;

#[cfg(test)]
mod example;

use crate::{
    chain::chain,
    number,
    plan::{PlannedClaim, Printed, Spaces},
    tables::{self, CurveRow, LeaderboardRow, TrialRow, TuningRow},
};
use across::AcrossDatasets;
use dataset::{Location, Manifest};
use evaluator::{
    Evaluation, MetricAt, TrialValues,
    significance::{Comparison, MethodComponents},
};
pub use export::ReportFormat;
use pairs::Pairs;
pub use reproduction::Reproduction;

pub use splits::RepeatedSplit;
pub use terminal::Style;

/// Everything a report is made from.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The sweep's name.
    pub name: &'a str,
    /// The sweep file as typed.
    pub sweep_file: &'a str,
    /// The metrics that were measured, and how differences were tested.
    pub evaluation: &'a Evaluation,
    /// The datasets, in the order of the sweep file; of one with several splits the first.
    pub manifests: &'a [Manifest],
    /// The values that the tuning of each method may take.
    pub spaces: &'a Spaces,
    /// All splits of the datasets that have several, in the order of the sweep file.
    pub splits: &'a [RepeatedSplit],
    /// All trials, in the order of the plan.
    pub trials: &'a [TrialRow],
    /// Test values by user of the selected trials.
    pub values: &'a [TrialValues],
    /// Tests between the methods of each dataset.
    pub comparisons: &'a [Comparison],
    /// Every method's mean by every metric, and the parts of its variance.
    pub components: &'a [MethodComponents],
    /// Loss and validation by epoch.
    pub curves: &'a [CurveRow],
    /// The numbers that a paper prints of the methods.
    pub printed: Option<&'a Printed>,
    /// The claims of a paper about the methods.
    pub claims: &'a [PlannedClaim],
}

impl Input<'_> {
    /// The metric that verdicts are about.
    fn primary(&self) -> MetricAt {
        self.evaluation.primary()
    }

    /// The metrics of the leaderboard's columns: the primary one, then the others at its cutoff, or at the first one where it has none.
    fn headline(&self) -> Vec<MetricAt> {
        let all = self.evaluation.metric_ats();
        let primary = self.primary();
        let cutoff = primary.cutoff.or_else(|| all.iter().find_map(|at| at.cutoff));
        let beside = |at: &MetricAt| *at == primary || at.cutoff.is_none() || (at.metric != primary.metric && at.cutoff == cutoff);
        let mut headline: Vec<MetricAt> = all.into_iter().filter(beside).collect();
        headline.sort_by_key(|at| *at != primary); // the primary one first, the others as they stand
        headline
    }
}

/// The findings.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The leaderboard: by dataset, metric and rank.
    pub rows: Vec<LeaderboardRow>,
    /// The best validation value to be expected, by dataset, method and budget.
    pub tuning: Vec<TuningRow>,
    /// One sentence for each dataset.
    pub verdicts: Vec<String>,
    /// The numbers and claims of a paper, judged, where the sweep file names them.
    pub reproduction: Option<Reproduction>,
    /// The methods over all datasets, where there are several.
    across: Option<AcrossDatasets>,
}

impl Report {
    /// Ranks the methods and sums up each dataset in a sentence.
    pub fn new(input: &Input) -> Self {
        let pairs = Pairs::new(input);
        let rows = standings::standings(input, &pairs);
        let verdict = |dataset: &str| {
            verdict::verdict(input, &rows, &pairs, dataset) + &unknown::clause(input, dataset) + &sampled::clause(input.evaluation)
        };
        let verdicts = input.manifests.iter().map(|manifest| verdict(&manifest.name)).collect();
        Self {
            rows,
            tuning: budget::expected(input),
            verdicts,
            reproduction: Reproduction::new(input),
            across: AcrossDatasets::of_sweep(input),
        }
    }

    /// The report's pictures as SVG files, each with its name.
    ///
    /// # Errors
    /// When one cannot be drawn.
    pub fn figures(&self, input: &Input) -> anyhow::Result<Vec<(String, String)>> {
        page::figures(input, self)
    }

    /// The rows of one dataset and metric, best first.
    fn ranking<'a>(&'a self, dataset: &str, at: MetricAt) -> Vec<&'a LeaderboardRow> {
        self.rows.iter().filter(|row| row.dataset == dataset && row.at == at).collect()
    }

    /// The row of the same dataset and method by another metric.
    fn by(&self, row: &LeaderboardRow, at: MetricAt) -> Option<&LeaderboardRow> {
        self.rows.iter().find(|other| other.dataset == row.dataset && other.method == row.method && other.at == at)
    }
}

/// The leaderboard alone: by dataset, metric and rank.
pub fn leaderboard(input: &Input) -> Vec<LeaderboardRow> {
    standings::standings(input, &Pairs::new(input))
}

/// Writes `leaderboard.parquet` and `tuning.parquet`, `reproduction.parquet` and `claims.parquet` where a paper is named, then `report.html`, into the
/// sweep's folder. Where nothing can be written, a leaderboard
/// that is stored already and says the same is enough.
///
/// # Errors
/// When something cannot be stored.
pub fn write(folder: &Location, input: &Input) -> anyhow::Result<Report> {
    let (report, leaderboard) = (Report::new(input), folder.join("leaderboard.parquet"));
    match tables::leaderboard::write(&leaderboard, &report.rows) {
        Err(error) if tables::leaderboard::read(&leaderboard).is_ok_and(|stored| stored == report.rows) => {
            tracing::warn!("nothing was written, as the stored leaderboard is the same: {}", chain(&error.into()));
            return Ok(report);
        }
        written => drop(written?),
    }
    tables::tuning::write(&folder.join("tuning.parquet"), &report.tuning)?;
    if let Some(Reproduction { numbers, claims }) = &report.reproduction {
        tables::reproduction::write(&folder.join("reproduction.parquet"), numbers)?;
        tables::claims::write(&folder.join("claims.parquet"), claims)?;
    }
    folder.join("report.html").write(page::render(input, &report)?)?;
    Ok(report)
}
