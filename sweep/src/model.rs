//! A stored trial of a sweep with the dataset that it ranks.

use crate::{
    file::nearest,
    number, recommend, report,
    runner::{self, Results, Session},
    tables::{LeaderboardRow, Status, TrialRow},
    usage::Usage,
};
use anyhow::{Context, Result, bail};
use dataset::{Dataset, Location};
use evaluator::{MetricAt, Scorer};
use std::collections::HashSet;
use trainer::{Ended, Outcome};

/// A trained model that can rank.
pub(crate) struct Model {
    /// The trial.
    pub(crate) trial: TrialRow,
    /// The dataset that it was trained on; of one with several splits its own split.
    pub(crate) dataset: Dataset,
    /// The model's scores of users and items.
    pub(crate) scorer: Scorer,
    /// How its training ended, and the folder of what is stored of it.
    pub(crate) stored: (Ended, Location),
}

/// The trial with this id, or the first picked one of a method or of the winner on the dataset, which is of the dataset's first split. The dataset may
/// be left out where there is one, or a trial.
///
/// # Errors
/// [`Usage`] for a dataset, method or trial that the sweep does not have; a sweep that has not run, or a store that fails.
pub(crate) fn read(session: &Session, dataset: Option<&str>, method: Option<&str>, trial: Option<&str>) -> Result<Model> {
    let trial = pick(session, dataset, method, trial)?;
    let planned = session.plan.dataset_of(session.plan.trial_named(&trial.trial)?.2);
    let dataset = session.read_dataset(planned, false).with_context(|| format!("dataset {}", planned.quoted()))?;
    let folder = session.trial(&trial.trial);
    let Some(ended) = Ended::read(&folder, &trial.trial)? else {
        return Err(
            Usage(format!("trial {} was not trained to its end, and has no model; `ranksweep status` lists them", trial.trial)).into()
        );
    };
    if let Outcome::Failed(error) = &ended.outcome {
        return Err(Usage(runner::failed(&trial.trial, error)).into());
    }
    let scorer = ended.scorer(&folder)?;
    Ok(Model { trial, dataset, scorer, stored: (ended, folder) })
}

/// The trial with this id, or the first picked one of a method, which is the winner when left out. The dataset may be left out where there is one, or
/// a trial.
///
/// # Errors
/// As for [`read`], and [`Usage`] for a method that the leaderboard does not have.
pub(crate) fn pick(session: &Session, dataset: Option<&str>, method: Option<&str>, trial: Option<&str>) -> Result<TrialRow> {
    let names = session.plan.dataset_names();
    if let Some(name) = dataset.filter(|name| !names.contains(name)) {
        return Err(Usage(format!("the sweep has no dataset `{name}`; it has {}", names.join(", "))).into());
    }
    if dataset.is_none() && trial.is_none() && names.len() > 1 {
        return Err(Usage(format!("the sweep has several datasets ({}); pick one with --dataset", names.join(", "))).into());
    }
    let dataset = dataset.or(if trial.is_none() { names.first().copied() } else { None });
    let on = dataset.map_or_else(String::new, |name| format!(" on `{name}`"));
    let Some(id) = trial else {
        let results = Results::read(session)?;
        let rows = report::leaderboard(&results.input(session)); // the stored one may be of an earlier evaluation
        let dataset = dataset.unwrap_or_default();
        if method.is_none() {
            warn_of_missing(&results.trials, dataset);
        }
        let picked = match method {
            Some(name) => Some(named(&rows, dataset, name)?),
            None => winner(&rows, dataset, session.plan.evaluation.primary()),
        };
        let first = picked.and_then(|method| recommend::first_picked(&results.trials, dataset, method)).cloned();
        return first.with_context(|| format!("no method has a result{on}; `ranksweep status` says how each trial ended"));
    };
    match runner::stored_trials(session)?.into_iter().find(|row| row.trial == id && dataset.is_none_or(|name| row.dataset == name)) {
        Some(row) => Ok(row),
        None => bail!(Usage(format!("no trial of the sweep{on} has the id `{id}`"))),
    }
}

/// Tells that the tables lack trials of a dataset, so that another one may be the best.
fn warn_of_missing(trials: &[TrialRow], dataset: &str) {
    let of_dataset = || trials.iter().filter(|row| row.dataset == dataset);
    let missing = of_dataset().filter(|row| row.status == Status::Missing).count();
    if missing > 0 {
        let all = of_dataset().count();
        tracing::warn!(
            "{missing} of {} on `{dataset}` were not trained when the tables were made, so that another may rank best: `ranksweep run` \
             trains them, and `ranksweep evaluate` is enough where they have been trained since",
            number::counted(all, "trial")
        );
    }
}

/// The key of the method that is first on a dataset by the metric that verdicts are about.
fn winner<'a>(rows: &'a [LeaderboardRow], dataset: &str, primary: MetricAt) -> Option<&'a str> {
    let first = rows.iter().find(|row| row.dataset == dataset && row.at == primary && row.rank == Some(1));
    first.map(|row| row.method.as_str())
}

/// The key of the method that the leaderboard of a dataset calls so, or that has this key.
fn named<'a>(rows: &'a [LeaderboardRow], dataset: &str, name: &str) -> Result<&'a str> {
    let rows = || rows.iter().filter(|row| row.dataset == dataset);
    if let Some(row) = rows().find(|row| row.title == name || row.method == name) {
        return Ok(&row.method);
    }
    let mut seen = HashSet::new();
    let titles: Vec<&str> = rows().map(|row| row.title.as_str()).filter(|title| seen.insert(*title)).collect();
    Err(Usage(nearest::unknown("method", name, &titles)).into())
}
