//! The tables that an argument names: by a sweep file that has run, or by their folder.

use super::{Global, Usage};
use crate::runner::{Session, kept, tables_of_plan};
use anyhow::{Context, Result};
use dataset::Location;
use std::path::Path;

/// The tables that an argument names.
pub(super) struct NamedTables {
    /// The folder of the tables.
    pub(super) folder: Location,
    /// The sweep's folder, which has the history.
    sweep: Location,
}

impl NamedTables {
    /// Finds the tables of a sweep file's plan, which may be in the history of its name, or takes the argument as a folder: a sweep's, or one of its
    /// history.
    ///
    /// # Errors
    /// [`Usage`] for a sweep file that is not there; a bad one, or one whose plan has no tables; a store that fails.
    pub(super) fn find(argument: &str, global: &Global) -> Result<Self> {
        if !Path::new(argument).is_file() {
            let is_file = [".yaml", ".yml"].iter().any(|suffix| argument.ends_with(suffix));
            if is_file {
                return Err(Usage(format!("cannot read the sweep file `{argument}`: there is none")).into());
            }
            let folder = Location::parse(argument)?;
            return Ok(Self { sweep: sweep_above(&folder)?.unwrap_or_else(|| folder.clone()), folder });
        }
        let session = Session::open(argument, global.storage.as_deref(), global.machine(), global.progress())?;
        let folder = tables_of_plan(&session).with_context(|| argument.to_owned())?;
        Ok(Self { folder, sweep: session.folder() })
    }

    /// The folder of what stood under the sweep's name before these tables.
    ///
    /// # Errors
    /// [`Usage`] when nothing did; a store that fails.
    pub(super) fn before(&self) -> Result<Location> {
        let own = self.folder.to_string();
        let earlier = kept(&self.sweep).with_context(|| self.sweep.to_string())?.into_iter().map(|kept| kept.folder);
        let none = || Usage(format!("{own} has no history: no other plan has run under this name before; name two sweeps"));
        Ok(earlier.take_while(|folder| folder.to_string() != own).last().ok_or_else(none)?)
    }
}

/// The folder of the sweep in whose history a folder of tables is; none where it is in no history.
fn sweep_above(folder: &Location) -> Result<Option<Location>> {
    let (text, name) = (folder.to_string(), folder.name());
    let is_numbered = name.split_once('-').is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    let sweep = text.strip_suffix(name).and_then(|above| above.strip_suffix("/history/")).filter(|sweep| is_numbered && !sweep.is_empty());
    Ok(sweep.map(Location::parse).transpose()?)
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
