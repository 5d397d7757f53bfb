//! What stood under a sweep's name before: `history/<number>-<plan>/` in the sweep's folder holds the tables of an earlier plan as they were.
//!
//! The number counts from 1, in the order in which plans were replaced; the plan is known by the hash of its `plan.json`. As in the sweep's own
//! folder the marker is written last, so that a folder without one is no history.

use super::{
    Session, all_trials,
    marker::{self, Tables},
};
use crate::plan::Plan;
use dataset::{Error, Location, Result};
use std::collections::HashSet;

/// The folder of earlier tables in a sweep's folder.
const FOLDER: &str = "history";
/// What `report` and `evaluate --all` write beside the tables of a marker.
pub(super) const BESIDE: [&str; 6] =
    ["leaderboard.parquet", "tuning.parquet", "reproduction.parquet", "claims.parquet", "report.html", all_trials::FILE];

/// The folder in a sweep's folder in which `compare` leaves what it finds over datasets, unless another is named.
pub(crate) const COMPARED: &str = "compare";
/// The files there.
pub(crate) const COMPARISON: [&str; 5] =
    ["average_ranks.parquet", "friedman.parquet", "dataset_pairs.parquet", "critical_difference.svg", "compare.html"];

/// The tables of an earlier plan.
pub(crate) struct Kept {
    /// The place in the order in which plans were replaced, from 1.
    number: u32,
    /// The folder of the tables.
    pub(crate) folder: Location,
}

/// The earlier tables of a sweep's folder, the first replaced first.
///
/// # Errors
/// A store that fails.
pub(crate) fn kept(sweep: &Location) -> Result<Vec<Kept>> {
    let mut all = Vec::new();
    for folder in sweep.join(FOLDER).folders()? {
        if let Some(number) = number(folder.name())
            && folder.join(marker::FILE).exists()?
        {
            all.push(Kept { number, folder });
        }
    }
    all.sort_by_key(|kept| kept.number);
    Ok(all)
}

/// The number of a folder of earlier tables; none of another folder.
fn number(name: &str) -> Option<u32> {
    name.split_once('-').and_then(|(number, _)| number.parse().ok())
}

/// The folder of the sweep in whose history a folder of tables is; none where it is in no history.
///
/// # Errors
/// A location that is none without its end.
pub(crate) fn sweep_above(folder: &Location) -> Result<Option<Location>> {
    let (text, name) = (folder.to_string(), folder.name());
    let above = text.strip_suffix(name).filter(|_| number(name).is_some());
    let sweep = above.and_then(|above| above.strip_suffix('/')?.strip_suffix(FOLDER)?.strip_suffix('/'));
    sweep.filter(|sweep| !sweep.is_empty()).map(Location::parse).transpose()
}

/// The tables that the marker of a sweep's folder names, by their paths below it; `None` without a marker, and where it is damaged.
///
/// # Errors
/// A store that fails.
pub(crate) fn named_tables(sweep: &Location) -> Result<Option<HashSet<String>>> {
    match Tables::of(sweep) {
        Ok(tables) => Ok(Some(tables.names().map(str::to_owned).collect())),
        Err(Error::NotFound { .. } | Error::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The folder of the tables of a session's plan, if there are any: the sweep's own, or, where those of another plan stand there, the last one of
/// its history. Damaged ones are none.
///
/// # Errors
/// A store that fails.
pub(crate) fn find_tables_of_plan(session: &Session) -> Result<Option<Location>> {
    tables_of(&session.folder(), &session.plan)
}

/// The folder of the tables of a plan: the sweep's own, or the last one of its history, as [`find_tables_of_plan`] finds it.
pub(super) fn tables_of(sweep: &Location, plan: &Plan) -> Result<Option<Location>> {
    let is_ours = |folder: &Location| match Tables::of(folder) {
        Ok(tables) => Ok(tables.is_of(folder, plan)),
        Err(Error::NotFound { .. } | Error::Damaged { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    if is_ours(sweep)? {
        return Ok(Some(sweep.clone()));
    }
    for earlier in kept(sweep)?.into_iter().rev() {
        if is_ours(&earlier.folder)? {
            return Ok(Some(earlier.folder));
        }
    }
    Ok(None)
}

/// The folder of the tables of a session's plan, as [`find_tables_of_plan`] finds it.
///
/// # Errors
/// When there are none, all are of other plans, or those of the sweep's folder are damaged; a store that fails.
pub(crate) fn tables_of_plan(session: &Session) -> anyhow::Result<Location> {
    match find_tables_of_plan(session)? {
        Some(folder) => Ok(folder),
        None => Tables::read(session).map(|_| session.folder()),
    }
}

/// A plan's hash, by the checksum of its file.
fn hash(checksum: &str) -> &str {
    checksum.get(..16).unwrap_or(checksum)
}

/// Keeps the tables of a sweep's folder, where they are whole and of another plan than the one whose tables are to be written; gives where.
///
/// # Errors
/// A store that fails.
pub(super) fn keep_another(sweep: &Location, plan: &Plan) -> Result<Option<Location>> {
    let tables = match Tables::of(sweep) {
        Ok(tables) => tables,
        Err(Error::NotFound { .. } | Error::Damaged { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(entry) = tables.entry(marker::PLAN).filter(|_| !tables.is_of(sweep, plan)) else {
        return Ok(None);
    };
    let last = kept(sweep)?.pop();
    let marker = sweep.join(marker::FILE).read()?;
    if let Some(last) = &last
        && last.folder.join(marker::FILE).read()? == marker
    {
        return Ok(None); // a process that was killed had kept them
    }
    for name in tables.names() {
        if !sweep.join(name).exists()? {
            tracing::warn!("the earlier tables in {sweep} are not kept in its history: {name} is not there any more");
            return Ok(None);
        }
    }
    let number = last.map_or(0, |last| last.number) + 1;
    let folder = sweep.join(FOLDER).join(&format!("{number}-{}", hash(&entry.sha256)));
    for name in tables.names().chain(BESIDE) {
        match sweep.join(name).copy(&folder.join(name)) {
            // The report may not have been made.
            Err(Error::NotFound { .. }) if BESIDE.contains(&name) => {}
            copied => copied?,
        }
    }
    folder.join(marker::FILE).write(marker)?;
    Ok(Some(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_history_is_of_the_sweep_above_it() {
        let above = |text: &str| sweep_above(&Location::parse(text).unwrap()).unwrap().map(|sweep| sweep.to_string());
        let sweep = "memory:///runs/sweeps/a";
        assert_eq!(above("memory:///runs/sweeps/a/history/2-1f2e3d4c5b6a7988"), Some(sweep.to_owned()));
        assert_eq!(above("memory:///runs/sweeps/a/history/10-1f2e3d4c5b6a7988/"), Some(sweep.to_owned()));
        for other in [sweep, "memory:///runs/sweeps/history", "memory:///runs/history/books"] {
            assert_eq!(above(other), None, "{other}");
        }
    }
}
