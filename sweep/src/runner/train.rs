//! Trials to checkpoints: on a CPU one after the other, each with all threads; on GPUs as many at once as these carry.

use super::{Devices, Session, Standing, on_storage, progress::TrialStage, search, share::Announcement, spread};
use crate::{
    allocator,
    doctor::memory_limit,
    interrupt::{self, Hold},
    plan::{Estimate, PROGRAM, PlannedDataset, PlannedRef, PlannedTrial},
    usage::Usage,
};
use anyhow::{Context, Result};
use dataset::{Dataset, Location, Manifest, panics};
use indicatif::BinaryBytes;
use std::collections::BTreeMap;
use trainer::{Device, Error, Fence, Observer, Resources, progress};

/// A signal stopped the training of a sweep.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; {ended} of {all} {counted} have ended, and the state of the others is kept: run the same command again to go on")]
pub struct Interrupted {
    ended: usize,
    all: usize,
    counted: &'static str,
}

impl Interrupted {
    /// Of trials.
    pub(super) fn of_trials(ended: usize, all: usize) -> Self {
        Self { ended, all, counted: "trials" }
    }

    /// Of a search, which trains a trial in several rungs, and others not at all.
    fn of_search(ended: usize, all: usize) -> Self {
        Self { ended, all, counted: "trainings of the search" }
    }
}

/// Trains every trial of the plan that has not ended, and gives how each of them stands, in the plan's order.
///
/// # Errors
/// A dataset that is not prepared or cannot be read, a store that fails, or [`Interrupted`]. A trial that fails or has no time left is no
/// error here: the sweep goes on.
pub fn train(session: &Session) -> Result<Vec<Standing>> {
    let devices = session.devices()?;
    devices.refuse_processes()?;
    let (slots, halving) = (devices.slots(), session.plan.search.halving());
    if slots.len() > 1 && halving.is_none_or(|halving| !halving.asynchronous) {
        return spread::train(session, &slots);
    }
    let rungs = session.plan.rungs();
    let trials = if rungs.is_empty() { session.plan.trials().count() } else { rungs.iter().map(|rung| rung.trials).sum() };
    let interrupted = if rungs.is_empty() { Interrupted::of_trials } else { Interrupted::of_search };
    let progress = session.progress.trials(&session.plan, trials);
    let (mut open, mut ended) = (None, 0);
    let standings = search::standings(&session.plan, &mut |planned, until| {
        let standing = end(session, devices, planned, until, &progress, &mut open, None)?.ok_or(interrupted(ended, trials))?;
        ended += 1;
        Ok(standing)
    })?;
    session.progress.searched(&session.plan, &standings);
    Ok(standings)
}

/// Trains one trial of the plan, unless it has ended; [`Standing::Missing`] where another of the processes that train together does it alone.
///
/// # Errors
/// Those of [`train`].
pub fn train_one(session: &Session, planned: PlannedRef<'_>) -> Result<Standing> {
    say_where(session, planned);
    if is_left_to_another(session, planned)? {
        return Ok(Standing::Missing);
    }
    let standing = end(session, session.devices()?, planned, None, &session.progress.trials(&session.plan, 1), &mut None, None)?;
    Ok(standing.ok_or(Interrupted::of_trials(0, 1))?)
}

/// Trains the trial at a place of a rung, up to the rung's epochs; `None` where fewer trials than that have come to it.
///
/// # Errors
/// Those of [`train`], and a search without such a rung, or a rung before it in which nothing has trained.
pub fn train_in_rung(session: &Session, index: usize, rung: usize) -> Result<Option<Standing>> {
    let trials = search::in_rung(session, rung)?;
    let Some(&(planned, until)) = trials.get(index) else {
        tracing::info!(index, rung, trials = trials.len(), "nothing to do: fewer trials have come to this rung");
        return Ok(None);
    };
    say_where(session, planned);
    if is_left_to_another(session, planned)? {
        return Ok(None);
    }
    let standing = end(session, session.devices()?, planned, until, &session.progress.trials(&session.plan, 1), &mut None, None)?;
    Ok(Some(standing.ok_or(Interrupted::of_trials(0, 1))?))
}

/// Trains the trials of a batch, of the plan or of those that have come to a rung, as many at once as share a GPU; `index` counts batches of so many.
/// How each of them stands that this process trains.
///
/// # Errors
/// Those of [`train_one`] and [`train_in_rung`], and [`Usage`] for a batch beyond the plan's last trial.
pub fn train_batch(session: &Session, index: usize, batch: usize, rung: Option<usize>) -> Result<Vec<Standing>> {
    let all = match rung {
        Some(rung) => search::in_rung(session, rung)?,
        None => session.plan.trials().map(|planned| (planned, None)).collect(),
    };
    let own: Vec<_> = all.iter().skip(index.saturating_mul(batch)).take(batch).copied().collect();
    if own.is_empty() && rung.is_none() {
        let count = all.len();
        return Err(Usage(format!("--index {index}: there is no such batch of {batch}: the plan has {count} trials")).into());
    }
    let slots = session.devices()?.slots_of_first();
    if slots.len() > 1 {
        own.iter().for_each(|(planned, _)| say_where(session, *planned));
        return spread::train_all(session, &slots, &own);
    }
    let (progress, trials) = (session.progress.trials(&session.plan, own.len()), own.len());
    let (mut open, mut standings) = (None, Vec::new());
    for (planned, until) in own {
        say_where(session, planned);
        if !is_left_to_another(session, planned)? {
            let ended = standings.len();
            let standing = end(session, session.devices()?, planned, until, &progress, &mut open, None)?;
            standings.push(standing.ok_or(Interrupted::of_trials(ended, trials))?);
        }
    }
    Ok(standings)
}

/// Says in a pod that takes the place of another from where it goes on. What is damaged is said by who trains it.
fn say_where(session: &Session, (.., trial): PlannedRef<'_>) {
    if !session.is_submitted() {
        return;
    }
    if let Ok(Some(progress)) = progress(&session.trial(&trial.id), &trial.id) {
        let seconds = progress.seconds.round();
        tracing::info!(trial = trial.id, epoch = progress.epoch, seconds, "goes on from its last checkpoint");
    }
}

/// Whether one process alone can train the trial, and this is another of them.
fn is_left_to_another(session: &Session, (.., trial): PlannedRef<'_>) -> Result<bool> {
    let is_left = session.devices()?.of(&trial.trial).is_none();
    if is_left {
        tracing::info!(trial = trial.id, "nothing to do: process 0 trains this trial alone");
    }
    Ok(is_left)
}

/// How a trial ended before, or stands after training now; with `until`, after so many epochs. `None` where a signal interrupted it. `open`
/// keeps the dataset for the next trial; `fence` knows whether the trial is this process's.
pub(super) fn end(
    session: &Session,
    devices: &Devices,
    planned: PlannedRef<'_>,
    until: Option<u32>,
    progress: &TrialStage<'_>,
    open: &mut Option<Dataset>,
    fence: Option<&dyn Fence>,
) -> Result<Option<Standing>> {
    let (.., trial) = planned;
    if let Some(standing) = on_storage::whole(session, &trial.id, until)? {
        progress.found(planned, &standing);
        return Ok(Some(standing));
    }
    let hold = interrupt::hold();
    if interrupt::has_come() {
        return Ok(None);
    }
    let on = session.plan.dataset_of(trial);
    let ordered = trial.trial.backbone.reads_order();
    let is_known = |dataset: &Dataset| dataset.fingerprint == on.fingerprint && (dataset.order.is_some() || !ordered);
    let mut dataset = match open.take().filter(is_known) {
        Some(dataset) => dataset,
        None => read(session, on, ordered)?,
    };
    if !ordered {
        dataset.order = None; // its memory is not in the plan of this trial
    }
    trial.trial.backbone.unlearned(&dataset).into_iter().for_each(|sentence| session.warn_once(on, sentence));
    let manifest = Dataset::read_manifest(&session.dataset(on))?;
    let place = TrainingLocations {
        folder: session.trial(&trial.id),
        cache: session.dataset(on).join("samplers"),
        model_files: session.model_files(trial)?,
    };
    let standing = match lacks_memory(session, devices, trial, &manifest) {
        Some(reason) => Some(Standing::Broken(reason)),
        None => {
            let announced = is_to_be_announced(session, devices, fence).then(|| Announcement::of(place.folder.clone()));
            let stop = StopConditions { until, hold: &hold, fence };
            let stands = guarded(session, devices, trial, &dataset, &mut progress.start(planned, until), stop, place);
            if let Some(announced) = announced {
                announced.withdraw(matches!(stands, Ok(Some(_))));
            }
            stands?
        }
    };
    *open = Some(dataset);
    if let Some(standing) = &standing {
        progress.finish(planned, standing);
    }
    Ok(standing)
}

/// Whether nothing else says who trains a trial: neither a claim, nor a pod, nor the first of the processes that train it together.
fn is_to_be_announced(session: &Session, devices: &Devices, fence: Option<&dyn Fence>) -> bool {
    fence.is_none() && !session.is_submitted() && devices.is_first()
}

/// Why this machine cannot hold a training that it would have to: where the system gives no more memory, it ends the process and all other trials. Of a
/// training on a GPU it is what the host keeps, alone: what others keep at the same time `plan` says.
pub(super) fn lacks_memory(session: &Session, devices: &Devices, trial: &PlannedTrial, manifest: &Manifest) -> Option<String> {
    let (limit, (device, ranks)) = (memory_limit()?, devices.of(&trial.trial)?);
    if device == Device::Cpu {
        let metrics = session.plan.evaluation.metric_ats();
        return beyond(Estimate::of(&trial.trial, manifest, &metrics, session.machine.memory).training, limit);
    }
    beyond(PROGRAM + Estimate::on_host(&trial.trial, manifest, devices.memory(session.machine.memory), ranks.local), limit)
}

/// Whether the CPU trains a trial here.
pub(super) fn is_on_cpu(devices: &Devices, trial: &PlannedTrial) -> bool {
    devices.of(&trial.trial).is_some_and(|(device, _)| device == Device::Cpu)
}

fn beyond(needed: u64, limit: u64) -> Option<String> {
    let words = || {
        let [needed, limit] = [needed, limit].map(|bytes| BinaryBytes(bytes).to_string());
        format!("its training needs about {needed} of memory, and this process may have {limit}; use a larger machine, or fewer dimensions")
    };
    (needed > limit).then(words)
}

/// A prepared dataset, in order where that is asked for.
pub(super) fn read(session: &Session, on: &PlannedDataset, ordered: bool) -> Result<Dataset> {
    match session.read_dataset(on, ordered) {
        Err(dataset::Error::NotFound { at }) => {
            Err(anyhow::anyhow!("dataset {} is not prepared ({at} is missing); run `ranksweep prepare` first", on.quoted()))
        }
        other => other.with_context(|| format!("dataset {}", on.quoted())),
    }
}

/// Where a training leaves what it makes, and finds what others made for it.
pub(super) struct TrainingLocations {
    /// Its own folder.
    pub(super) folder: Location,
    /// Tables of samplers.
    pub(super) cache: Location,
    /// The files of a model that another program trained.
    pub(super) model_files: BTreeMap<String, Location>,
}

/// What ends a training before its last epoch.
pub(super) struct StopConditions<'a> {
    /// The epochs after which it stops for now; none where it goes on to its end.
    pub(super) until: Option<u32>,
    /// Tells that a signal has come.
    pub(super) hold: &'a Hold,
    /// Tells whether the trial is still this process's, where others train beside it.
    pub(super) fence: Option<&'a dyn Fence>,
}

/// Trains; an error or a panic of this trial is its own and not the sweep's. A store that fails is the sweep's. `None` where a signal came.
#[tracing::instrument(name = "trial", skip_all, fields(id = %trial.id))]
pub(super) fn guarded(
    session: &Session,
    devices: &Devices,
    trial: &PlannedTrial,
    dataset: &Dataset,
    observer: &mut dyn Observer,
    StopConditions { until, hold, fence }: StopConditions<'_>,
    TrainingLocations { folder, cache, model_files }: TrainingLocations,
) -> Result<Option<Standing>> {
    let timing = session.file.timing;
    let (device, ranks) = devices.of(&trial.trial).expect("what is left to another process does not come here");
    let resources = Resources {
        cache: Some(&cache),
        interrupt: Some(hold.flag()),
        checkpoint_every: Some(timing.checkpoint_every),
        time_limit: timing.time_limit,
        until,
        device,
        ranks,
        fence,
        model_files,
        ..Resources::new(devices.memory(session.machine.memory))
    };
    allocator::keep_freed_blocks();
    match panics::caught(|| trainer::train(&trial.trial, dataset, &folder, &resources, observer)) {
        Ok(Ok(fit)) => {
            fit.remarks.iter().for_each(|remark| tracing::warn!("{remark}"));
            Ok(Some(Standing::Done(fit)))
        }
        Ok(Err(Error::Interrupted { .. })) => Ok(None),
        Ok(Err(error @ Error::TakenOver)) => Err(error.into()),
        Ok(Err(Error::Model(models::Error::Dataset(error @ dataset::Error::Store { .. })))) => Err(error.into()),
        Ok(Err(error)) => Ok(Some(Standing::of(error))),
        Err(panic) => Ok(Some(Standing::Broken(format!("panic: {panic}")))),
    }
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn a_training_that_the_machine_cannot_hold_is_said() {
        assert_eq!(beyond(2 << 30, 2 << 30), None);
        let reason = beyond(5 << 30, 2 << 30).unwrap();
        assert!(reason.starts_with("its training needs about 5.00 GiB of memory, and this process may have 2.00 GiB;"), "{reason}");
    }
}
