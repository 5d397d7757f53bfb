//! Parquet tables at a location. The same batch always gives the same bytes.

use crate::{Error, Location, Result};
use arrow::{
    array::{ArrayRef, RecordBatch},
    compute::concat_batches,
    datatypes::SchemaRef,
};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};

/// The writer's settings, shared by all tables of the project.
pub fn writer_properties() -> WriterProperties {
    let level = ZstdLevel::try_new(3).expect("3 is a level of zstd");
    WriterProperties::builder().set_compression(Compression::ZSTD(level)).set_created_by("ranksweep".to_owned()).build()
}

/// A column of a table that is being written: its name, its values, and whether nulls may occur.
pub type Column = (&'static str, ArrayRef, bool);

/// A batch of columns.
///
/// # Panics
/// When the columns differ in length, or one has nulls that it may not have.
pub fn batch(columns: Vec<Column>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns come from the same rows, and have nulls only where announced")
}

/// A batch as the bytes of a Parquet file.
///
/// # Errors
/// [`Error::Content`] for a column type that Parquet cannot hold.
pub fn encode(batch: &RecordBatch) -> Result<Vec<u8>> {
    let failed = |error: parquet::errors::ParquetError| Error::content("table", error);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(writer_properties())).map_err(failed)?;
    writer.write(batch).map_err(failed)?;
    writer.into_inner().map_err(failed)
}

/// Writes one batch as a Parquet file, atomically.
///
/// # Errors
/// [`Error::Store`] when it cannot be stored.
pub fn write(at: &Location, batch: &RecordBatch) -> Result<()> {
    at.write(encode(batch)?)
}

/// Reads a whole Parquet file as one batch.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Store`], or [`Error::Content`] when it is no Parquet file.
pub fn read(at: &Location) -> Result<RecordBatch> {
    decode(at.read()?, at)
}

/// Decodes the bytes of a Parquet file; `at` names it in errors.
///
/// # Errors
/// [`Error::Content`] when the bytes are no Parquet file.
pub fn decode(bytes: bytes::Bytes, at: &Location) -> Result<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).and_then(|builder| {
        let schema: SchemaRef = builder.schema().clone();
        Ok((schema, builder.build()?))
    });
    let (schema, reader) = reader.map_err(|error| broken(at, error))?;
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().map_err(|error| broken(at, error))?;
    concat_batches(&schema, &batches).map_err(|error| broken(at, error))
}

fn broken(at: &Location, error: impl std::fmt::Display) -> Error {
    Error::content(at, format!("{error}; delete its folder and run again"))
}

/// A column by name and type, of a batch read from `at`.
///
/// # Errors
/// [`Error::Content`] when it is missing or of another type.
pub fn column<'a, T: 'static>(batch: &'a RecordBatch, name: &str, at: &Location) -> Result<&'a T> {
    let column = batch.column_by_name(name).ok_or_else(|| {
        let columns: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        Error::content(at, format!("no column `{name}` among {}", columns.join(", ")))
    })?;
    column
        .as_any()
        .downcast_ref::<T>()
        .ok_or_else(|| Error::content(at, format!("column `{name}` has the unexpected type {}", column.data_type())))
}
