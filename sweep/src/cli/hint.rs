//! Commands that are to be typed next, as they are printed.

use crate::shell::quoted;
use cluster::stages::Outcome;

/// A sweep as the next command names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint<'a> {
    /// Its file or its name.
    pub(super) sweep: &'a str,
    /// The namespace of its objects.
    pub(super) namespace: &'a str,
    /// The storage in place of the sweep file's.
    pub(super) storage: Option<&'a str>,
}

impl Hint<'_> {
    /// A command about the sweep's objects.
    pub(super) fn command(&self, command: &str, more: &[&str]) -> String {
        let words = ["ranksweep", command, self.sweep, "--namespace", self.namespace].into_iter().chain(more.iter().copied());
        format!("`{}`", words.map(quoted).collect::<Vec<_>>().join(" "))
    }

    /// A command that reads the storage too.
    pub(super) fn stored(&self, command: &str) -> String {
        let storage = self.storage.iter().flat_map(|storage| ["--storage", storage]);
        self.command(command, &storage.collect::<Vec<_>>())
    }

    /// How a submission ended, and what says why.
    pub(super) fn ending(&self, outcome: &Outcome, hash: &str) -> String {
        match outcome.failed_stage(hash) {
            None => outcome.to_string(),
            Some(stage) => {
                let logs = self.command("logs", &["--stage", stage]);
                format!("{outcome}; {logs} says why, and submitting it again goes on from what is stored")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluster::stages::Failure;

    #[test]
    fn commands_work_as_they_are_printed() {
        let hint = Hint { sweep: "my sweeps/s.yaml", namespace: "team", storage: Some("s3://bucket/runs") };
        assert_eq!(hint.stored("status"), "`ranksweep status 'my sweeps/s.yaml' --namespace team --storage s3://bucket/runs`");
    }

    #[test]
    fn the_stage_that_failed_is_named() {
        let hint = Hint { sweep: "s", namespace: "team", storage: None };
        let failure = Failure { reason: "BackoffLimitExceeded".to_owned(), message: "too often".to_owned(), indexes: 0 };
        let of = |job: &str| hint.ending(&Outcome::Failed { job: job.to_owned(), failure: failure.clone() }, "1a2b3c4d");
        assert!(
            of("s-1a2b3c4d-prepare").contains("; `ranksweep logs s --namespace team --stage prepare` says why"),
            "{}",
            of("s-1a2b3c4d-prepare")
        );
        assert!(of("s-1a2b3c4d-drive").contains("--stage driver` says why"));
        assert_eq!(hint.ending(&Outcome::Done, "1a2b3c4d"), "the sweep is done");
    }
}
