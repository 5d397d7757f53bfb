//! A sweep as its tables have it: what can be known of it without its file and its sources.

use super::marker::{self, Tables};
use crate::{
    plan::Plan,
    tables::{self, TrialRow},
};
use anyhow::{Context, Result};
use dataset::{Error, Location};
use evaluator::{
    TrialValues,
    tables::{self as measured, MetricRow},
};

/// The folder of the tables of each trial.
pub(super) const PER_USER: &str = "per_user";

/// A sweep by a folder of tables: its own, or one of its history.
pub(crate) struct StoredSweep {
    /// The folder of the tables.
    pub(crate) folder: Location,
    /// The plan that the tables are of.
    pub(crate) plan: Plan,
    /// Every trial, in the plan's order.
    pub(crate) trials: Vec<TrialRow>,
    /// Test values by user of the picked trials.
    pub(crate) values: Vec<TrialValues>,
}

/// The plan that a folder has tables of; none where it has no tables, or those of another version.
///
/// # Errors
/// A marker or a plan that is damaged or gone; a store that fails.
pub(crate) fn read_plan(folder: &Location) -> dataset::Result<Option<Plan>> {
    let tables = match Tables::of(folder) {
        Err(Error::NotFound { .. }) => return Ok(None),
        tables => tables?,
    };
    Ok(serde_json::from_slice(&tables.at(folder, marker::PLAN)?.read()?).ok())
}

/// The metrics of the ranked trials of a folder of tables, which must be as their marker says.
///
/// # Errors
/// A folder without tables, damaged ones; a store that fails.
pub(crate) fn stored_metrics(folder: &Location) -> Result<Vec<MetricRow>> {
    Ok(measured::read_metrics(&Tables::of(folder)?.at(folder, "metrics.parquet")?)?)
}

impl StoredSweep {
    /// Reads the tables of a folder.
    ///
    /// # Errors
    /// A folder without tables, damaged ones, or those of another version; a store that fails.
    pub(crate) fn read(folder: &Location) -> Result<Self> {
        let tables = match Tables::of(folder) {
            Err(Error::NotFound { .. }) => {
                let words = format!("{folder} has no tables of a sweep ({} is not there); name a sweep that has run", marker::FILE);
                Err(Error::NotFound { at: folder.join(marker::FILE).to_string() }).context(words)
            }
            other => Ok(other?),
        }?;
        let at = |path: &str| tables.at(folder, path);
        let of_version = || format!("{folder}: the plan is not one that this version reads; run the sweep again");
        let plan = serde_json::from_slice(&at(marker::PLAN)?.read()?).with_context(of_version)?;
        let values = measured::read_values_at(&at("metrics.parquet")?, &|name| at(&format!("{PER_USER}/{name}")))?;
        Ok(Self { trials: tables::trials::read(&at("trials.parquet")?)?, folder: folder.clone(), plan, values })
    }
}
