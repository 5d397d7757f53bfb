//! How a trial stands.

use crate::chain::chain;
use trainer::{Error, Fit, Outcome};

/// How a trial stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The trial ended with a model.
    Done(Fit),
    /// The trial was stopped at a rung of successive halving, where others of its method were better; with the model that it had.
    Stopped(Fit),
    /// The trial ended with an error that would come again, which is remembered.
    Failed(String),
    /// The trial stopped with an error that may not come again, on another machine or another day; not remembered.
    Broken(String),
    /// The trial's time limit is over; not remembered, so that a larger one goes on.
    TimedOut(String),
    /// The trial is of a configuration that the search did not pick, and of a seed that nothing is picked by; not trained.
    Skipped,
    /// The trial is not trained, or not to the end.
    Missing,
}

impl Standing {
    /// How a trial stands whose training stopped with an error.
    pub(super) fn of(error: Error) -> Self {
        let constructor = match &error {
            Error::TimeLimit { .. } => Self::TimedOut,
            Error::FailedBefore(_) => Self::Failed,
            error if error.repeats() => Self::Failed,
            _ => Self::Broken,
        };
        constructor(chain(&error.into()))
    }

    /// The training to its end; none of a trial that has no model, or was stopped.
    pub fn finished(&self) -> Option<&Fit> {
        match self {
            Self::Done(fit) => Some(fit),
            _ => None,
        }
    }

    /// The training as far as it went, where there is a model.
    pub fn fit(&self) -> Option<&Fit> {
        match self {
            Self::Done(fit) | Self::Stopped(fit) => Some(fit),
            _ => None,
        }
    }

    /// Why there is no model, where that is known.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Failed(error) | Self::Broken(error) | Self::TimedOut(error) => Some(error),
            Self::Done(_) | Self::Stopped(_) | Self::Skipped | Self::Missing => None,
        }
    }
}

impl From<Outcome> for Standing {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done(fit) => Self::Done(fit),
            Outcome::Failed(error) => Self::Failed(error),
        }
    }
}

/// That a trial has no model, as it failed, and what to do.
pub(crate) fn failed(trial: &str, error: &str) -> String {
    format!("trial {trial} failed, and has no model: {error}; `ranksweep run --retry-failed` trains it again")
}
