//! The test metrics of what validation did not pick: to look at how tuning and test go together, and not to select by.

use super::{
    Results, Session,
    evaluate::{candidate, is_of},
};
use crate::tables::{RankedRow, Status, TrialRow, all_trials};
use anyhow::{Context, Result};
use dataset::Split;
use evaluator::{
    evaluate::{Candidate, evaluate as rank},
    tables::MetricRow,
};
use std::collections::HashMap;

/// The table's name in the sweep's folder.
pub(super) const FILE: &str = "all_trials.parquet";

/// Ranks the trials of results that were trained to their ends and not picked, and writes `all_trials.parquet` of these and the picked ones.
/// No other table changes. A trial that cannot be ranked has no row, and is warned of.
///
/// # Errors
/// A dataset that cannot be read, or a store that fails.
pub fn rank_all(session: &Session, results: &Results) -> Result<()> {
    let mut measured: HashMap<String, Vec<MetricRow>> =
        results.values.iter().map(|values| (values.trial.clone(), MetricRow::of(values).collect())).collect();
    measured.extend(others(session, &results.trials)?);
    let of_trial = |row: &TrialRow| {
        let (parameters, selected) = (row.parameters.clone(), row.selected);
        let rows = measured.remove(&row.trial).unwrap_or_default();
        rows.into_iter().map(move |measured| RankedRow { measured, parameters: parameters.clone(), selected })
    };
    let rows: Vec<RankedRow> = results.trials.iter().flat_map(of_trial).collect();
    all_trials::write(&session.tables().join(FILE), &rows)?;
    Ok(())
}

/// The test metrics of what was not picked. Only the means of each trial are kept: there may be many more of them than there are methods.
fn others(session: &Session, trials: &[TrialRow]) -> Result<Vec<(String, Vec<MetricRow>)>> {
    let others = || trials.iter().filter(|row| row.status == Status::Done && !row.selected);
    let progress = session.progress.ranking(others().count());
    let mut measured = Vec::new();
    for planned in &session.plan.datasets {
        let of_dataset = others().filter(|row| is_of(planned, row));
        let mut candidates: Vec<Candidate> = Vec::new();
        for row in of_dataset {
            candidates.extend(unless_unranked(&row.trial, candidate(session, row))?);
        }
        if candidates.is_empty() {
            continue;
        }
        let of_dataset = || format!("dataset {}", planned.quoted());
        let dataset = session.read_dataset(planned, false).with_context(of_dataset)?;
        let (settings, memory) = (&session.plan.evaluation, session.machine.memory);
        for candidate in candidates {
            let one = [candidate];
            let ranked = rank(&dataset, Split::Test, &one, settings, memory, &mut |candidate| progress.ranked(candidate));
            for values in ranked.with_context(of_dataset)? {
                let values = unless_unranked(&one[0].trial, values).with_context(of_dataset)?;
                measured.extend(values.map(|values| (values.trial.clone(), MetricRow::of(&values).collect())));
            }
        }
    }
    progress.finish();
    Ok(measured)
}

/// What is known of a trial; none, and a warning, where it has no row for a reason of its own.
fn unless_unranked<T>(trial: &str, known: evaluator::Result<T>) -> evaluator::Result<Option<T>> {
    match known {
        Err(error) if !error.is_of_the_store() => {
            tracing::warn!(trial, "not in {FILE}: {error}");
            Ok(None)
        }
        known => known.map(Some),
    }
}
