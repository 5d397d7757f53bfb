//! How the program ends.
//!
//! | code | when | what to do |
//! |---|---|---|
//! | 0 | everything asked for was done | |
//! | 1 | of a whole sweep some trials failed or had no time left, or data, storage or the machine failed | look; a retry may help |
//! | 2 | the sweep file or the command line is wrong; nothing was done | correct it |
//! | 42 | `train --index` or `--trial`: the trial failed in a way that would repeat, and that is remembered | do not retry |
//! | 42 | `drive`: the sweep has ended with failures; `prepare --plan`: the sources have changed since they were submitted | submit again |
//! | 75 | SIGTERM or SIGINT came; what was done is kept | start again to go on |
//! | 124 | `train --index` or `--trial`: the trial's time limit is over; its state is kept | go on with a larger limit |
//!
//! [`CODES`] says it to whoever asks for help; `docs/survival.md` says more.

use super::LogFormat;
use crate::{
    chain::chain,
    file, interrupt,
    runner::{Changed, Interrupted, Standing},
};
use anyhow::Result;
use dataset::quote;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// The table of codes, at the end of `--help`.
pub const CODES: &str = "\
Exit codes:
  0    everything asked for was done
  1    some trials of the sweep failed, or data, storage or the machine did; a retry may help
  2    the sweep file or the command line is wrong
  42   train --index or --trial: the trial failed in a way that would repeat; a retry does not help
  75   interrupted by SIGTERM or SIGINT; what was done is kept, and the same command goes on
  124  train --index or --trial: the trial's time limit is over; a larger one goes on";

/// A flag that asks for something that is not there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A sweep that has ended on the cluster, and not well: to drive it again would change nothing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct EndedBadly(pub(super) String);

/// How a command ended that did not stop early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything asked for was done.
    Done,
    /// So many trials of a sweep failed or did not end; all the rest was done.
    Trials {
        /// With an error.
        failed: usize,
        /// Without time, or not trained.
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
    /// Of a sweep, with so many failed and unfinished trials, or none.
    pub fn of(failed: usize, unfinished: usize) -> Self {
        if failed + unfinished == 0 { Self::Done } else { Self::Trials { failed, unfinished } }
    }

    /// Of trials that were just trained.
    pub fn of_all(standings: &[Standing]) -> Self {
        let without_model = standings.iter().filter(|standing| standing.fit().is_none());
        let failed = without_model.clone().filter(|standing| matches!(standing, Standing::Failed(_) | Standing::Broken(_))).count();
        Self::of(failed, without_model.count() - failed)
    }

    /// Of several trials that were asked for together: as the worst of them, where one that may do better the next time is worse than one that
    /// has no time left, and that than one that would fail again.
    pub fn of_batch(standings: &[Standing]) -> Self {
        let endings: Vec<Self> = standings.iter().map(Self::of_one).collect();
        let of = |code: u8| endings.iter().find(|ending| matches!(ending, Self::Trial { code: own, .. } if *own == code));
        [1, 124, 42].into_iter().find_map(of).cloned().unwrap_or(Self::Done)
    }

    /// Of one trial that was asked for.
    pub fn of_one(standing: &Standing) -> Self {
        let trial = |code, why: &str, error: &str| Self::Trial { code, error: format!("{why}: {error}") };
        match standing {
            Standing::Done(_) | Standing::Stopped(_) | Standing::Missing => Self::Done,
            Standing::Failed(error) => trial(42, "the trial failed, and would again", error),
            Standing::Broken(error) => trial(1, "the trial failed, but may not the next time", error),
            Standing::TimedOut(error) => trial(124, "the trial is not done", error),
        }
    }
}

/// Says what went wrong, if anything, and gives the exit code.
pub fn exit(format: LogFormat, result: Result<Ending>) -> ExitCode {
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Trials { failed, unfinished }) => {
            complain(format, &format!("{}; everything else was done", without_model(failed, unfinished)));
            ExitCode::from(1)
        }
        Ok(Ending::Trial { code, error }) => {
            complain(format, &error);
            ExitCode::from(code)
        }
        Err(error) if error.is::<Interrupted>() => {
            say(format, &error.to_string());
            ExitCode::from(interrupt::EXIT_CODE)
        }
        Err(error) => {
            complain(format, &chain(&error));
            ExitCode::from(code(&error))
        }
    }
}

/// `2 trials failed`, `1 trial did not end`, or both.
fn without_model(failed: usize, unfinished: usize) -> String {
    let counted = |count: usize, what: &str| {
        let trials = if count == 1 { "trial" } else { "trials" };
        (count > 0).then(|| format!("{count} {trials} {what}"))
    };
    let parts = [counted(failed, "failed"), counted(unfinished, "did not end")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

fn code(error: &anyhow::Error) -> u8 {
    if is_of_the_user(error) {
        2
    } else if error.is::<EndedBadly>() || error.is::<Changed>() {
        42
    } else {
        1
    }
}

/// Whether the sweep file or the flags are at fault.
fn is_of_the_user(error: &anyhow::Error) -> bool {
    let is_typed = error.is::<file::Error>() || error.is::<Usage>() || error.is::<theory::Error>();
    is_typed || matches!(error.downcast_ref(), Some(evaluator::Error::Settings { .. }))
}

/// Says what is wrong. A log reader gets an event, a person a line. Where even that cannot be written, the exit code is left to tell.
fn complain(format: LogFormat, message: &str) {
    let message = quote::line(message);
    match format {
        LogFormat::Json => tracing::error!("{message}"),
        LogFormat::Text => drop(writeln!(io::stderr(), "error: {message}")),
    }
}

/// Says a last word when nothing is wrong.
pub(crate) fn say(format: LogFormat, message: &str) {
    let message = quote::line(message);
    match format {
        LogFormat::Json => tracing::warn!("{message}"),
        LogFormat::Text => drop(writeln!(io::stderr(), "{message}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_trial_tells_a_controller_what_to_do() {
        let code = |standing: Standing| match Ending::of_one(&standing) {
            Ending::Trial { code, error } => (code, error),
            other => panic!("{other:?}"),
        };
        assert_eq!(code(Standing::Failed("NaN".into())), (42, "the trial failed, and would again: NaN".into()));
        assert_eq!(code(Standing::Broken("no memory".into())).0, 1);
        assert_eq!(code(Standing::TimedOut("over".into())).0, 124);
    }

    #[test]
    fn a_batch_ends_as_its_worst_trial() {
        let [failed, broken, out] = [Standing::Failed("NaN".into()), Standing::Broken("panic".into()), Standing::TimedOut("over".into())];
        let code = |standings: &[Standing]| match Ending::of_batch(standings) {
            Ending::Trial { code, .. } => code,
            _ => 0,
        };
        assert_eq!((code(&[failed.clone(), out.clone(), broken]), code(&[failed.clone(), out]), code(&[failed])), (1, 124, 42));
        assert_eq!(Ending::of_batch(&[Standing::Missing]), Ending::Done);
    }

    #[test]
    fn failures_and_what_did_not_end_are_counted_apart() {
        let [failed, out] = [Standing::Broken("panic".into()), Standing::TimedOut("over".into())];
        assert_eq!(Ending::of_all(&[failed, out.clone(), out]), Ending::Trials { failed: 1, unfinished: 2 });
        assert_eq!(without_model(1, 2), "1 trial failed and 2 trials did not end");
        assert_eq!(without_model(0, 1), "1 trial did not end");
    }
}
