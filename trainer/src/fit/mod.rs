//! From a trial to a stored scorer.
//!
//! ```text
//! trials/<id>/  trial.json                    what is trained; first
//!               resume/state.safetensors      everything that the next epoch needs; at each evaluation
//!               checkpoint/scorer.*           the best model so far; at each better evaluation
//!               per_user.parquet              its validation values
//!               curve.parquet, done.json      the end; last
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
mod memory;
mod mixed;
mod narrowed;
mod outcome;
mod own;
mod parts;
mod path;
mod quantiles;
mod resume;
mod rival;
mod sharpness;
mod validation;
mod weigher;

pub use memory::memory;
pub use outcome::{Fit, Outcome};

use crate::{Error, Result, Trial};
use dataset::{Dataset, Location};
use learner::Learner;

/// What a training may use.
#[derive(Clone, Copy, Debug)]
pub struct Resources<'a> {
    /// Bytes for ranking blocks and for closed forms.
    pub memory: usize,
    /// A folder of the dataset's, where what takes long to prepare is kept for its other trials.
    pub cache: Option<&'a Location>,
}

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
pub trait Observer {
    /// After each epoch.
    fn epoch(&mut self, _report: &EpochReport) {}
}

impl Observer for () {}

/// Trains, or goes on where an earlier call was stopped; a finished trial returns at once.
///
/// # Errors
/// [`Error::NotFinite`] and [`Error::Impossible`] are remembered in `done.json`: a later call returns [`Error::FailedBefore`].
/// Storage errors are not; a later call goes on.
pub fn train(trial: &Trial, dataset: &Dataset, folder: &Location, resources: &Resources, observer: &mut dyn Observer) -> Result<Fit> {
    match Outcome::read(folder)? {
        Some(Outcome::Done(fit)) => return Ok(fit),
        Some(Outcome::Failed(reason)) => return Err(Error::FailedBefore(reason)),
        None => {}
    }
    folder.join("trial.json").write(serde_json::to_string_pretty(trial).expect("a trial is plain data"))?;
    let result = match &trial.learning {
        None => closed_form::fit(trial, dataset, folder, resources),
        Some(learning) => Learner::new(trial, learning, dataset, folder, resources).and_then(|mut learner| learner.run(observer)),
    };
    let outcome = match &result {
        Ok(fit) => Some(Outcome::Done(fit.clone())),
        Err(error) => error.repeats().then(|| Outcome::Failed(error.to_string())),
    };
    if let Some(outcome) = outcome {
        outcome.write(folder)?;
        resume::delete(folder)?;
    }
    result
}
