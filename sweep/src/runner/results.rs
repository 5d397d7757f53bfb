//! The findings of a sweep, in memory and as tables under `sweeps/<name>/`.

use super::{
    Ending, Session, history,
    marker::{self, Tables},
    stored::PER_USER,
};
use crate::{
    chain::chain,
    plan::{PlannedDataset, Spaces},
    report::{self, Input, RepeatedSplit, Report},
    tables::{self, CurveRow, Status, TrialRow},
};
use anyhow::Result;
use dataset::{FileEntry, Files, Manifest};
use evaluator::{
    TrialValues,
    significance::{Comparison, MethodComponents},
    tables as measured,
};

/// The table of groups of users and items.
const GROUPS: &str = "groups.parquet";

/// The findings of a sweep.
pub struct Results {
    /// The datasets, in the plan's order; of one with several splits the first.
    pub manifests: Vec<Manifest>,
    /// The values that the tuning of each method may take.
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
        let (folder, tables) = (session.folder(), Tables::read(session)?);
        let at = |path: &str| tables.at(&folder, path);
        let mut values = measured::read_values_at(&at("metrics.parquet")?, &|name| at(&format!("{PER_USER}/{name}")))?;
        // An earlier version made no groups.
        if tables.has(GROUPS) {
            measured::read_groups(&at(GROUPS)?, &mut values)?;
        }
        let (manifests, splits) = prepared(session)?;
        Ok(Self {
            manifests,
            splits,
            spaces: Spaces::of(&session.file),
            trials: tables::trials::read(&at("trials.parquet")?)?,
            values,
            comparisons: measured::read_significance(&at("significance.parquet")?)?,
            components: measured::read_components(&at("variance_components.parquet")?)?,
            curves: tables::curves::read(&at("curves.parquet")?)?,
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
            printed: session.plan.printed.as_ref(),
            claims: &session.plan.claims,
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

/// The trials and how they ended, by the stored table of this very plan.
///
/// # Errors
/// When there is none, or it is of another plan.
pub fn stored_trials(session: &Session) -> Result<Vec<TrialRow>> {
    Ok(tables::trials::read(&Tables::read(session)?.at(&session.folder(), "trials.parquet")?)?)
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

/// Writes all tables but the leaderboard. Their marker is taken away first and written last: where it stands, they are as it says. The
/// leaderboard, the report, the comparison over datasets and the test values of all trials of an earlier evaluation go; those of another plan, but for
/// the comparison, are kept as history.
fn write(session: &Session, results: &Results) -> Result<()> {
    let folder = session.tables();
    if let Some(kept) = history::keep_another(&folder, &session.plan)? {
        session.progress.kept(&kept);
    }
    for stale in [marker::FILE].into_iter().chain(history::BESIDE) {
        folder.join(stale).delete()?;
    }
    let compared = folder.join(history::COMPARED);
    history::COMPARISON.iter().try_for_each(|file| compared.join(file).delete())?;
    let at = |name: &str| folder.join(name);
    let mut files = Files::new();
    for (name, text) in [(marker::PLAN, session.plan.to_json()), ("sweep.yaml", session.file.text.clone())] {
        files.insert(name.to_owned(), FileEntry::of(text.as_bytes()));
        at(name).write(text)?;
    }
    let tables = [
        ("trials.parquet", tables::trials::write(&at("trials.parquet"), &results.trials)?),
        ("curves.parquet", tables::curves::write(&at("curves.parquet"), &results.curves)?),
        ("metrics.parquet", measured::write_metrics(&at("metrics.parquet"), &results.values)?),
        (GROUPS, measured::write_groups(&at(GROUPS), &results.values)?),
        ("significance.parquet", measured::write_significance(&at("significance.parquet"), &results.comparisons)?),
        ("variance_components.parquet", measured::write_components(&at("variance_components.parquet"), &results.components)?),
    ];
    files.extend(tables.map(|(name, entry)| (name.to_owned(), entry)));
    let per_user = measured::write_per_user(&at(PER_USER), &results.values)?;
    files.extend(per_user.into_iter().map(|(name, entry)| (format!("{PER_USER}/{name}"), entry)));
    measured::drop_other_trials(&at(PER_USER), &results.values)?;
    Tables::write(&folder, files)
}

/// Writes the leaderboard and `report.html`.
///
/// # Errors
/// When the results do not fit together, or a store that fails.
pub fn report(session: &Session, results: &Results) -> Result<Report> {
    report::write(&session.tables(), &results.input(session))
}
