//! What killed processes, edited sweep files and old experiments leave on a storage, and its removal.
//!
//! Nothing that is done is touched, unless it is asked for by [`Extent::Unreferenced`]: finished trials and datasets that no sweep holds.

mod orphan;
mod referenced;

pub use orphan::{Orphan, Reason};

use crate::runner::{Session, claims_alive};
use anyhow::{Result, bail};
use dataset::Location;
use orphan::What;
use referenced::Referenced;
use std::collections::HashSet;

/// How much is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What cannot be of use to anybody.
    Leftovers,
    /// And finished trials and datasets that neither a stored sweep nor this sweep file holds.
    Unreferenced,
}

/// All that can be removed, by path.
///
/// # Errors
/// A store that cannot be listed, or a stored plan that cannot be read.
pub fn find(session: &Session, extent: Extent) -> Result<Vec<Orphan>> {
    let storage = session.storage();
    let root = format!("{storage}/");
    let files: Vec<(String, Location, u64)> = storage
        .list_with_sizes()?
        .into_iter()
        .filter_map(|(at, bytes)| Some((at.to_string().strip_prefix(&root)?.to_owned(), at, bytes)))
        .collect();
    let judge = Judge::new(session, extent, &files)?;
    let stored = files.iter().filter_map(|(path, at, bytes)| {
        let reason = judge.reason(path)?;
        Some(Orphan { path: path.clone(), bytes: *bytes, reason, what: What::Stored(at.clone()) })
    });
    let mut orphans: Vec<Orphan> = stored.collect();
    for file in storage.unfinished()? {
        let path = file.path.to_string_lossy().strip_prefix(&root).unwrap_or_default().to_owned();
        orphans.push(Orphan { path, bytes: file.bytes, reason: Reason::Unfinished, what: What::Unfinished(file) });
    }
    orphans.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(orphans)
}

/// That nobody works on the storage with `--share`; looks on for as long as a living process needs to show itself.
///
/// # Errors
/// When a claim is renewed, with its owner.
pub fn refuse_while_shared(session: &Session) -> Result<()> {
    let alive = claims_alive(&session.storage().join("trials").folders()?)?;
    match alive.first() {
        None => Ok(()),
        Some(owner) => bail!("a trial is being worked on by {owner}; wait for its end or stop it, then run this again"),
    }
}

/// What is known of a storage when its files are judged.
struct Judge {
    sweep: String,
    has_plan: bool,
    ended: HashSet<String>,
    prepared: HashSet<String>,
    held: Referenced,
    others: Option<Referenced>,
}

/// What `evaluate` and `report` write beside `per_user/`; without a plan that says whose they are, nobody reads them.
const TABLES: [&str; 10] = [
    "sweep.yaml",
    "trials.parquet",
    "metrics.parquet",
    "significance.parquet",
    "curves.parquet",
    "all_trials.parquet",
    "leaderboard.parquet",
    "tuning.parquet",
    "variance_components.parquet",
    "report.html",
];

impl Judge {
    fn new(session: &Session, extent: Extent, files: &[(String, Location, u64)]) -> Result<Self> {
        let named =
            |name: &str| files.iter().filter_map(|(path, ..)| Some(path.strip_suffix(name)?.rsplit_once('/')?.1.to_owned())).collect();
        let sweep = session.plan.name.clone();
        let plan = format!("sweeps/{sweep}/plan.json");
        Ok(Self {
            has_plan: files.iter().any(|(path, ..)| *path == plan),
            ended: named("/done.json"),
            prepared: named("/manifest.json"),
            held: Referenced::of(&session.plan),
            others: (extent == Extent::Unreferenced).then(|| Referenced::stored(files)).transpose()?,
            sweep,
        })
    }

    /// Why a file can go; `None` for one that stays.
    fn reason(&self, path: &str) -> Option<Reason> {
        let steps: Vec<&str> = path.split('/').collect();
        match steps[..] {
            ["claims", ..] => Some(Reason::Probe),
            ["trials", id, "resume", ..] if self.ended.contains(id) => Some(Reason::Resume),
            ["trials", id, "claims", ..] if self.ended.contains(id) => Some(Reason::Claim),
            ["trials", id, _, ..] if self.is_unreferenced(|held| held.trials.contains(id)) => Some(Reason::Trial),
            ["datasets", folder, _, ..] if !self.prepared.contains(folder) => Some(Reason::NoManifest),
            ["datasets", folder, _, ..] if self.is_unreferenced(|held| held.datasets.contains(folder)) => Some(Reason::Dataset),
            ["sweeps", name, table] if name == self.sweep && !self.has_plan && TABLES.contains(&table) => Some(Reason::NoPlan),
            ["sweeps", name, "per_user", table] if name == self.sweep => {
                let id = table.strip_suffix(".parquet")?;
                (!self.has_plan || !self.held.trials.contains(id)).then_some(Reason::NoPlan)
            }
            _ => None,
        }
    }

    fn is_unreferenced(&self, holds: impl Fn(&Referenced) -> bool) -> bool {
        self.others.as_ref().is_some_and(|others| !holds(others) && !holds(&self.held))
    }
}
