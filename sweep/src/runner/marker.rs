//! `tables.json`: the marker of a sweep's tables, with the checksum of each.

use super::Session;
use crate::plan::Plan;
use anyhow::{Context, Result, ensure};
use dataset::{Error, FileEntry, Files, Location, marker};
use serde::{Deserialize, Serialize};

/// The marker's name in the sweep's folder.
pub(super) const FILE: &str = "tables.json";
/// The plan's name in the marker.
pub(super) const PLAN: &str = "plan.json";
/// The advice where a table is damaged.
const REMEDY: &str = "run `ranksweep evaluate` again, which makes it anew";

/// The tables of a sweep.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tables {
    /// The files by their paths below the sweep's folder.
    files: Files,
}

impl Tables {
    /// Reads the marker of a sweep's folder.
    pub(super) fn of(folder: &Location) -> dataset::Result<Self> {
        marker::read(&folder.join(FILE), REMEDY)
    }

    /// The tables of this very plan.
    ///
    /// # Errors
    /// When there are none, they are of another plan, or the marker is damaged.
    pub(super) fn read(session: &Session) -> Result<Self> {
        let folder = session.folder();
        let tables = match Self::of(&folder) {
            Err(Error::NotFound { .. }) => {
                Err(Error::NotFound { at: folder.join(FILE).to_string() }).context("the sweep has no tables yet; run `ranksweep run` first")
            }
            other => Ok(other?),
        }?;
        let at = folder.join(FILE);
        let is_same = tables.is_of(&session.plan);
        ensure!(is_same, "the tables beside {at} are of another plan: the sweep file or its data changed; run `ranksweep run` again");
        Ok(tables)
    }

    /// Whether the tables are of this very plan.
    pub(super) fn is_of(&self, plan: &Plan) -> bool {
        self.files.get(PLAN) == Some(&FileEntry::of(plan.to_json().as_bytes()))
    }

    /// Writes the marker of these files.
    pub(super) fn write(folder: &Location, files: Files) -> dataset::Result<()> {
        folder.join(FILE).write(marker::text(&Self { files }))
    }

    /// The files' names, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// What the marker says of a file.
    pub(super) fn entry(&self, path: &str) -> Option<&FileEntry> {
        self.files.get(path)
    }

    /// Whether there is such a table.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The place of a file of the folder, which must hold what the marker says.
    pub(super) fn at(&self, folder: &Location, path: &str) -> dataset::Result<Location> {
        let at = folder.join(path);
        match self.files.get(path) {
            Some(entry) => Ok(at.holding(entry, REMEDY)),
            None => Err(Error::damaged(at, format!("the marker {FILE} does not name it; {REMEDY}"))),
        }
    }

    /// The plan that the tables are of.
    pub(super) fn plan(&self, folder: &Location) -> Option<Plan> {
        serde_json::from_slice(&self.at(folder, PLAN).ok()?.read().ok()?).ok()
    }
}
