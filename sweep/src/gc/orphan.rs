//! One file that can go.

use dataset::{Location, Unfinished};
use std::fmt;

/// A file that can go.
#[derive(Clone, Debug)]
pub struct Orphan {
    /// Path below the storage.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Whether it stays for now, as something was written beside it of late.
    pub is_young: bool,
    /// Why it can go.
    pub reason: Reason,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Stored(Location),
    Unfinished(Unfinished),
}

/// Why a file can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A killed process was writing it.
    Unfinished,
    /// A killed process asked by it whether the storage can hold claims.
    Probe,
    /// The state of a training that has ended.
    Resume,
    /// The claim on a trial that has ended.
    Claim,
    /// A model or a curve that the marker of its trial does not count.
    NotCounted,
    /// Part of a dataset that was not finished.
    NoManifest,
    /// A relation that a preparation on a cluster left.
    Scratch,
    /// A table of a trial that the sweep no longer has, or of an evaluation that was not finished.
    NoPlan,
    /// A trial that no sweep holds.
    Trial,
    /// A dataset that no sweep holds.
    Dataset,
}

impl Orphan {
    /// Removes it; what is gone already is no error.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn remove(&self) -> dataset::Result<()> {
        match &self.what {
            What::Stored(at) => at.delete(),
            What::Unfinished(file) => file.remove(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfinished => "never finished writing",
            Self::Probe => "a test of the storage",
            Self::Resume => "state of a training that has ended",
            Self::Claim => "claim on a trial that has ended",
            Self::NotCounted => "of an attempt at a trial that does not count",
            Self::NoManifest => "of a dataset that was not finished",
            Self::Scratch => "of a preparation on a cluster",
            Self::NoPlan => "of no plan of this sweep",
            Self::Trial => "of a trial that no sweep holds",
            Self::Dataset => "of a dataset that no sweep holds",
        })
    }
}
