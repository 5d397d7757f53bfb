//! How trials stand: what is stored of them, and what a training that has just stopped says.

use super::{Session, Standing, on_storage::stored, search};
use crate::plan::PlannedTrial;
use anyhow::{Result, ensure};
use trainer::{Error, Progress, progress};

/// How every trial of the plan stands, in the plan's order.
///
/// # Errors
/// When the store fails.
pub fn standings(session: &Session) -> Result<Vec<Standing>> {
    search::standings(&session.plan, &mut |(.., trial), until| standing(session, trial, until))
}

/// How a trial stands after so many epochs or at its end, by what is stored.
pub(super) fn standing(session: &Session, trial: &PlannedTrial, until: Option<u32>) -> Result<Standing> {
    match stored(session, &trial.id, until)? {
        Some(standing) => Ok(standing),
        None => unfinished(session, &trial.id),
    }
}

/// How a trial stands that has not ended: out of time where it has trained for as long as the sweep file now gives it.
fn unfinished(session: &Session, id: &str) -> Result<Standing> {
    let progress = match progress(&session.trial(id), id) {
        Err(error) if error.is_damage() => None, // its training begins anew
        progress => progress?,
    };
    Ok(progress.and_then(|progress| out_of_time(session, &progress)).map_or(Standing::Missing, Standing::of))
}

/// That a training has lasted for as long as the sweep file now gives it; `None` of one that has time left.
pub(crate) fn out_of_time(session: &Session, progress: &Progress) -> Option<Error> {
    let limit = session.file.timing.time_limit.filter(|limit| progress.seconds >= limit.as_secs_f64())?;
    Some(Error::TimeLimit { limit, epoch: progress.epoch + 1 })
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
