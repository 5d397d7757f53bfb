//! What can go wrong between raw interactions and a prepared dataset.

use datafusion::error::DataFusionError;
use dataset::Location;
use std::io;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of a preparation. Each names the key, or the file and the line, the value, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value of the sweep file cannot be used.
    #[error("`{key}`: {reason}")]
    Setting {
        /// The key below the dataset's entry: `split.test`.
        key: &'static str,
        /// What is wrong, with the value and what was expected.
        reason: String,
    },
    /// A raw file is not there.
    #[error("{at} {found}; correct `{key}` (a relative path starts at the working directory)")]
    Absent {
        /// The key below the dataset's entry that names it: `source.path`.
        key: &'static str,
        /// The file.
        at: String,
        /// `does not exist`, `is a folder`.
        found: &'static str,
    },
    /// A raw file has other bytes than when the dataset's fingerprint was taken.
    #[error("{at} changed while it was read: run this again when nothing writes to it")]
    Changed {
        /// The file, or the pattern that stands for several.
        at: String,
    },
    /// A raw file as a whole is not what its format says.
    #[error("{at}: {reason}")]
    File {
        /// The file.
        at: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A column that the sweep file names is not in a raw file.
    #[error("{at}: {reason}")]
    Column {
        /// The key below the dataset's entry that names it: `source.columns.user`.
        key: &'static str,
        /// The file.
        at: String,
        /// Which column, and those that there are.
        reason: String,
    },
    /// A row of a raw file cannot be used.
    #[error("{at} {unit} {number}: {reason}")]
    Row {
        /// The file.
        at: String,
        /// What `number` counts: `line`, or `row` of a format without lines.
        unit: &'static str,
        /// The line on which the row starts, or the row, from 1.
        number: u64,
        /// The column, the value, and what was expected.
        reason: String,
    },
    /// A raw file ends early, is no valid archive, or its store fails.
    #[error("cannot read {at} after line {line}: {reason}")]
    Unreadable {
        /// The file.
        at: String,
        /// The last line that was read.
        line: u64,
        /// What the error means and what to do.
        reason: &'static str,
        /// The reader's error.
        source: io::Error,
    },
    /// No interaction is left.
    #[error(
        "no interaction is left after `{step}`; before it there were {}, {} and {}: lower `{key}`",
        counted(*.users, "user"),
        counted(*.items, "item"),
        counted(*.interactions, "interaction")
    )]
    Empty {
        /// The key below the dataset's entry that asks for the step.
        key: &'static str,
        /// The step that removed the last ones.
        step: String,
        /// Users before the step.
        users: usize,
        /// Items before the step.
        items: usize,
        /// Interactions before the step.
        interactions: usize,
    },
    /// No interaction is left, and rows were rejected before.
    #[error(
        "{left}; {} rejected before it ({at}), the first at {first}: where these are too many, correct the separator, the columns or the rows",
        if *.rows == 1 { "1 row was".to_owned() } else { format!("{} rows were", .rows) }
    )]
    EmptyAfterRejected {
        /// [`Error::Empty`].
        left: Box<Error>,
        /// Rows that were rejected.
        rows: usize,
        /// The file that holds them.
        at: String,
        /// The first of them, in words.
        first: String,
    },
    /// The interactions do not fit in memory, where they were to stay.
    #[error(
        "the interactions take more than the memory limit of {limit} bytes: raise the limit, or prepare them with `--engine datafusion`, which spills to disk"
    )]
    Rows {
        /// The limit.
        limit: usize,
    },
    /// The memory limit is too small even with spilling to disk.
    #[error(
        "preparing does not fit in the memory limit of {limit} bytes, although it spills to disk: raise the limit or use fewer threads"
    )]
    Memory {
        /// The limit.
        limit: usize,
        /// DataFusion's account of who holds what.
        source: Box<DataFusionError>,
    },
    /// DataFusion failed: a full scratch disk, a broken Parquet file.
    #[error("cannot {action}")]
    Query {
        /// What was tried.
        action: String,
        /// DataFusion's error.
        source: Box<DataFusionError>,
    },
    /// A cluster does not answer, or does not do what it is asked.
    #[error("cluster {url}: {reason}")]
    Cluster {
        /// Its URL.
        url: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The scratch folder cannot be used.
    #[error("cannot write in the scratch folder {folder} ({})", scratch_remedy(source))]
    Scratch {
        /// The folder.
        folder: String,
        /// The system's error.
        source: io::Error,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] dataset::Error),
}

impl Error {
    /// What is said of a raw file that is not there, as whoever named it is to correct that; other errors stay.
    pub(crate) fn absent(self, key: &'static str, at: &Location) -> Self {
        let found = match at.local_path() {
            Some(path) if path.is_dir() => "is a folder, expected a file (or all files in it, with `/` at its end)",
            _ => "does not exist",
        };
        match self {
            Self::Storage(dataset::Error::NotFound { at }) => Self::Absent { key, at, found },
            other => other,
        }
    }

    pub(crate) fn setting(key: &'static str, reason: impl Into<String>) -> Self {
        Self::Setting { key, reason: reason.into() }
    }

    pub(crate) fn file(at: &Location, reason: impl Into<String>) -> Self {
        Self::File { at: at.to_string(), reason: reason.into() }
    }

    /// That a file has no column for what the role in `source.columns` asks for.
    pub(crate) fn column(role: &str, at: &Location, reason: impl Into<String>) -> Self {
        let key = match role {
            "user" => "source.columns.user",
            "item" => "source.columns.item",
            "rating" => "source.columns.rating",
            _ => "source.columns.timestamp",
        };
        Self::Column { key, at: at.to_string(), reason: reason.into() }
    }

    /// A row of a format with lines, by the line on which it starts.
    pub(crate) fn line(at: &Location, number: u64, reason: impl Into<String>) -> Self {
        Self::Row { at: at.to_string(), unit: "line", number, reason: reason.into() }
    }

    /// A row of a format without lines.
    pub(crate) fn row(at: &Location, number: u64, reason: impl Into<String>) -> Self {
        Self::Row { at: at.to_string(), unit: "row", number, reason: reason.into() }
    }

    pub(crate) fn query(action: impl Into<String>, source: DataFusionError) -> Self {
        Self::Query { action: action.into(), source: Box::new(source) }
    }
}

/// What to do where scratch files cannot be written.
fn scratch_remedy(error: &io::Error) -> &'static str {
    if dataset::is_out_of_files(error) { dataset::MORE_FILES } else { "set TMPDIR for another one" }
}

/// A count and its noun: `1 user`, `2 users`.
fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
