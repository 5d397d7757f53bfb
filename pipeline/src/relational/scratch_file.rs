//! A file of a relation that is written here, and not by DataFusion.

use super::workspace::{Relation, Workspace};
use crate::Result;
use arrow::array::{ArrayRef, RecordBatch};
use datafusion::{
    config::{ParquetColumnOptions, TableParquetOptions},
    parquet::{
        arrow::ArrowWriter,
        basic::Compression,
        errors::ParquetError,
        file::properties::{EnabledStatistics, WriterProperties},
        schema::types::ColumnPath,
    },
};
use std::{fs::File, io, mem, path::PathBuf, sync::Arc};

/// The column that has the same value in nearly all rows, which are stored as how many they are.
const PART: &str = "part";

/// One file of a relation. It is made when the first rows come.
pub(super) struct ScratchFile {
    relation: Relation,
    number: usize,
    rows: usize,
    writer: Option<ArrowWriter<File>>,
}

impl ScratchFile {
    /// The file of this number.
    pub(super) fn new(relation: Relation, number: usize) -> Self {
        Self { relation, number, rows: 0, writer: None }
    }

    /// Writes rows, by the relation's columns.
    pub(super) fn write(&mut self, workspace: &Workspace, columns: Vec<ArrayRef>) -> Result<()> {
        let batch = RecordBatch::try_new(Arc::new(self.relation.schema()), columns).expect("columns of the relation, of one length");
        if batch.num_rows() == 0 {
            return Ok(());
        }
        if self.writer.is_none() {
            self.writer = Some(self.create(workspace)?);
        }
        let writer = self.writer.as_mut().expect("made above");
        writer.write(&batch).map_err(|error| workspace.in_scratch(in_words(error)))?;
        self.rows += batch.num_rows();
        if self.rows >= workspace.rows_of_a_file(self.relation) { self.complete(workspace) } else { Ok(()) }
    }

    /// Completes the file.
    pub(super) fn finish(mut self, workspace: &Workspace) -> Result<()> {
        self.complete(workspace)
    }

    /// Ends what is written, and hands it over; what comes then is another file.
    fn complete(&mut self, workspace: &Workspace) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        writer.close().map_err(|error| workspace.in_scratch(in_words(error)))?;
        workspace.add(self.relation, &self.path(workspace)?, mem::take(&mut self.rows))
    }

    fn path(&self, workspace: &Workspace) -> Result<PathBuf> {
        Ok(workspace.folder(self.relation)?.join(format!("{}.parquet", self.number)))
    }

    fn create(&self, workspace: &Workspace) -> Result<ArrowWriter<File>> {
        let file = File::create(self.path(workspace)?).map_err(|error| workspace.in_scratch(error))?;
        ArrowWriter::try_new(file, Arc::new(self.relation.schema()), Some(properties(workspace.rows_of_a_group(self.relation))))
            .map_err(|error| workspace.in_scratch(in_words(error)))
    }
}

/// How relations are written: as they are. Most of their bytes are hashes, of which Snappy saves a sixth while a preparation takes an eighth longer.
pub(super) fn properties(group: usize) -> WriterProperties {
    WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_column_dictionary_enabled(ColumnPath::from(PART), true)
        .set_statistics_enabled(EnabledStatistics::None)
        .build()
}

/// The same, for what DataFusion writes.
pub(super) fn options(group: usize) -> TableParquetOptions {
    let mut options = TableParquetOptions::new();
    options.global.max_row_group_size = group;
    options.global.compression = Some("uncompressed".to_owned());
    options.global.statistics_enabled = Some("none".to_owned());
    options.global.dictionary_enabled = Some(false);
    let repeated = ParquetColumnOptions { dictionary_enabled: Some(true), ..ParquetColumnOptions::default() };
    options.column_specific_options.insert(PART.to_owned(), repeated);
    options
}

/// The disk's error, where it is one.
pub(super) fn in_words(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => cause.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    }
}
