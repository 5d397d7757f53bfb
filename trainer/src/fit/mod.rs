//! From a trial to a stored scorer.
//!
//! ```text
//! trials/<id>/  trial.json                    what is trained; first
//!               resume/state.safetensors      everything that the next step needs; at each evaluation, every so often, when stopped
//!               checkpoint/scorer.*           the best model so far; at each better evaluation
//!               per_user.parquet              its validation values
//!               curve.parquet, done.json      the end; last
//!               rungs/<epochs>.json           where it was asked to stop before its end; after `curve.parquet`
//! ```

mod batches;
mod beside;
mod closed_form;
mod curve;
mod epoch;
mod few;
mod formula;
mod learner;
mod many;
mod meeting;
mod memory;
mod mixed;
mod narrowed;
#[cfg(any(test, feature = "cuda"))]
mod on_device;
mod outcome;
mod own;
mod parts;
mod path;
mod portion;
mod progress;
pub(crate) mod quantiles;
mod resources;
mod resume;
mod rival;
mod rung;
mod sharpness;
mod state;
mod together;
mod twin;
pub(crate) mod validation;
mod watch;
mod weigher;

pub use memory::memory;
pub use outcome::{Fit, Outcome};
pub use progress::{Progress, progress};
pub use resources::{Device, Resources};
pub use rung::stored;

use crate::{Error, Result, Trial, collective::Link};
use dataset::{Dataset, Location};
use std::sync::Arc;

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
    /// Pairs trained in this epoch.
    pub pairs: u64,
    /// The validation metric, in epochs that evaluate.
    pub validation: Option<f64>,
}

/// Hears how a training goes.
pub trait Observer: Send {
    /// After each epoch.
    fn epoch(&mut self, _report: &EpochReport) {}

    /// After each step of an epoch, both counted from 1, before the bounds of [`Resources`] are looked at.
    fn step(&mut self, _epoch: u32, _step: u32) {}
}

impl Observer for () {}

/// Trains, or goes on where an earlier call was stopped; a finished trial returns at once.
///
/// With [`Resources::until`] it returns how far it came by then, which [`stored`] tells later too; a call with more epochs goes on to the
/// very bits of a training that was never stopped.
///
/// # Errors
/// [`Error::NotFinite`] and [`Error::Impossible`] are remembered in `done.json`: a later call returns [`Error::FailedBefore`].
/// [`Error::Interrupted`], [`Error::TimeLimit`] and storage errors are not, nor is what ranks lost of each other ([`Error::Collective`]); a
/// later call goes on, with any number of ranks. Processes that train together each call this, and the first alone touches the folder.
pub fn train(trial: &Trial, dataset: &Dataset, folder: &Location, resources: &Resources, observer: &mut dyn Observer) -> Result<Fit> {
    resources.check_device()?;
    let Some(link) = together::meet(trial, resources)? else { return lead(trial, dataset, folder, (resources, None), observer) };
    let result = match link.leads() {
        true => lead(trial, dataset, folder, (resources, Some(&link)), observer),
        false => together::follow(trial, dataset, folder, resources, &link),
    };
    if let Err(error) = &result {
        link.fail(&error.to_string());
    }
    result
}

/// The process that reads and writes, which is the only one where there is no link.
fn lead(
    trial: &Trial,
    dataset: &Dataset,
    folder: &Location,
    (resources, link): (&Resources, Option<&Arc<Link>>),
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let ended = stored(folder, resources.until)?;
    link.map_or(Ok(()), |link| link.tell(&ended))?;
    match ended {
        Some(Outcome::Done(fit)) => return Ok(fit),
        Some(Outcome::Failed(reason)) => return Err(Error::FailedBefore(reason)),
        None => {}
    }
    folder.join("trial.json").write(serde_json::to_string_pretty(trial).expect("a trial is plain data"))?;
    let result = match &trial.learning {
        None => closed_form::fit(trial, dataset, folder, resources).map(Stand::Ended),
        Some(learning) => together::learn((trial, learning), dataset, folder, (resources, link), observer),
    };
    let outcome = match &result {
        Ok(Stand::Ended(fit)) => Some(Outcome::Done(fit.clone())),
        Ok(Stand::Paused(_)) => None,
        Err(error) => error.repeats().then(|| Outcome::Failed(error.to_string())),
    };
    if let Some(outcome) = outcome {
        outcome.write(folder)?;
        resume::delete(folder)?;
    }
    let (Stand::Ended(fit) | Stand::Paused(fit)) = result?;
    if let (Some(link), None) = (link, &trial.learning) {
        link.tell(&fit)?;
    }
    Ok(fit)
}

/// Where a call left a training.
enum Stand {
    /// At its end.
    Ended(Fit),
    /// Before it, after as many epochs as were asked for.
    Paused(Fit),
}
