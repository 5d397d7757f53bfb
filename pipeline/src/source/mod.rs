//! Where raw interactions come from. One file for each format.

mod adjacency;
mod archive;
mod beginning;
mod blocks;
mod columns;
mod compression;
mod content;
mod delimited;
mod fields;
mod files;
mod first_rows;
mod json_lines;
mod movielens;
mod parallel;
mod parquet;
mod plain;
mod recbole;
#[cfg(test)]
mod recognised_tests;
mod records;
mod roles;
mod row;
mod several;
mod splits;
mod synthetic;
mod text;
pub(crate) mod time;

pub use adjacency::Adjacency;
pub use columns::{ColumnRef, Columns, IdColumns, NamedColumns};
pub use delimited::Delimited;
pub use json_lines::JsonLines;
pub use movielens::Movielens;
pub use parquet::Parquet;
pub use recbole::Recbole;
pub use roles::KnownColumns;
pub use splits::Splits;
pub use synthetic::Synthetic;
pub use text::OnBadRow;

pub(crate) use archive::through as archive_of;
pub(crate) use files::{are_several, check_is_file, named as named_files};
pub(crate) use first_rows::Sampled;
pub(crate) use row::{Rejected, Rows, Sink, Sinks};

use crate::{Error, Result};
use beginning::Beginning;
use dataset::{Location, Split};
use serde::{Deserialize, Serialize};

/// What a source says of itself.
trait SourceKind {
    /// The raw files, each with its key below `source` in the sweep file and the part that it holds; a source that is generated has none.
    fn files(&self) -> Vec<(&'static str, Split, &str)>;

    /// The source that has this beginning; `None` where it is of another format.
    ///
    /// # Errors
    /// When the format is this one and its columns cannot be told apart.
    fn recognise(_: &Beginning) -> Result<Option<Self>>
    where
        Self: Sized,
    {
        Ok(None)
    }

    /// Raised when a source with these values would give other rows than before, and one without them would not: what was prepared of the others stays good.
    fn revision(&self) -> u32 {
        0
    }

    /// Whether the values can be used.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Reads one part; every row goes to one of `sinks`.
    ///
    /// # Errors
    /// Names the file, the line and what was expected.
    fn read(&self, part: Split, sinks: &dyn Sinks) -> Result<()>;

    /// About how many rows a part has; of a file with lines, by its size and its first lines.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn rows(&self, part: Split) -> Result<u64> {
        let Some((key, _, path)) = self.files().into_iter().find(|&(_, of, _)| of == part) else { return Ok(0) };
        files::all(key, path)?.iter().map(content::lines).sum()
    }

    /// The format in words, where its settings say more than its name.
    fn words(&self) -> Option<String> {
        None
    }

    /// Whether the columns of its file have names, or the format needs none.
    fn has_names(&self) -> bool {
        true
    }

    /// Whether more than one thread reads it.
    fn is_read_in_parallel(&self) -> bool {
        true
    }

    /// Bytes that it holds itself while it is read, beyond some blocks of text.
    fn memory(&self) -> f64 {
        0.0
    }

    /// Whether interactions have ratings.
    fn ratings(&self) -> Has {
        Has::No
    }

    /// Whether interactions have times.
    fn timestamps(&self) -> Has {
        Has::No
    }

    /// Whether rejected rows are kept and counted.
    fn skips(&self) -> bool {
        false
    }

    /// Sets `on_bad_row: skip`; gives whether the source has such a setting.
    fn skip_bad_rows(&mut self) -> bool {
        false
    }
}

/// Makes the enum of all sources. A line is a source: its words, and its settings, whose name in kebab-case is the `format` of sweep files.
macro_rules! sources {
    ($($(#[$words:meta])* $source:ident,)+) => {
        /// `source` in a sweep file, by its `format`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Source {
            $($(#[$words])* $source($source),)+
        }

        impl Source {
            /// How each source is recognised; of several that recognise a file the last one counts.
            const RECOGNISED: &[fn(&Beginning) -> Result<Option<Self>>] =
                &[$(|beginning| Ok(<$source as SourceKind>::recognise(beginning)?.map(Self::$source)),)+];

            fn kind(&self) -> &dyn SourceKind {
                match self {
                    $(Self::$source(source) => source,)+
                }
            }

            fn kind_mut(&mut self) -> &mut dyn SourceKind {
                match self {
                    $(Self::$source(source) => source,)+
                }
            }
        }
    };
}

sources! {
    /// Text with any separator.
    Delimited,
    /// MovieLens' own rating files.
    Movielens,
    /// RecBole's atomic files.
    Recbole,
    /// Parquet files.
    Parquet,
    /// An object of JSON on each line.
    JsonLines,
    /// Files that come split.
    Splits,
    /// A user and all their items on each line.
    Adjacency,
    /// A seeded generator.
    Synthetic,
}

/// Whether a source has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Has {
    Yes,
    No,
    /// The source's header tells.
    Perhaps,
}

impl Source {
    /// The source that a file, a folder with `/` at its end or a pattern holds, by the beginning of its first file.
    ///
    /// # Errors
    /// A file that cannot be read, whose format is not known, or whose columns cannot be told apart.
    pub fn recognise(path: &str, known: KnownColumns) -> Result<Self> {
        let beginning = Beginning::read(path, known)?;
        for recognise in Self::RECOGNISED.iter().rev() {
            if let Some(source) = recognise(&beginning)? {
                return Ok(source);
            }
        }
        let expected =
            "expected lines of fields, such as `user,item,rating,timestamp`, JSON on each line, Parquet, or a .inter file of RecBole";
        let found = beginning.strangeness().unwrap_or("it has no lines of users and items");
        Err(Error::file(&beginning.at, format!("{found} ({expected})")))
    }

    /// The format in words: "text separated by `,` without names", or its name in sweep files.
    pub fn words(&self) -> String {
        self.kind().words().unwrap_or_else(|| format!("`{}`", dataset::quote::kind(self)))
    }

    /// Whether the columns of its file have names, or the format needs none.
    pub fn has_names(&self) -> bool {
        self.kind().has_names()
    }

    /// Has rows that cannot be read left out (`on_bad_row: skip`); gives whether the format has such a setting.
    pub fn skip_bad_rows(&mut self) -> bool {
        self.kind_mut().skip_bad_rows()
    }

    /// The parts that the source comes in; train alone for a source that is not split.
    pub fn parts(&self) -> Vec<Split> {
        let files = self.kind().files();
        let has = |part: Split| part == Split::Train || files.iter().any(|&(_, of, _)| of == part);
        [Split::Train, Split::Validation, Split::Test].into_iter().filter(|&part| has(part)).collect()
    }

    /// Whether the source comes split.
    pub fn is_split(&self) -> bool {
        self.parts().contains(&Split::Test)
    }

    /// The raw files, each with its key below the dataset's entry in the sweep file.
    pub fn files(&self) -> Vec<(&'static str, &str)> {
        self.kind().files().into_iter().map(|(key, _, path)| (key, path)).collect()
    }

    /// The places of the raw files, of those paths that lead to some; of a file in an archive also that of the archive.
    pub fn places(&self) -> Vec<Location> {
        let found = self.files().into_iter().filter_map(|(key, path)| files::all(key, path).ok()).flatten();
        found.flat_map(|at| at.split_after(archive::SUFFIX).map(|(archive, _)| archive).into_iter().chain([at])).collect()
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.kind().check()
    }

    /// Reads one part; every row goes to one of `sinks`.
    pub(crate) fn read(&self, part: Split, sinks: &dyn Sinks) -> Result<()> {
        self.kind().read(part, sinks)
    }

    /// About how many rows a part has; of a file with lines, by its size and its first lines.
    pub(crate) fn rows(&self, part: Split) -> Result<u64> {
        self.kind().rows(part)
    }

    /// How many of so many threads read it.
    pub(crate) fn readers(&self, threads: usize) -> usize {
        if self.kind().is_read_in_parallel() { threads.max(1) } else { 1 }
    }

    /// Bytes that it holds itself while it is read, beyond some blocks of text.
    pub(crate) fn memory(&self) -> f64 {
        self.kind().memory()
    }

    pub(crate) fn revision(&self) -> u32 {
        self.kind().revision()
    }

    pub(crate) fn ratings(&self) -> Has {
        self.kind().ratings()
    }

    pub(crate) fn timestamps(&self) -> Has {
        self.kind().timestamps()
    }

    /// Whether rejected rows are kept and counted.
    pub(crate) fn skips(&self) -> bool {
        self.kind().skips()
    }
}

impl From<bool> for Has {
    fn from(has: bool) -> Self {
        if has { Self::Yes } else { Self::No }
    }
}
