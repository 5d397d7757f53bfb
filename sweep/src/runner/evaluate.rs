//! The picked trials on the test part: metrics, values per user, tests.

use super::{Interrupted, Results, Session, Standing, results, rows, select};
use crate::{
    interrupt,
    plan::{PlannedDataset, Spaces, plain},
    tables::{Status, TrialRow},
};
use anyhow::{Context, Result};
use dataset::{Dataset, Split};
use evaluator::{
    Scorer,
    evaluate::{Candidate, TrialValues, evaluate as rank},
    rank::is_constant,
    significance::{Findings, compare},
};
use std::collections::HashMap;

/// Picks each method's values by validation, ranks the picked trials on the test part, tests the differences, and writes the tables.
///
/// # Errors
/// A checkpoint or a dataset that cannot be read, a store that fails, or a signal that came while training ended.
pub fn evaluate(session: &Session, endings: &[Standing]) -> Result<Results> {
    if interrupt::has_come() {
        return Err(Interrupted { ended: endings.len(), trials: endings.len() }.into());
    }
    let (manifests, splits) = results::prepared(session)?;
    let picked = select::picked(&session.plan, endings);
    let mut trials = rows::trials(session, endings, &picked);
    let progress = session.progress.ranking(trials.iter().filter(|row| row.selected).count());
    let mut values: Vec<TrialValues> = Vec::new();
    for planned in &session.plan.datasets {
        let candidates = candidates(session, planned, &trials);
        if candidates.is_empty() {
            continue;
        }
        let of_dataset = || format!("dataset {}", planned.quoted());
        let dataset = session.read_dataset(planned).with_context(of_dataset)?;
        let (settings, memory) = (&session.plan.evaluation, session.machine.memory);
        let ranked = rank(&dataset, Split::Test, &candidates, settings, memory, &mut |candidate| progress.ranked(candidate));
        for ranked in ranked.with_context(of_dataset)? {
            match constant(session, &dataset, &ranked).with_context(of_dataset)? {
                true => leave_out(&mut trials, &ranked),
                false => values.push(ranked),
            }
        }
    }
    in_order_of(&trials, &mut values);
    let Findings { comparisons, methods: components } =
        compare(&values, &session.plan.evaluation, &mut |done, all| progress.tested(done, all))?;
    progress.finish();
    let (spaces, curves) = (Spaces::of(&session.file), rows::curves(session, endings)?);
    let results = Results { manifests, splits, spaces, trials, values, comparisons, components, curves };
    results::keep(session, &results)?;
    Ok(results)
}

/// Whether a trial's model tells no item from another, for any user: untrained, diverged, or with values too extreme for its numbers.
fn constant(session: &Session, dataset: &Dataset, values: &TrialValues) -> Result<bool> {
    if values.tied_users < values.users.len() {
        return Ok(false);
    }
    let scorer = Scorer::read(&session.trial(&values.trial).join("checkpoint"))?;
    Ok(is_constant(&scorer, &dataset.train, &values.users, session.machine.memory)?)
}

/// Marks a trial whose metrics would be those of no model.
fn leave_out(trials: &mut [TrialRow], values: &TrialValues) {
    for row in trials.iter_mut().filter(|row| row.trial == values.trial) {
        let numbers = row.parameters.as_object().into_iter().flatten().filter(|(_, value)| value.is_number());
        let numbers: Vec<String> = numbers.map(|(name, value)| format!("{name}={}", plain(value))).collect();
        let error = format!(
            "all items have the same score for each of {} users: these values are too extreme for a model ({})",
            values.users.len(),
            numbers.join(", ")
        );
        tracing::warn!(trial = row.trial, method = row.method, dataset = row.dataset, error, "not ranked");
        (row.status, row.selected, row.error) = (Status::Constant, false, Some(error));
    }
}

/// Splits are ranked one after the other, and a method has trials on each.
fn in_order_of(trials: &[TrialRow], values: &mut [TrialValues]) {
    let places: HashMap<&str, usize> = trials.iter().enumerate().map(|(place, row)| (row.trial.as_str(), place)).collect();
    values.sort_by_key(|values| places[values.trial.as_str()]);
}

/// The picked trials of a dataset, or of one of its splits.
fn candidates(session: &Session, planned: &PlannedDataset, trials: &[TrialRow]) -> Vec<Candidate> {
    let is_its = |row: &&TrialRow| row.selected && row.dataset == planned.name() && row.split_seed == planned.split_seed;
    trials.iter().filter(is_its).map(|row| candidate(session, row)).collect()
}

pub(super) fn candidate(session: &Session, row: &TrialRow) -> Candidate {
    Candidate {
        trial: row.trial.clone(),
        method: row.method.clone(),
        dataset: row.dataset.clone(),
        seed: row.seed,
        split_seed: row.split_seed,
        checkpoint: session.trial(&row.trial).join("checkpoint"),
    }
}
