//! How the program ends.
//!
//! | code | when |
//! |---|---|
//! | 0 | everything asked for was done |
//! | 1 | trials failed, or data, storage or the machine did |
//! | 2 | the sweep file or the command line is wrong; nothing was done |

use super::LogFormat;
use crate::{chain::chain, file};
use anyhow::Result;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// A flag that asks for something that is not there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// How a command ended that did not stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything asked for was done.
    Done,
    /// So many trials failed; all the rest was done.
    FailedTrials(usize),
}

impl Ending {
    /// With so many failed trials, or none.
    pub fn of(failed: usize) -> Self {
        if failed == 0 { Self::Done } else { Self::FailedTrials(failed) }
    }
}

/// Says what went wrong, if anything, and gives the exit code.
pub fn exit(format: LogFormat, result: Result<Ending>) -> ExitCode {
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::FailedTrials(count)) => {
            let trials = if count == 1 { "trial" } else { "trials" };
            say(format, &format!("{count} {trials} failed; everything else was done"));
            ExitCode::from(1)
        }
        Err(error) => {
            say(format, &chain(&error));
            ExitCode::from(if is_of_the_user(&error) { 2 } else { 1 })
        }
    }
}

/// Whether the sweep file or the flags are at fault.
fn is_of_the_user(error: &anyhow::Error) -> bool {
    let is_typed = error.is::<file::Error>() || error.is::<Usage>() || error.is::<theory::Error>();
    is_typed || matches!(error.downcast_ref(), Some(evaluator::Error::Settings { .. }))
}

/// A log reader gets an event, a person a line. Where even that cannot be written, the exit code is left to tell.
fn say(format: LogFormat, message: &str) {
    match format {
        LogFormat::Json => tracing::error!("{message}"),
        LogFormat::Text => drop(writeln!(io::stderr(), "error: {message}")),
    }
}
