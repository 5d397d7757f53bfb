//! From a trial to a stored scorer.
//!
//! ```text
//! trials/<id>/  trial.json                    what is trained; first
//!               checkpoint/<key>/             the best model so far and its validation values; at each better evaluation
//!               resume/state.safetensors      everything that the next step needs; at each evaluation, every so often, when stopped
//!               curve/<key>.parquet           the curve; at the end, and where it was asked to stop
//!               rungs/<epochs>.json           the marker of where it was asked to stop before its end
//!               done.json                     the marker of the end; last
//! ```
//! A key follows from what stands under it (`checkpoint/stored_files.rs`). What counts is what a marker names, with checksums; the state names the best model.

mod checkpoint;
mod closed_form;
mod distributed;
mod iterative;
mod label;
mod learner;
pub(crate) mod loss_state;
mod memory;
mod pretrained;
mod ranks;
mod resources;
mod step;
mod step_id;
mod train_state;
mod views;
mod watch;

pub use checkpoint::{
    outcome::{Ended, Fit, Outcome, forget},
    progress::{Progress, progress},
    rung::{curve, rung_curves, stored},
};
pub use memory::{DeviceMemory, device_memory, host_memory, kernel_sizes, memory};
pub use resources::{Device, Fence, Operations, Resources};
#[cfg(any(test, feature = "nccl"))]
pub(crate) use step::candle::{Reach, all_reduce};

use crate::{Error, Result, Trial, collective::Link};
use checkpoint::stored_files::{Checkpoint, StoredCurve};
use dataset::{Dataset, Location};
use std::sync::Arc;
use views::Views;

/// What is said of a training after each epoch.
#[derive(Clone, Copy, Debug)]
pub struct EpochReport {
    /// Epochs done.
    pub epoch: u32,
    /// Epochs at most.
    pub epochs: u32,
    /// Mean loss of the epoch.
    pub loss: f64,
    /// Seconds of training so far, those before a resume included.
    pub seconds: f64,
    /// Train interactions that a second of the epoch's steps passes over, validation and storing left out; of an epoch that was resumed those since. Losses of lists and
    /// last targets train fewer rows.
    pub pairs_per_second: f64,
    /// The validation metric, in epochs that evaluate.
    pub validation: Option<f64>,
}

/// Hears how a training goes.
pub trait Observer: Send {
    /// Called after each epoch.
    fn epoch(&mut self, _report: &EpochReport) {}

    /// Called after each step of an epoch, both counted from 1, before the bounds of [`Resources`] are looked at.
    fn step(&mut self, _epoch: u32, _step: u32) {}

    /// What is stored of the trial is damaged, and is made again.
    fn damaged(&mut self, _error: &Error) {}
}

impl Observer for () {}

/// Trains, or goes on where an earlier call was stopped; a finished trial returns at once.
///
/// With [`Resources::until`] it returns how far it came by then, which [`stored`] tells later too; a call with more epochs goes on to the
/// very bits of a training that was never stopped.
///
/// # Errors
/// [`models::Error::NotFinite`] and [`models::Error::Impossible`] are remembered in `done.json`: a later call returns [`Error::FailedBefore`].
/// [`Error::Interrupted`], [`Error::TimeLimit`] and storage errors are not, nor is what ranks lost of each other ([`Error::Collective`]); a
/// later call goes on, with any number of ranks. Processes that train together each call this, and the first alone touches the folder.
///
/// Users whom the split holds out are no part of the training; the model has them among its users, by their histories to fold in.
///
/// What is damaged in the folder is said and made again. Of several processes at one trial the first to end it has its model counted; a later
/// one takes that for its own. [`Error::TakenOver`] where [`Resources::fence`] refuses.
pub fn train(trial: &Trial, dataset: &Dataset, folder: &Location, resources: &Resources, observer: &mut dyn Observer) -> Result<Fit> {
    resources.check_device()?;
    let views = Views::new(dataset, trial)?;
    let Some(link) = ranks::meet(trial, resources)? else { return lead(trial, &views, folder, resources, None, observer) };
    let result = match link.leads() {
        true => lead(trial, &views, folder, resources, Some(&link), observer),
        false => ranks::follow(trial, &views, folder, resources, &link),
    };
    if let Err(error) = &result {
        link.fail(&error.to_string());
    }
    result
}

/// The process that reads and writes, which is the only one where there is no link.
fn lead(
    trial: &Trial,
    views: &Views<'_>,
    folder: &Location,
    resources: &Resources,
    link: Option<&Arc<Link>>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let id = trial.id();
    let ended = or_again(stored(folder, &id, resources.until), observer)?;
    link.map_or(Ok(()), |link| link.tell(&ended))?;
    match ended {
        Some(Outcome::Done(fit)) => return Ok(fit),
        Some(Outcome::Failed(reason)) => return Err(Error::FailedBefore(reason)),
        None => {}
    }
    folder.join("trial.json").write(text(trial))?;
    let result = match (&trial.learning, &trial.iterations) {
        (None, None) => match &trial.files {
            None => closed_form::fit(trial, views, folder, resources).map(Reached::Ended),
            Some(files) => pretrained::read(trial, files, views, folder, resources).map(Reached::Ended),
        },
        (None, Some(iterations)) => iterative::learn(trial, iterations, views, folder, resources, observer),
        (Some(learning), _) => ranks::learn(trial, learning, views, folder, resources, link, observer),
    };
    let fit = match result {
        Ok(Reached::Paused(fit)) => fit,
        Ok(Reached::Ended(Finished { fit, checkpoint, curve })) => {
            end(trial, folder, resources, Ended::new(trial, Outcome::Done(fit), checkpoint, curve))?
        }
        Err(error) if error.repeats() => {
            let failed = Ended::new(trial, Outcome::Failed(error.to_string()), None, None);
            return match end(trial, folder, resources, failed) {
                Ok(_) | Err(Error::FailedBefore(_)) => Err(error),
                Err(other) => Err(other),
            };
        }
        Err(error) => return Err(error),
    };
    if let (Some(link), None) = (link, &trial.learning) {
        link.tell(&fit)?;
    }
    Ok(fit)
}

/// Writes the marker, unless another process has, whose outcome is the trial's then.
fn end(trial: &Trial, folder: &Location, resources: &Resources, own: Ended) -> Result<Fit> {
    resources.check_fence()?;
    let ended = match or_again(Ended::read(folder, &trial.id()).map_err(Error::from), &mut ())? {
        Some(first) => first,
        None => {
            own.write(folder)?;
            own
        }
    };
    checkpoint::resume::delete(folder)?;
    checkpoint::stored_files::drop_other_checkpoints(folder, ended.files())?;
    match ended.outcome {
        Outcome::Done(fit) => Ok(fit),
        Outcome::Failed(reason) => Err(Error::FailedBefore(reason)),
    }
}

/// The text of `trial.json`.
fn text(trial: &Trial) -> String {
    serde_json::to_string_pretty(trial).expect("a trial is plain data")
}

/// What was stored; nothing, with a word, where it is damaged, so that it is made again.
fn or_again<T>(stored: Result<Option<T>>, observer: &mut dyn Observer) -> Result<Option<T>> {
    match stored {
        Err(error) if error.is_damage() => {
            observer.damaged(&error);
            Ok(None)
        }
        other => other,
    }
}

/// A training that has come to its end, and what was stored of it.
struct Finished {
    fit: Fit,
    checkpoint: Option<Checkpoint>,
    curve: Option<StoredCurve>,
}

/// Where a call left a training.
enum Reached {
    /// At its end.
    Ended(Finished),
    /// Before it, after as many epochs as were asked for.
    Paused(Fit),
}
