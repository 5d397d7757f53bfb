//! Measurements of earlier sweeps on the same storage, on a plan's datasets.

use super::{Session, marker::Tables};
use crate::plan::{PairError, Pilot, Plan};
use anyhow::Result;
use dataset::Location;
use evaluator::{
    settings::{Over, Test},
    significance::{Comparison, Spread},
    tables::{read_components, read_significance},
};

/// For each dataset of the plan, by name, the sweep with the most trainings that has measured it over several seeds.
///
/// # Errors
/// A storage that cannot be listed. Tables that cannot be read, as of another version, are no pilots.
pub fn pilots(session: &Session) -> Result<Vec<(String, Option<Pilot>)>> {
    let mut names: Vec<String> = session.plan.datasets.iter().map(|dataset| dataset.name().to_owned()).collect();
    names.dedup();
    let mut found: Vec<(String, Option<Pilot>)> = names.into_iter().map(|name| (name, None)).collect();
    for folder in session.storage().join("sweeps").folders()? {
        let Some((plan, pilot)) = read(&folder) else { continue };
        for (name, best) in &mut found {
            let better = best.as_ref().is_none_or(|best| trainings(&pilot, name) > trainings(best, name));
            let has_pairs = pilot.errors.iter().any(|pair| pair.dataset == *name);
            if holds(&plan, session, name) && has_pairs && trainings(&pilot, name) > 0 && better {
                *best = Some(pilot.clone());
            }
        }
    }
    Ok(found)
}

fn read(folder: &Location) -> Option<(Plan, Pilot)> {
    let tables = whole(Tables::of(folder).map_err(evaluator::Error::from))?;
    let plan = tables.plan(folder)?;
    let at = |name: &str| whole(tables.at(folder, name).map_err(evaluator::Error::from));
    let components = whole(read_components(&at("variance_components.parquet")?))?;
    let rows = whole(read_significance(&at("significance.parquet")?))?;
    let pilot = Pilot { sweep: plan.name.clone(), components, errors: rows.iter().filter_map(error).collect() };
    Some((plan, pilot))
}

/// The table as read; nothing where it cannot be, with a word where it is damaged.
fn whole<T>(read: evaluator::Result<T>) -> Option<T> {
    if let Err(evaluator::Error::Dataset(error @ dataset::Error::Damaged { .. })) = &read {
        tracing::warn!("{error}; the advice follows from other sweeps alone");
    }
    read.ok()
}

/// The error of a comparison of two methods that have seeds of their own, from which errors to come are told.
fn error(row: &Comparison) -> Option<PairError> {
    let of_seeds = row.test == Test::PairedT && row.over == Over::UsersAndSeeds && row.spread == Spread::Own;
    let seeds = row.replicates_a.min(row.replicates_b);
    let standard_error = row.standard_error.filter(|_| of_seeds && seeds > 1)?;
    Some(PairError { dataset: row.dataset.clone(), at: row.metric, standard_error, seeds })
}

/// Whether a plan has a dataset of this name with the same data.
fn holds(plan: &Plan, session: &Session, name: &str) -> bool {
    let ours = || session.plan.datasets.iter().filter(|dataset| dataset.name() == name);
    plan.datasets.iter().any(|theirs| theirs.name() == name && ours().any(|ours| ours.fingerprint == theirs.fingerprint))
}

/// Trainings of methods whose spread over seeds is their own.
fn trainings(pilot: &Pilot, dataset: &str) -> usize {
    pilot.components.iter().filter(|row| row.dataset == dataset && row.spread == Spread::Own).map(|row| row.trials).max().unwrap_or(0)
}
