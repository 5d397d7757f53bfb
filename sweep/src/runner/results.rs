//! What a sweep found, in memory and as tables under `sweeps/<name>/`.

use super::Session;
use crate::{
    cli::Ending,
    report::{self, Input, Report},
    tables::{self, CurveRow, Status, TrialRow},
};
use anyhow::{Context, Result, ensure};
use dataset::Manifest;
use evaluator::{evaluate::TrialValues, significance::Comparison, tables as measured};

/// What a sweep found.
pub struct Results {
    /// The datasets, in the plan's order.
    pub manifests: Vec<Manifest>,
    /// Every trial, in the plan's order.
    pub trials: Vec<TrialRow>,
    /// Test values by user of the picked trials.
    pub values: Vec<TrialValues>,
    /// Tests between the methods of each dataset.
    pub comparisons: Vec<Comparison>,
    /// Loss and validation by epoch.
    pub curves: Vec<CurveRow>,
}

impl Results {
    /// Reads the stored tables of this very plan.
    ///
    /// # Errors
    /// When there are none, or they are of another plan.
    pub fn read(session: &Session) -> Result<Self> {
        check_plan(session)?;
        let folder = session.folder();
        let values = measured::read_values(&folder.join("metrics.parquet"), &folder.join("per_user"))?;
        Ok(Self {
            manifests: session.prepared()?,
            trials: tables::trials::read(&folder.join("trials.parquet"))?,
            values,
            comparisons: measured::read_significance(&folder.join("significance.parquet"))?,
            curves: tables::curves::read(&folder.join("curves.parquet"))?,
        })
    }

    /// The report's view of them.
    pub fn input<'a>(&'a self, session: &'a Session) -> Input<'a> {
        Input {
            name: &session.plan.name,
            sweep_file: &session.file.text,
            evaluation: &session.plan.evaluation,
            manifests: &self.manifests,
            trials: &self.trials,
            values: &self.values,
            comparisons: &self.comparisons,
            curves: &self.curves,
        }
    }

    /// Whether everything asked for was done.
    pub fn ending(&self) -> Ending {
        let count = |status| self.trials.iter().filter(|row| row.status == status).count();
        Ending::of(count(Status::Failed), count(Status::Missing))
    }
}

/// That the stored tables are those of this very plan.
///
/// # Errors
/// When there are none, or they are of another plan.
pub fn check_plan(session: &Session) -> Result<()> {
    let folder = session.folder();
    let stored = folder.join("plan.json").read().context("the sweep has no tables yet; run `ranksweep run` first")?;
    let same = stored == session.plan.to_json().as_bytes();
    ensure!(same, "the tables in {folder} are of another plan: the sweep file or its data changed; run `ranksweep run` again");
    Ok(())
}

/// Writes all tables but the leaderboard. `plan.json` is taken away first and written last: where it stands, the tables are its own. The
/// leaderboard and the report of an earlier evaluation go.
pub(super) fn write(session: &Session, results: &Results) -> Result<()> {
    let folder = session.folder();
    for stale in ["plan.json", "leaderboard.parquet", "report.html"] {
        folder.join(stale).delete()?;
    }
    folder.join("sweep.yaml").write(session.file.text.clone())?;
    tables::trials::write(&folder.join("trials.parquet"), &results.trials)?;
    tables::curves::write(&folder.join("curves.parquet"), &results.curves)?;
    measured::write_metrics(&folder.join("metrics.parquet"), &results.values)?;
    let per_user = folder.join("per_user");
    measured::write_per_user(&per_user, &results.values)?;
    measured::drop_other_trials(&per_user, &results.values)?;
    measured::write_significance(&folder.join("significance.parquet"), &results.comparisons)?;
    Ok(folder.join("plan.json").write(session.plan.to_json())?)
}

/// Writes the leaderboard and `report.html`.
///
/// # Errors
/// When the results do not fit together, or a store that fails.
pub fn report(session: &Session, results: &Results) -> Result<Report> {
    report::write(&session.folder(), &results.input(session))
}
