//! The tables that an argument names: by a sweep file that has run, or by their folder.

use super::{Global, Usage};
use crate::runner::{Session, check_out_of_storage, kept, sweep_above, tables_of_plan};
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
        let session = Session::ran(argument, global.storage.as_deref(), global.machine(), global.progress())?;
        let folder = tables_of_plan(&session).with_context(|| argument.to_owned())?;
        Ok(Self { folder, sweep: session.folder() })
    }

    /// Refuses a place of `--out` that the tables' storage keeps for itself.
    ///
    /// # Errors
    /// [`Usage`] that says what stands there; a store that fails.
    pub(super) fn check_out(&self, out: &Location) -> Result<()> {
        match self.sweep.to_string().rsplit_once("/sweeps/") {
            Some((storage, _)) => check_out_of_storage(&Location::parse(storage)?, out),
            None => Ok(()),
        }
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
