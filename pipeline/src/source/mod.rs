//! Where raw interactions come from. One file for each format.

mod adjacency;
mod blocks;
mod columns;
mod content;
mod delimited;
mod fields;
mod movielens;
mod parquet;
mod plain;
mod recbole;
mod records;
mod row;
mod splits;
mod synthetic;
mod text;

pub use adjacency::Adjacency;
pub use columns::{ColumnRef, Columns, IdColumns};
pub use delimited::Delimited;
pub use movielens::Movielens;
pub use parquet::{Parquet, ParquetColumns};
pub use recbole::Recbole;
pub use splits::Splits;
pub use synthetic::Synthetic;
pub use text::OnBadRow;

pub(crate) use row::{Rejected, Rows, Sink, Sinks};

use crate::Result;
use dataset::{Location, Split};
use serde::{Deserialize, Serialize};

/// `source` in a sweep file, by its `format`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Files that come split.
    Splits(Splits),
    /// Text with any separator.
    Delimited(Delimited),
    /// MovieLens' own rating files.
    Movielens(Movielens),
    /// RecBole's atomic files.
    Recbole(Recbole),
    /// A Parquet file.
    Parquet(Parquet),
    /// A user and all their items on each line.
    Adjacency(Adjacency),
    /// A seeded generator.
    Synthetic(Synthetic),
}

/// Whether a source has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Has {
    Yes,
    No,
    /// Its header tells.
    Perhaps,
}

impl Source {
    /// The parts that the source comes in; train alone for a source that is not split.
    pub fn parts(&self) -> Vec<Split> {
        [Split::Train, Split::Validation, Split::Test].into_iter().filter(|&part| self.has(part)).collect()
    }

    /// Whether the source comes split.
    pub fn is_split(&self) -> bool {
        self.has(Split::Test)
    }

    /// The raw files, each with its key below the dataset's entry in the sweep file.
    pub fn files(&self) -> Vec<(&'static str, &str)> {
        let by_part = |path: fn(&Self, Split) -> Option<&str>| {
            [("source.train", Split::Train), ("source.validation", Split::Validation), ("source.test", Split::Test)]
                .into_iter()
                .filter_map(|(key, part)| Some((key, path(self, part)?)))
                .collect()
        };
        match self {
            Self::Splits(_) | Self::Adjacency(_) => by_part(Self::path),
            Self::Delimited(source) => vec![("source.path", &source.path)],
            Self::Movielens(source) => vec![("source.path", &source.path)],
            Self::Recbole(source) => vec![("source.path", &source.path)],
            Self::Parquet(source) => vec![("source.path", &source.path)],
            Self::Synthetic(_) => Vec::new(),
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Splits(source) => source.check(),
            Self::Delimited(source) => source.check(),
            Self::Movielens(source) => source.check(),
            Self::Parquet(source) => source.check(),
            Self::Synthetic(source) => source.check(),
            Self::Recbole(_) | Self::Adjacency(_) => Ok(()),
        }
    }

    /// Reads one part; every row goes to one of `sinks`.
    pub(crate) fn read(&self, part: Split, sinks: &dyn Sinks) -> Result<()> {
        match self {
            Self::Splits(source) => source.read(part, sinks),
            Self::Delimited(source) => source.read(sinks),
            Self::Movielens(source) => source.read(sinks),
            Self::Recbole(source) => source.read(sinks),
            Self::Parquet(source) => source.read(sinks),
            Self::Adjacency(source) => source.read(part, sinks),
            Self::Synthetic(source) => source.read(sinks),
        }
    }

    /// About how many rows a part has; of a file with lines, by its size and its first lines.
    pub(crate) fn rows(&self, part: Split) -> Result<u64> {
        match self {
            Self::Synthetic(source) => Ok(source.interactions as u64),
            Self::Parquet(source) => source.rows(),
            _ => {
                let files = self.files();
                let of_part = files.iter().find(|(key, _)| key.ends_with(part.name())).or(files.first());
                of_part.map_or(Ok(0), |(_, path)| content::lines(&Location::parse(path)?))
            }
        }
    }

    /// How many of so many threads read it.
    pub(crate) fn readers(&self, threads: usize) -> usize {
        match self {
            Self::Synthetic(_) | Self::Parquet(_) | Self::Adjacency(_) => 1,
            _ => threads.max(1),
        }
    }

    /// Bytes that it holds itself while it is read, beyond some blocks of text.
    pub(crate) fn memory(&self) -> f64 {
        match self {
            Self::Synthetic(source) => source.memory(),
            _ => 0.0,
        }
    }

    pub(crate) fn ratings(&self) -> Has {
        match self {
            Self::Movielens(_) => Has::Yes,
            Self::Recbole(_) => Has::Perhaps,
            Self::Delimited(source) => Has::from(source.columns.rating.is_some()),
            Self::Parquet(source) => Has::from(source.columns.rating.is_some()),
            Self::Splits(_) | Self::Adjacency(_) | Self::Synthetic(_) => Has::No,
        }
    }

    pub(crate) fn timestamps(&self) -> Has {
        match self {
            Self::Movielens(_) | Self::Synthetic(_) => Has::Yes,
            Self::Recbole(_) => Has::Perhaps,
            Self::Delimited(source) => Has::from(source.columns.timestamp.is_some()),
            Self::Parquet(source) => Has::from(source.columns.timestamp.is_some()),
            Self::Splits(_) | Self::Adjacency(_) => Has::No,
        }
    }

    /// Whether rejected rows are kept and counted.
    pub(crate) fn skips(&self) -> bool {
        matches!(self, Self::Delimited(source) if source.on_bad_row == OnBadRow::Skip)
    }

    fn has(&self, part: Split) -> bool {
        match self {
            Self::Splits(_) | Self::Adjacency(_) => self.path(part).is_some(),
            _ => part == Split::Train,
        }
    }

    fn path(&self, part: Split) -> Option<&str> {
        match self {
            Self::Splits(source) => source.path(part),
            Self::Adjacency(source) => source.path(part),
            _ => None,
        }
    }
}

impl From<bool> for Has {
    fn from(has: bool) -> Self {
        if has { Self::Yes } else { Self::No }
    }
}
