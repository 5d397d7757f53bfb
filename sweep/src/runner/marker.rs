//! `tables.json`: the marker of a sweep's tables, with the checksum of each.

use super::Session;
use crate::plan::Plan;
use anyhow::{Context, Result, ensure};
use dataset::{Error, FileEntry, Files, Location, marker};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

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
        let is_same = tables.is_of(&folder, &session.plan);
        ensure!(is_same, "the tables beside {at} are of another plan: the sweep file or its data changed; run `ranksweep run` again");
        Ok(tables)
    }

    /// Whether the tables of a folder are of this very plan, however the paths of its source files are written.
    pub(super) fn is_of(&self, folder: &Location, plan: &Plan) -> bool {
        self.files.get(PLAN) == Some(&FileEntry::of(plan.to_json().as_bytes()))
            || self.plan(folder).is_some_and(|stored| plan.is_same_content(&stored))
    }

    /// Whether a folder still has the plan that this process has written, which another process that writes tables there replaces first.
    fn has_own_plan(&self, folder: &Location) -> Result<bool> {
        match self.at(folder, PLAN)?.read() {
            Err(Error::NotFound { .. } | Error::Damaged { .. }) => Ok(false),
            read => Ok(read.map(|_| true)?),
        }
    }

    /// Whether a folder still has the tables that this process has written, by their sizes: another process takes some away.
    fn has_own_tables(&self, folder: &Location) -> Result<bool> {
        let found: HashMap<String, u64> = folder.listing()?.into_iter().map(|listed| (listed.at.to_string(), listed.bytes)).collect();
        Ok(self.files.iter().all(|(name, entry)| found.get(&folder.join(name).to_string()) == Some(&entry.bytes)))
    }

    /// Writes the marker of these files.
    ///
    /// # Errors
    /// Where another process writes tables into the folder at the same time; a store that fails.
    pub(super) fn write(folder: &Location, files: Files) -> Result<()> {
        let tables = Self { files };
        let check = |is_alone: bool| {
            ensure!(
                is_alone,
                "another process changed the tables in {folder} at the same time: give each sweep file a `name` of its own, and run `ranksweep evaluate` again, one at a time"
            );
            Ok(())
        };
        check(tables.has_own_plan(folder)? && tables.has_own_tables(folder)?)?;
        folder.join(FILE).write(marker::text(&tables))?;
        check(tables.has_own_plan(folder)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What another process does to the folder between the writing of tables and that of their marker.
    #[test]
    fn another_process_that_writes_there_is_noticed() {
        let folder = Location::parse("memory:///marker-alone").unwrap();
        let put = |name: &str, text: &str| -> FileEntry {
            folder.join(name).write(text.to_owned()).unwrap();
            FileEntry::of(text.as_bytes())
        };
        let write = || {
            let files =
                Files::from([(PLAN.to_owned(), put(PLAN, "mine")), ("per_user/a.parquet".to_owned(), put("per_user/a.parquet", "values"))]);
            move |folder: &Location| Tables::write(folder, files)
        };
        write()(&folder).unwrap();
        let refused = |disturb: &dyn Fn()| {
            let finish = write();
            disturb();
            let error = finish(&folder).unwrap_err().to_string();
            assert!(error.contains("another process changed the tables in memory:///marker-alone at the same time"), "{error}");
        };
        refused(&|| drop(put(PLAN, "else")));
        refused(&|| folder.join("per_user/a.parquet").delete().unwrap());
        write()(&folder).unwrap();
    }
}
