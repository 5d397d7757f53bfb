//! `rejected.tsv`: the rows that `on_bad_row: skip` left out.
//!
//! ```text
//! line <TAB> reason <TAB> raw
//! ```
//! `line` is that on which the row starts, of Parquet the row itself, from 1. `raw` is the row as it stands in the source, of Parquet its values with tabs between, with `\t`, `\n`, `\r` and `\\` for tabs, line ends and backslashes.

use crate::{Error, Limits, Result, scratch_folder::ScratchFolder, source::Rejected};
use dataset::Location;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
};

/// The file's name.
pub(crate) const REJECTED: &str = "rejected.tsv";

/// A file in a scratch folder of its own.
struct RejectedFile {
    folder: ScratchFolder,
    writer: BufWriter<File>,
}

/// Rejected rows, in a scratch file.
pub(crate) struct RejectedRows {
    folder: PathBuf,
    file: Option<RejectedFile>,
    pub(crate) count: usize,
    /// The first one, in words.
    pub(crate) first: String,
}

impl RejectedRows {
    /// No rejected rows so far.
    pub(crate) fn new(limits: &Limits) -> Result<Self> {
        Ok(Self { folder: limits.scratch_folder()?, file: None, count: 0, first: String::new() })
    }

    pub(crate) fn add(&mut self, rejected: Rejected<'_>) -> Result<()> {
        if self.count == 0 {
            self.first = rejected.words();
        }
        self.count += 1;
        self.append(rejected).map_err(|source| self.failed(source))
    }

    /// Stores the rows, if there are any, once it is known what is left of the others: also where nothing is, for which they may be the reason.
    ///
    /// # Errors
    /// That of `left`, beside what was rejected where nothing is left; of the scratch file, or of the storage.
    pub(crate) fn store_beside<T>(self, left: Result<T>, at: &Location) -> Result<T> {
        match left {
            Ok(left) => self.store(at).map(|()| left),
            Err(error @ Error::Empty { .. }) if self.count > 0 => {
                let (rows, first) = (self.count, self.first.clone());
                let error = Error::EmptyAfterRejected { left: Box::new(error), rows, at: at.to_string(), first };
                self.store(at)?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    fn store(mut self, at: &Location) -> Result<()> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        file.writer.flush().map_err(|source| self.failed(source))?;
        Ok(at.upload(&file.folder.path().join(REJECTED))?)
    }

    fn append(&mut self, rejected: Rejected<'_>) -> io::Result<()> {
        if self.file.is_none() {
            let folder = ScratchFolder::new_in(&self.folder)?;
            let mut writer = BufWriter::new(File::create_new(folder.path().join(REJECTED))?);
            writer.write_all(b"line\treason\traw\n")?;
            self.file = Some(RejectedFile { folder, writer });
        }
        let file = self.file.as_mut().expect("made above");
        writeln!(file.writer, "{}\t{}\t{}", rejected.number, escaped(rejected.reason.as_bytes()), escaped(rejected.raw))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Scratch { folder: self.folder.display().to_string(), source }
    }
}

fn escaped(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}
