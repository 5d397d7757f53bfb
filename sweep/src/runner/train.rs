//! Trials to checkpoints, one after the other; each uses all threads.

use super::{Session, Standing, ending, halving, progress::TrialStage};
use crate::{
    chain::chain,
    plan::{PlannedRef, PlannedTrial},
};
use anyhow::{Context, Result};
use dataset::Dataset;
use std::panic::{AssertUnwindSafe, catch_unwind};
use trainer::{Error, Observer, Resources};

/// Trains every trial of the plan that has not ended, and gives how each of them ended, in the plan's order.
///
/// # Errors
/// A dataset that is not prepared or cannot be read, or a store that fails. A trial that fails is no error here: the sweep goes on.
pub fn train(session: &Session) -> Result<Vec<Standing>> {
    let rungs = session.plan.rungs();
    let trials = if rungs.is_empty() { session.plan.trials().count() } else { rungs.iter().map(|rung| rung.trials).sum() };
    let progress = session.progress.trials(trials);
    let mut open = None;
    let standings = halving::standings(&session.plan, &mut |planned, until| end(session, planned, until, &progress, &mut open))?;
    session.progress.halved(&session.plan, &standings);
    Ok(standings)
}

/// Trains one trial of the plan, unless it has ended.
///
/// # Errors
/// As for [`train`].
pub fn train_one(session: &Session, planned: PlannedRef<'_>) -> Result<Standing> {
    end(session, planned, None, &session.progress.trials(1), &mut None)
}

/// Trains the trial at a place of a rung, up to the rung's epochs; `None` where fewer trials than that have come to it.
///
/// # Errors
/// As for [`train`], and for a search without such a rung, or a rung before it in which nothing has trained.
pub fn train_in_rung(session: &Session, index: usize, rung: usize) -> Result<Option<Standing>> {
    let trials = halving::in_rung(session, rung)?;
    let Some(&(planned, until)) = trials.get(index) else {
        tracing::info!(index, rung, trials = trials.len(), "nothing to do: fewer trials have come to this rung");
        return Ok(None);
    };
    end(session, planned, until, &session.progress.trials(1), &mut None).map(Some)
}

/// How a trial ended before, or ends now; with `until`, how it stands after so many epochs. `open` keeps the dataset for the next trial.
pub(super) fn end(
    session: &Session,
    planned: PlannedRef<'_>,
    until: Option<u32>,
    progress: &TrialStage<'_>,
    open: &mut Option<Dataset>,
) -> Result<Standing> {
    let (method, _, trial) = planned;
    if let Some(ending) = ending::stored(session, &trial.id, until)? {
        progress.found(planned, &ending);
        return Ok(ending);
    }
    let dataset = match open.take().filter(|dataset| dataset.name == method.dataset) {
        Some(dataset) => dataset,
        None => read(session, &method.dataset)?,
    };
    let ending = guarded(session, trial, until, &dataset, &mut progress.start(planned, until))?;
    *open = Some(dataset);
    progress.finish(planned, &ending);
    Ok(ending)
}

fn read(session: &Session, name: &str) -> Result<Dataset> {
    match session.read_dataset(name) {
        Err(dataset::Error::NotFound { at }) => {
            Err(anyhow::anyhow!("dataset `{name}` is not prepared ({at} is missing); run `ranksweep prepare` first"))
        }
        other => other.with_context(|| format!("dataset `{name}`")),
    }
}

/// Trains; an error or a panic of this trial is its ending and not the sweep's. A store that fails is the sweep's.
#[tracing::instrument(name = "trial", skip_all, fields(id = %trial.id))]
fn guarded(
    session: &Session,
    trial: &PlannedTrial,
    until: Option<u32>,
    dataset: &Dataset,
    observer: &mut dyn Observer,
) -> Result<Standing> {
    let cache = session.dataset(&dataset.name).join("samplers");
    let resources = Resources { cache: Some(&cache), until, ..Resources::new(session.machine.memory) };
    let folder = session.trial(&trial.id);
    let training = AssertUnwindSafe(|| trainer::train(&trial.trial, dataset, &folder, &resources, observer));
    match catch_unwind(training) {
        Ok(Ok(fit)) => Ok(Standing::Done(fit)),
        Ok(Err(Error::Dataset(error @ dataset::Error::Store { .. }))) => Err(error.into()),
        Ok(Err(error)) => Ok(Standing::Failed(chain(&error.into()))),
        Err(panic) => Ok(Standing::Failed(format!("panic: {}", panic_text(panic.as_ref())))),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
