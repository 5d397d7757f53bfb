//! The picked trials on the test part: metrics, values per user, tests.

use super::{Interrupted, Results, Session, Standing, progress::RankingStage, results, rows, select};
use crate::{
    chain::chain,
    interrupt, number,
    plan::{PlannedDataset, Spaces, plain},
    tables::{Status, TrialRow},
};
use anyhow::{Context, Result};
use dataset::{Dataset, Split};
use evaluator::{
    Error, TrialValues,
    evaluate::{Candidate, evaluate as rank},
    findings::{Findings, compare},
    rank::{ListCounts, is_constant},
};
use std::collections::HashMap;
use trainer::Ended;

/// The advice where a file of a trial is damaged.
const REMEDY: &str = "delete the trial's folder to train it again";

/// Picks each method's values by validation, ranks the picked trials on the test part, tests the differences, and writes the tables.
///
/// A picked trial that cannot be ranked counts as failed, with the reason, and others are picked without it. Where a file of it is damaged its
/// marker goes, so that the next start trains it again.
///
/// # Errors
/// A dataset that cannot be read, a store that fails, or a signal that came while training ended.
pub fn evaluate(session: &Session, endings: &[Standing]) -> Result<Results> {
    if interrupt::has_come() {
        return Err(Interrupted::of_trials(endings.len(), endings.len()).into());
    }
    let (manifests, splits) = results::prepared(session)?;
    let mut endings = endings.to_vec();
    let curves = rows::curves(session, &mut endings)?;
    let selected = rows::trials(session, &endings, &select::picked(&session.plan, &endings));
    let progress = session.progress.ranking(selected.iter().filter(|row| row.selected).count());
    let (trials, mut values) = ranked(session, &mut endings, &progress)?;
    in_order_of(&trials, &mut values);
    progress.test();
    let Findings { comparisons, methods: components } =
        compare(&values, &session.plan.evaluation, &mut |done, all| progress.tested(done, all))?;
    progress.finish();
    let spaces = Spaces::of(&session.file);
    let results = Results { manifests, splits, spaces, trials, values, comparisons, components, curves };
    results::keep(session, &results)?;
    Ok(results)
}

/// The rows of all trials and the values of those that are picked, when all of these could be ranked.
fn ranked(session: &Session, endings: &mut [Standing], progress: &RankingStage) -> Result<(Vec<TrialRow>, Vec<TrialValues>)> {
    let mut known: HashMap<String, RankedTrial> = HashMap::new();
    loop {
        let mut trials = rows::trials(session, endings, &select::picked(&session.plan, endings));
        let mut failed: HashMap<String, Standing> = HashMap::new();
        for planned in &session.plan.datasets {
            let is_new = |row: &&TrialRow| row.selected && is_of(planned, row) && !known.contains_key(&row.trial);
            for (trial, ranked) in rank_trials(session, planned, trials.iter().filter(is_new), progress)? {
                match ranked {
                    Ok(ranked) => drop(known.insert(trial, ranked)),
                    Err(error) => drop(failed.insert(trial, error)),
                }
            }
        }
        if failed.is_empty() {
            let mut values = Vec::new();
            for row in trials.iter_mut().filter(|row| row.selected) {
                match known.remove(&row.trial) {
                    Some(ranked) if ranked.is_constant => leave_out(row, &ranked.values),
                    Some(ranked) => {
                        if let Some(counts) = ranked.values.listed {
                            row.remarks = listed(row.remarks.take(), counts, ranked.values.users.len());
                        }
                        values.push(ranked.values);
                    }
                    None => {}
                }
            }
            return Ok((trials, values));
        }
        for ((.., planned), ending) in session.plan.trials().zip(&mut *endings) {
            if let Some(standing) = failed.remove(&planned.id) {
                *ending = standing;
            }
        }
    }
}

/// A trial on the test part.
struct RankedTrial {
    values: TrialValues,
    /// Whether its model gives all items the same score, for every user.
    is_constant: bool,
}

/// The values of trials of a dataset, or how each stands that could not be ranked.
fn rank_trials<'a>(
    session: &Session,
    planned: &PlannedDataset,
    rows: impl Iterator<Item = &'a TrialRow>,
    progress: &RankingStage,
) -> Result<Vec<(String, Result<RankedTrial, Standing>)>> {
    let (mut candidates, mut all) = (Vec::new(), Vec::new());
    for row in rows {
        match candidate(session, row) {
            Ok(candidate) => candidates.push(candidate),
            Err(error) if error.is_of_the_store() => return Err(error.into()),
            Err(error) => all.push((row.trial.clone(), Err(standing(session, &row.trial, error)))),
        }
    }
    if candidates.is_empty() {
        return Ok(all);
    }
    let of_dataset = || format!("dataset {}", planned.quoted());
    let dataset = session.read_dataset(planned, false).with_context(of_dataset)?;
    let (settings, memory) = (&session.plan.evaluation, session.machine.memory);
    let ranked = rank(&dataset, Split::Test, &candidates, settings, memory, &mut |candidate| progress.ranked(candidate));
    for (candidate, values) in candidates.iter().zip(ranked.with_context(of_dataset)?) {
        let ranked = values.and_then(|values| {
            let is_constant = tells_nothing(session, &dataset, candidate, &values)?;
            Ok(RankedTrial { values, is_constant })
        });
        all.push((
            candidate.trial.clone(),
            match ranked {
                Err(error) if error.is_of_the_store() => return Err(error).with_context(of_dataset),
                ranked => ranked.map_err(|error| standing(session, &candidate.trial, error)),
            },
        ));
    }
    Ok(all)
}

/// How a trial stands that cannot be ranked: for good, or until it is trained again.
fn standing(session: &Session, trial: &str, error: Error) -> Standing {
    let is_damaged = error.is_damage();
    let error = match error {
        Error::Trial { source, .. } => *source,
        other => other,
    };
    if !is_damaged {
        return Standing::Failed(chain(&error.into()));
    }
    forget(session, trial, &error);
    Standing::Broken(chain(&error.into()))
}

/// Has the next start train a trial again.
pub(super) fn forget(session: &Session, trial: &str, error: &dyn std::fmt::Display) {
    match trainer::forget(&session.trial(trial)) {
        Ok(()) => tracing::warn!(trial, "{error}: the next `ranksweep run` or `ranksweep train` trains this trial again"),
        Err(kept) => tracing::warn!(trial, "{error}: it cannot be marked as one to train again ({kept})"),
    }
}

/// Whether a trial's model tells no item from another, for any user: untrained, diverged, or with values too extreme for its numbers.
fn tells_nothing(session: &Session, dataset: &Dataset, candidate: &Candidate, values: &TrialValues) -> evaluator::Result<bool> {
    // Whose candidates are all held out has no ties, whatever the model. Where few have any, the model is not read once more.
    if 10 * values.tied_users <= values.users.len() {
        return Ok(false);
    }
    is_constant(&candidate.scorer()?, &dataset.known(), &values.users, session.machine.memory)
}

/// Marks a trial whose metrics would be those of no model.
fn leave_out(row: &mut TrialRow, values: &TrialValues) {
    let numbers = row.parameters.as_object().into_iter().flatten().filter(|(_, value)| value.is_number());
    let numbers: Vec<String> = numbers.map(|(name, value)| format!("{name}={}", plain(value))).collect();
    let why = match &numbers[..] {
        [] => "the model tells no item from another".to_owned(),
        _ => format!("these values are too extreme for a model ({})", numbers.join(", ")),
    };
    let error = format!("all items have the same score for each of {}: {why}", number::counted(values.users.len(), "user"));
    tracing::warn!(trial = row.trial, method = row.method, dataset = row.dataset, error, "not ranked");
    (row.status, row.selected, row.error) = (Status::Constant, false, Some(error));
}

/// Remarks with what is to be said of top-N lists.
fn listed(remarks: Option<String>, counts: ListCounts, users: usize) -> Option<String> {
    let ListCounts { cutoff, short, empty, masked } = counts;
    let without = if empty > 0 { format!(", of which {empty} {} none", if empty == 1 { "has" } else { "have" }) } else { String::new() };
    let of_users = number::counted(users, "user");
    let short = (short > 0).then(|| format!("the lists of {short} of {of_users} are shorter than the largest cutoff, {cutoff}{without}"));
    let (items, were) = if masked == 1 { ("item", "was") } else { ("items", "were") };
    let masked = (masked > 0).then(|| format!("{masked} listed {items} that users have in train or validation {were} passed over"));
    let all: Vec<String> = remarks.into_iter().chain(short).chain(masked).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Splits are ranked one after the other, and a method has trials on each.
fn in_order_of(trials: &[TrialRow], values: &mut [TrialValues]) {
    let places: HashMap<&str, usize> = trials.iter().enumerate().map(|(place, row)| (row.trial.as_str(), place)).collect();
    values.sort_by_key(|values| places[values.trial.as_str()]);
}

/// Whether a trial is of a dataset, or of one of its splits.
pub(super) fn is_of(planned: &PlannedDataset, row: &TrialRow) -> bool {
    row.dataset == planned.name() && row.split_seed == planned.split_seed
}

/// The checkpoint and the files by which a trial that was trained to its end is ranked.
///
/// # Errors
/// Those of the trial's marker: the store's, or that it is damaged or gone.
pub(super) fn candidate(session: &Session, row: &TrialRow) -> evaluator::Result<Candidate> {
    let folder = session.trial(&row.trial);
    let gone = || dataset::Error::NotFound { at: folder.join("done.json").to_string() };
    let ended = Ended::read(&folder, &row.trial)?.ok_or_else(gone)?;
    let (checkpoint, description) = ended.checkpoint(&folder).ok_or_else(gone)?;
    // What ranking reads is checked there; these are read by nobody but people.
    let aside = ended.files().iter().filter(|(path, _)| path.ends_with("per_user.parquet") || *path == "trial.json");
    for (path, entry) in aside {
        folder.join(path).holding(entry, REMEDY).read()?;
    }
    Ok(Candidate {
        trial: row.trial.clone(),
        method: row.method.clone(),
        dataset: row.dataset.clone(),
        seed: row.seed,
        split_seed: row.split_seed,
        checkpoint,
        description: Some(description),
    })
}
