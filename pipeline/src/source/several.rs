//! One source of several files, which are read one after the other.

use super::row::{Rejected, Sink, Sinks};
use crate::Result;
use dataset::Location;

/// Files, and where their rows go.
pub(super) struct Several<'a> {
    files: &'a [Location],
    sinks: &'a dyn Sinks,
}

impl<'a> Several<'a> {
    pub(super) fn of(files: &'a [Location], sinks: &'a dyn Sinks) -> Self {
        Self { files, sinks }
    }

    /// Reads each file. Where there are several, a row that is left out says of which it is.
    pub(super) fn read(&self, read: impl Fn(&Location, &dyn Sinks) -> Result<()>) -> Result<()> {
        match self.files {
            [one] => read(one, self.sinks),
            files => files.iter().try_for_each(|at| read(at, &Named { at, sinks: self.sinks })),
        }
    }
}

/// The sinks of one of several files.
struct Named<'a> {
    at: &'a Location,
    sinks: &'a dyn Sinks,
}

impl Sinks for Named<'_> {
    fn threads(&self) -> usize {
        self.sinks.threads()
    }

    fn sink(&self) -> Box<dyn Sink + '_> {
        self.sinks.sink()
    }

    fn reject(&self, rejected: Rejected<'_>) -> Result<()> {
        let reason = format!("{}: {}", self.at, rejected.reason);
        self.sinks.reject(Rejected { reason: &reason, ..rejected })
    }
}
