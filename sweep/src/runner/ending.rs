//! How trials stand: what is stored of them, and what a training that has just stopped says.

use super::{Session, search};
use crate::chain::chain;
use anyhow::{Result, ensure};
use trainer::{Error, Fit, Outcome, progress};

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

/// How a trial stood after so many epochs, or ended; `None` while it has not come so far. One whose marker is damaged is [`Standing::Broken`].
pub(super) fn stored(session: &Session, id: &str, until: Option<u32>) -> Result<Option<Standing>> {
    match trainer::stored(&session.trial(id), id, until) {
        Err(error) if error.is_damage() => {
            // No table says it of a rung, and the search goes on without it, to trials that it may not have trained.
            if until.is_some() {
                tracing::warn!(trial = id, "{error}");
            }
            Ok(Some(Standing::of(error)))
        }
        stored => Ok(stored?.map(Standing::from)),
    }
}

/// How a trial stands for whoever trains it, as `stored` has it; a damaged one has not ended.
pub(super) fn whole(session: &Session, id: &str, until: Option<u32>) -> Result<Option<Standing>> {
    Ok(stored(session, id, until)?.filter(|standing| !matches!(standing, Standing::Broken(_))))
}

/// How every trial of the plan stands, in the plan's order.
///
/// # Errors
/// When the store fails.
pub fn standings(session: &Session) -> Result<Vec<Standing>> {
    search::standings(&session.plan, &mut |(.., trial), until| match stored(session, &trial.id, until)? {
        Some(standing) => Ok(standing),
        None => unfinished(session, &trial.id),
    })
}

/// How a trial stands that has not ended: out of time where it has trained for as long as the sweep file now gives it.
fn unfinished(session: &Session, id: &str) -> Result<Standing> {
    let Some(limit) = session.file.timing.time_limit else { return Ok(Standing::Missing) };
    let progress = match progress(&session.trial(id), id) {
        Err(error) if error.is_damage() => None, // its training begins anew
        progress => progress?,
    };
    let over = progress.filter(|progress| progress.seconds >= limit.as_secs_f64());
    Ok(over.map_or(Standing::Missing, |progress| Standing::of(Error::TimeLimit { limit, epoch: progress.epoch + 1 })))
}

/// How every trial of the plan ended, in the plan's order.
///
/// # Errors
/// When one has not ended: values are picked once, from all trials.
pub fn stored_endings(session: &Session) -> Result<Vec<Standing>> {
    let standings = standings(session)?;
    let ids = session.plan.trials().map(|(.., trial)| trial.id.as_str());
    let has_not_ended = |standing: &Standing| matches!(standing, Standing::Missing | Standing::TimedOut(_));
    let missing: Vec<&str> = ids.zip(&standings).filter(|(_, standing)| has_not_ended(standing)).map(|(id, _)| id).collect();
    let first = missing.first().unwrap_or(&"");
    ensure!(
        missing.is_empty(),
        "{} of {} trials are not trained, the first is {first}; run `ranksweep train` first, or evaluate what there is with --partial",
        missing.len(),
        standings.len()
    );
    Ok(standings)
}

/// How a command ended that did not stop early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything asked for was done.
    Done,
    /// Trials of a sweep failed or did not end; all the rest was done.
    Trials {
        /// Trials that ended with an error.
        failed: usize,
        /// Trials that are out of time, or not trained.
        unfinished: usize,
    },
    /// The one trial that was asked for has no model.
    Trial {
        /// The exit code.
        code: u8,
        /// Why.
        error: String,
    },
}

impl Ending {
    /// The ending of a sweep with so many failed and unfinished trials, or none.
    pub fn of(failed: usize, unfinished: usize) -> Self {
        if failed + unfinished == 0 { Self::Done } else { Self::Trials { failed, unfinished } }
    }

    /// The ending of trials that were just trained.
    pub fn of_all(standings: &[Standing]) -> Self {
        let without_model = standings.iter().filter(|standing| standing.fit().is_none() && **standing != Standing::Skipped);
        let failed = without_model.clone().filter(|standing| matches!(standing, Standing::Failed(_) | Standing::Broken(_))).count();
        Self::of(failed, without_model.count() - failed)
    }

    /// The ending of several trials that were asked for together: that of the worst of them, where one that may do better the next time is worse than
    /// one that has no time left, and that than one that would fail again.
    pub fn of_batch(standings: &[Standing]) -> Self {
        let endings: Vec<Self> = standings.iter().map(Self::of_one).collect();
        let of = |code: u8| endings.iter().find(|ending| matches!(ending, Self::Trial { code: own, .. } if *own == code));
        [1, 124, 42].into_iter().find_map(of).cloned().unwrap_or(Self::Done)
    }

    /// The ending of one trial that was asked for.
    pub fn of_one(standing: &Standing) -> Self {
        let trial = |code, why: &str, error: &str| Self::Trial { code, error: format!("{why}: {error}") };
        match standing {
            Standing::Done(_) | Standing::Stopped(_) | Standing::Skipped | Standing::Missing => Self::Done,
            Standing::Failed(error) => trial(42, "the trial failed, and would again", error),
            Standing::Broken(error) => trial(1, "the trial failed, but may not the next time", error),
            Standing::TimedOut(error) => trial(124, "the trial is not done", error),
        }
    }
}
