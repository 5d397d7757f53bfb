//! A table of a dataset in files of at most so many rows, in their order: `train.parquet`, `train-2.parquet`, `train-3.parquet`.
//!
//! No file of a large dataset grows without bound, and a reader holds the bytes of one at a time. Where a table has no rows there is one file all the same.

use crate::{FileEntry, Result, table::SortedFile};
use arrow::{array::ArrayRef, datatypes::DataType};
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// Rows of a file at most.
pub(crate) const FILE_ROWS: usize = 1 << 27;

/// The name of a table's file, by its place among them from 0.
pub(crate) fn file_name(table: &str, place: usize) -> String {
    match place {
        0 => format!("{table}.parquet"),
        _ => format!("{table}-{}.parquet", place + 1),
    }
}

/// The name of the file that every table has.
pub(crate) fn first_file(table: &str) -> String {
    file_name(table, 0)
}

/// The name of the table that a file of this name is of; `None` for a name that no file of a table has.
pub fn table_of(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".parquet")?;
    let later = name.rsplit_once('-').filter(|(_, place)| place.parse::<u32>().is_ok_and(|place| place > 1));
    Some(later.map_or(name, |(table, _)| table))
}

/// The rows of each file of a table.
pub(crate) fn ranges(rows: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows.max(1)).step_by(most).map(move |start| start..rows.min(start + most))
}

/// Files of this machine whose rows come bit by bit, in the order of their columns.
pub(crate) struct TableFiles {
    folder: PathBuf,
    table: &'static str,
    columns: Vec<(&'static str, DataType)>,
    most: usize,
    last: SortedFile,
    /// Rows of the last file.
    held: usize,
    full: Vec<FileEntry>,
}

impl TableFiles {
    /// Begins in a folder, with files of at most so many rows.
    pub(crate) fn create(folder: &Path, table: &'static str, columns: Vec<(&'static str, DataType)>, most: usize) -> Result<Self> {
        let last = SortedFile::create(&folder.join(file_name(table, 0)), &columns)?;
        Ok(Self { folder: folder.to_owned(), table, columns, most, last, held: 0, full: Vec::new() })
    }

    /// Takes the next rows: as many values of each column.
    pub(crate) fn push(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let rows = columns.first().map_or(0, |column| column.len());
        let mut start = 0;
        while start < rows {
            if self.held == self.most {
                let next = SortedFile::create(&self.folder.join(file_name(self.table, self.full.len() + 1)), &self.columns)?;
                self.full.push(std::mem::replace(&mut self.last, next).finish()?);
                self.held = 0;
            }
            let count = (rows - start).min(self.most - self.held);
            self.last.push(columns.iter().map(|column| column.slice(start, count)).collect())?;
            (start, self.held) = (start + count, self.held + count);
        }
        Ok(())
    }

    /// Writes what is left, and gives the files' names and what a marker says of them.
    pub(crate) fn finish(mut self) -> Result<Vec<(String, FileEntry)>> {
        self.full.push(self.last.finish()?);
        Ok(self.full.into_iter().enumerate().map(|(place, entry)| (file_name(self.table, place), entry)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_its_table() {
        for table in ["train", "fold-in"] {
            assert!((0..12).all(|place| table_of(&file_name(table, place)) == Some(table)));
        }
        assert_eq!(["train-1.parquet", "train-b.parquet", "train.tsv"].map(table_of), [Some("train-1"), Some("train-b"), None]);
    }
}
