//! A sweep opened after it ran, for what reads its tables and its models.

use super::{
    Machine, Progress, Session,
    history::tables_of,
    planned::is_of,
    session::{fingerprints, sweep_folder},
    stored::read_plan,
};
use crate::{chain::chain, plan::Plan};
use anyhow::Result;

impl Session {
    /// Opens a sweep as [`open`](Self::open) does, for what reads its tables and its models: where the source files changed since the tables were made, or
    /// cannot be read any more, with the plan of the tables, of which a warning says so.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), where there are no tables of this sweep file.
    pub fn ran(path: &str, storage: Option<&str>, machine: Machine, progress: Progress) -> Result<Self> {
        Self::opened(path, storage, machine, progress, |checked, file, storage| {
            storage.reach()?;
            let now = fingerprints(file).and_then(|fingerprints| Ok(checked.plan_with_printed(&fingerprints)?));
            let folder = sweep_folder(storage, &file.name.value);
            let is_changed = |then: &Plan| now.as_ref().map_or(true, |now| now.datasets != then.datasets);
            let then =
                read_plan(&folder).ok().flatten().filter(|then| is_changed(then) && is_of(then, checked).is_ok_and(|is_same| is_same));
            match (now, then) {
                (Ok(now), Some(then)) if tables_of(&folder, &now)?.is_none() => {
                    tracing::warn!(
                        "the source files changed since the sweep ran: this is of what they held then; `ranksweep run` trains on what they hold now"
                    );
                    Ok(then)
                }
                (Err(error), Some(then)) => {
                    tracing::warn!(
                        "this is of what the source files held when the sweep ran, as they cannot be read now: {}",
                        chain(&error)
                    );
                    Ok(then)
                }
                (now, _) => now,
            }
        })
    }
}
