//! What a sweep found, in memory and as tables under `sweeps/<name>/`.

use super::{Session, all_trials};
use crate::{
    chain::chain,
    cli::Ending,
    plan::{PlannedDataset, Spaces},
    report::{self, Input, RepeatedSplit, Report},
    tables::{self, CurveRow, Status, TrialRow},
};
use anyhow::{Context, Result, ensure};
use dataset::Manifest;
use evaluator::{
    evaluate::TrialValues,
    significance::{Comparison, MethodComponents},
    tables as measured,
};

/// What a sweep found.
pub struct Results {
    /// The datasets, in the plan's order; of one with several splits the first.
    pub manifests: Vec<Manifest>,
    /// What the tuned values of each method may be.
    pub spaces: Spaces,
    /// All splits of the datasets that have several, in the plan's order.
    pub splits: Vec<RepeatedSplit>,
    /// Every trial, in the plan's order.
    pub trials: Vec<TrialRow>,
    /// Test values by user of the picked trials.
    pub values: Vec<TrialValues>,
    /// Tests between the methods of each dataset.
    pub comparisons: Vec<Comparison>,
    /// Every method's mean by every metric, and the parts of its variance.
    pub components: Vec<MethodComponents>,
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
        let (manifests, splits) = prepared(session)?;
        Ok(Self {
            manifests,
            splits,
            spaces: Spaces::of(&session.file),
            trials: tables::trials::read(&folder.join("trials.parquet"))?,
            values,
            comparisons: measured::read_significance(&folder.join("significance.parquet"))?,
            components: measured::read_components(&folder.join("variance_components.parquet"))?,
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
            spaces: &self.spaces,
            splits: &self.splits,
            trials: &self.trials,
            values: &self.values,
            comparisons: &self.comparisons,
            components: &self.components,
            curves: &self.curves,
        }
    }

    /// Whether the tables would hold the same.
    fn is_same(&self, other: &Self) -> bool {
        self.trials == other.trials
            && self.values == other.values
            && self.comparisons == other.comparisons
            && self.components == other.components
            && self.curves == other.curves
    }

    /// Whether everything asked for was done.
    pub fn ending(&self) -> Ending {
        let count = |is: fn(&TrialRow) -> bool| self.trials.iter().filter(|row| is(row)).count();
        Ending::of(count(|row| row.status.has_failed()), count(|row| row.status == Status::Missing))
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

/// The datasets as they were prepared, and the splits of those that have several.
pub(super) fn prepared(session: &Session) -> Result<(Vec<Manifest>, Vec<RepeatedSplit>)> {
    let mut manifests = session.prepared()?;
    let repeated = session.plan.datasets.iter().zip(&manifests);
    let of_split = |(planned, manifest): (&PlannedDataset, &Manifest)| {
        planned.split_seed.map(|seed| RepeatedSplit { seed, manifest: manifest.clone() })
    };
    let splits = repeated.filter_map(of_split).collect();
    manifests.dedup_by(|next, first| next.name == first.name);
    Ok((manifests, splits))
}

/// Writes the tables. Where nothing can be written, as on a disk that is read-only by now, tables that are stored already are enough.
///
/// # Errors
/// A store that fails, and has not these very results.
pub(super) fn keep(session: &Session, results: &Results) -> Result<()> {
    let Err(error) = write(session, results) else { return Ok(()) };
    if !Results::read(session).is_ok_and(|stored| stored.is_same(results)) {
        return Err(error);
    }
    tracing::warn!("nothing was written, as the stored tables are the same: {}", chain(&error));
    Ok(())
}

/// Writes all tables but the leaderboard. `plan.json` is taken away first and written last: where it stands, the tables are its own. The
/// leaderboard, the report and the test values of all trials of an earlier evaluation go.
fn write(session: &Session, results: &Results) -> Result<()> {
    let folder = session.folder();
    for stale in ["plan.json", "leaderboard.parquet", "tuning.parquet", "report.html", all_trials::FILE] {
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
    measured::write_components(&folder.join("variance_components.parquet"), &results.components)?;
    Ok(folder.join("plan.json").write(session.plan.to_json())?)
}

/// Writes the leaderboard and `report.html`.
///
/// # Errors
/// When the results do not fit together, or a store that fails.
pub fn report(session: &Session, results: &Results) -> Result<Report> {
    report::write(&session.folder(), &results.input(session))
}
