//! How the program ends.
//!
//! | code | when | what to do |
//! |---|---|---|
//! | 0 | everything asked for was done | |
//! | 1 | of a whole sweep some trials failed or had no time left, or data, storage or the machine failed | look; a retry may help |
//! | 2 | the sweep file or the command line is wrong, or names a column that the data does not have | correct it |
//! | 42 | `train --index` or `--trial`: the trial failed in a way that would repeat, and that is remembered | do not retry |
//! | 42 | `drive`: the sweep has ended with failures; `prepare --plan`: the sources have changed since they were submitted | submit again |
//! | 75 | SIGTERM, SIGINT or SIGHUP came; what was done is kept | start again to go on |
//! | 124 | `train --index` or `--trial`: the trial's time limit is over; its state is kept | go on with a larger limit |
//!
//! [`CODES`] says it to whoever asks for help; `docs/survival.md` says more.

use crate::{
    chain::chain,
    file, interrupt,
    log::{LogFormat, complain, say},
    runner::{Changed, Ending, Interrupted},
    usage::Usage,
};
use anyhow::Result;
use std::process::ExitCode;

/// The table of codes, at the end of `--help`.
pub const CODES: &str = "\
Exit codes:
  0    everything asked for was done
  1    some trials of the sweep failed, or data, storage or the machine did; a retry may help
  2    the sweep file or the command line is wrong, or names a column that the data does not have
  42   train --index or --trial: the trial failed in a way that would repeat; a retry does not help
  75   interrupted by SIGTERM, SIGINT or SIGHUP; what was done is kept, and the same command goes on
  124  train --index or --trial: the trial's time limit is over; a larger one goes on";

/// A sweep that has ended on the cluster, and not well: to drive it again would change nothing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct EndedBadly(pub(super) String);

/// Says what went wrong, if anything, and gives the exit code.
pub(super) fn exit(format: LogFormat, result: Result<Ending>) -> ExitCode {
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
    let is_of_a_column = matches!(error.downcast_ref(), Some(pipeline::Error::Column { .. }));
    is_typed || is_of_a_column || matches!(error.downcast_ref(), Some(evaluator::Error::Settings { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Standing;

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
