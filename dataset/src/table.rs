//! Parquet tables at a location. The same batch always gives the same bytes.

use crate::{Error, FileEntry, Location, Result, panics, quote};
use arrow::{
    array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchReader, StringArray},
    compute::{cast, concat, concat_batches},
    datatypes::{DataType, Field, FieldRef, Float64Type, Schema, SchemaRef},
};
use bytes::Bytes;
use parquet::{
    arrow::{
        ArrowWriter, ProjectionMask,
        arrow_reader::ParquetRecordBatchReaderBuilder,
        arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves},
    },
    basic::{Compression, Encoding, ZstdLevel},
    errors::ParquetError,
    file::{
        metadata::KeyValue,
        properties::{WriterProperties, WriterPropertiesBuilder},
        writer::SerializedFileWriter,
    },
    schema::types::ColumnPath,
};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    ops::Range,
    path::Path,
    sync::Arc,
};

/// Rows of a group, which is encoded by itself.
const GROUP: usize = 1 << 20;
/// Rows that are made at a time; a multiple of the writer's batches, so that it makes no difference to the bytes.
const PIECE: usize = 1 << 14;
/// Rows that are decoded at a time.
const BATCH: usize = 1 << 16;
/// Bytes that any table may take when it is decoded, and how many times its size a large one.
const LEAST_BOUND: usize = 512 << 20;
const MOST_EXPANSION: usize = 1_000;

/// The writer's settings, shared by all tables of the project.
pub fn writer_properties() -> WriterProperties {
    properties().build()
}

fn properties() -> WriterPropertiesBuilder {
    let level = ZstdLevel::try_new(3).expect("3 is a level of zstd");
    WriterProperties::builder().set_compression(Compression::ZSTD(level)).set_created_by("ranksweep".to_owned())
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
    encode_by(batch, writer_properties())
}

fn encode_by(batch: &RecordBatch, properties: WriterProperties) -> Result<Vec<u8>> {
    let failed = |error: parquet::errors::ParquetError| Error::content("table", error);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).map_err(failed)?;
    writer.write(batch).map_err(failed)?;
    writer.into_inner().map_err(failed)
}

/// A column that is made while it is written: its name, and its values in a range of rows, none of them null.
pub type Made<'a> = (&'static str, &'a (dyn Fn(Range<usize>) -> ArrayRef + Sync));

/// Some of the rows that columns can make, which are in the order of the columns, as the bytes of a Parquet file, smaller and sooner than by [`encode`]: values are stored as
/// differences from those before them, and several threads share the work. Beside the bytes it takes little, for any number of rows.
///
/// # Errors
/// [`Error::Content`] for a column type that Parquet cannot hold.
pub fn encode_sorted(rows: Range<usize>, columns: &[Made<'_>]) -> Result<Vec<u8>> {
    encode_groups(rows, columns).map_err(|error| Error::content("table", error))
}

fn encode_groups(rows: Range<usize>, columns: &[Made<'_>]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(|(name, values)| Field::new(*name, values(0..0).data_type().clone(), false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let (mut file, factory) =
        ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(differences(&schema)))?.into_serialized_writer()?;
    let groups: Vec<_> = rows.clone().step_by(GROUP).map(|start| start..rows.end.min(start + GROUP)).collect();
    let encode = |(place, group): (usize, &Range<usize>)| encode_group(group, columns, &schema, factory.create_column_writers(place)?);
    for columns in groups.par_iter().enumerate().map(encode).collect::<Result<Vec<_>, _>>()? {
        append_group(&mut file, columns)?;
    }
    file.into_inner()
}

fn append_group<W: Write + Send>(file: &mut SerializedFileWriter<W>, columns: Vec<ArrowColumnChunk>) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    columns.into_iter().try_for_each(|column| column.append_to_row_group(&mut group))?;
    group.close().map(|_| ())
}

/// A Parquet file of this machine whose rows come bit by bit, in the order of their columns: the bytes of [`encode_sorted`] of all of them. At
/// most the rows of one group are held in memory.
pub struct SortedFile {
    file: SerializedFileWriter<Summed>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    names: Vec<&'static str>,
    waiting: Vec<Vec<ArrayRef>>,
    held: usize,
    groups: usize,
}

impl SortedFile {
    /// An empty file with columns of these names and types, none of whose values is null.
    ///
    /// # Errors
    /// [`Error::Store`] when it cannot be made; [`Error::Content`] for a column type that Parquet cannot hold.
    pub fn create(path: &Path, columns: &[(&'static str, DataType)]) -> Result<Self> {
        let file = File::create(path).map_err(|error| Error::store("write", path.display(), &error))?;
        let fields = columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let begin = || ArrowWriter::try_new(Summed::new(file), Arc::clone(&schema), Some(differences(&schema)))?.into_serialized_writer();
        let (file, factory) = begin().map_err(|error| Error::content(path.display(), error))?;
        let (names, waiting) = (columns.iter().map(|(name, _)| *name).collect(), vec![Vec::new(); columns.len()]);
        Ok(Self { file, factory, schema, names, waiting, held: 0, groups: 0 })
    }

    /// Takes the next rows: as many values of each column, in the order of [`create`](Self::create).
    ///
    /// # Errors
    /// [`Error::Content`] when the disk does not take them.
    pub fn push(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        self.held += columns.first().map_or(0, |column| column.len());
        self.waiting.iter_mut().zip(columns).for_each(|(waiting, column)| waiting.push(column));
        self.write_groups(GROUP).map_err(|error| Error::content("table", error))
    }

    /// Writes what is left, and gives what a marker says of the file.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn finish(mut self) -> Result<FileEntry> {
        let finish = || {
            self.write_groups(1)?;
            Ok(self.file.into_inner()?.finish()?)
        };
        finish().map_err(|error: ParquetError| Error::content("table", error))
    }

    /// Writes full groups, and the rest too where it has at least so many rows.
    fn write_groups(&mut self, least: usize) -> Result<(), ParquetError> {
        if self.held < least {
            return Ok(());
        }
        let all = |waiting: &Vec<ArrayRef>| concat(&waiting.iter().map(|array| &**array).collect::<Vec<_>>());
        let whole: Vec<ArrayRef> = self.waiting.iter().map(all).collect::<Result<_, _>>()?;
        let mut written = 0;
        while self.held - written >= least {
            let group = written..self.held.min(written + GROUP);
            let values: Vec<_> = whole.iter().map(|column| |rows: Range<usize>| column.slice(rows.start, rows.len())).collect();
            let columns: Vec<Made<'_>> = self.names.iter().zip(&values).map(|(name, values)| (*name, values as _)).collect();
            let writers = self.factory.create_column_writers(self.groups)?;
            append_group(&mut self.file, encode_group(&group, &columns, &self.schema, writers)?)?;
            (written, self.groups) = (group.end, self.groups + 1);
        }
        self.held -= written;
        let rest = whole.iter().map(|column| vec![column.slice(written, self.held)]);
        self.waiting = rest.collect();
        Ok(())
    }
}

/// A file, and the sum of what was written into it.
struct Summed {
    file: BufWriter<File>,
    sum: Sha256,
    bytes: u64,
}

impl Summed {
    fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), sum: Sha256::new(), bytes: 0 }
    }

    fn finish(mut self) -> io::Result<FileEntry> {
        self.file.flush()?;
        Ok(FileEntry { bytes: self.bytes, sha256: hex::encode(self.sum.finalize()) })
    }
}

impl Write for Summed {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        let written = self.file.write(content)?;
        self.sum.update(&content[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn encode_group(
    group: &Range<usize>,
    columns: &[Made<'_>],
    schema: &Schema,
    writers: Vec<ArrowColumnWriter>,
) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
    let encode = |((mut writer, field), (_, values)): ((ArrowColumnWriter, &FieldRef), &Made<'_>)| {
        for start in group.clone().step_by(PIECE) {
            let piece = values(start..group.end.min(start + PIECE));
            compute_leaves(field, &piece)?.iter().try_for_each(|leaf| writer.write(leaf))?;
        }
        writer.close()
    };
    writers.into_par_iter().zip(&schema.fields()[..]).zip(columns).map(encode).collect()
}

fn differences(schema: &Schema) -> WriterProperties {
    let encoding = |field: &Field| if field.data_type().is_integer() { Encoding::DELTA_BINARY_PACKED } else { Encoding::DELTA_BYTE_ARRAY };
    let columns = schema.fields().iter();
    columns
        .fold(properties().set_dictionary_enabled(false), |properties, field| {
            properties.set_column_encoding(ColumnPath::from(field.name().clone()), encoding(field))
        })
        .build()
}

/// Writes one batch as a Parquet file, atomically; gives what a marker says of it. The file's metadata says what the location
/// [knows](Location::originating) of where its tables come from.
///
/// # Errors
/// [`Error::Store`] when it cannot be stored.
pub fn write(at: &Location, batch: &RecordBatch) -> Result<FileEntry> {
    let origin: Vec<KeyValue> = at.origin().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    let content = encode_by(batch, properties().set_key_value_metadata(Some(origin).filter(|entries| !entries.is_empty())).build())?;
    let entry = FileEntry::of(&content);
    at.write(content)?;
    Ok(entry)
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
pub fn decode(bytes: Bytes, at: &Location) -> Result<RecordBatch> {
    decode_whole(bytes).map_err(|error| broken(at, error))
}

/// Decodes the columns of these names, where they are there, as batches of rows one after the other; `at` names the file in errors.
///
/// # Errors
/// As for [`decode`].
pub fn decode_columns(bytes: Bytes, names: &[&str], at: &Location) -> Result<Vec<RecordBatch>> {
    caught(|| decode_bounded(bytes, Some(names))).map(|(_, batches)| batches).map_err(|error| broken(at, error))
}

/// Decodes the bytes of a Parquet file that another program wrote.
///
/// # Errors
/// In words: bytes that are no Parquet file.
pub fn decode_foreign(bytes: Bytes) -> Result<RecordBatch, String> {
    decode_whole(bytes)
}

/// A column of another program's table as texts: whole numbers as they are written.
///
/// # Errors
/// In words: nulls, numbers with fractions, or too large to be exact, and what is no text.
///
/// # Panics
/// When there are fewer columns.
pub fn texts(batch: &RecordBatch, place: usize) -> Result<StringArray, String> {
    let texts = texts_or_null(batch, place)?;
    match texts.null_count() {
        0 => Ok(texts),
        nulls => Err(format!("the column `{}` has {nulls} nulls", quote::value(batch.schema().field(place).name()))),
    }
}

/// A number of a column of floats that is no id or rank.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{number} in row {} {}", .row + 1, self.reason())]
pub struct NotWhole {
    /// Counted from 0.
    pub row: usize,
    /// The number.
    pub number: f64,
}

impl NotWhole {
    /// What is wrong, and what was expected of ids.
    pub fn reason(&self) -> &'static str {
        match self.number.fract() == 0.0 {
            true => "is too large to be exact as a float (expected text, or whole numbers as integers, as ids)",
            false => "is not a whole number (expected text or whole numbers as ids)",
        }
    }
}

/// Numbers as texts, nulls as nulls: those that are whole, and so small that a float of this column's type is exact. pandas makes whole numbers floats where one is missing.
///
/// # Errors
/// The first that is not so.
///
/// # Panics
/// When the column is not of floats.
pub fn whole_texts(column: &ArrayRef) -> Result<StringArray, NotWhole> {
    let (texts, others) = whole_texts_and_others(column);
    others.first().map_or(Ok(texts), |&first| Err(first))
}

/// As [`whole_texts`], with nulls for the numbers that are not so; these beside the texts, in the order of their rows.
///
/// # Panics
/// When the column is not of floats.
pub fn whole_texts_and_others(column: &ArrayRef) -> (StringArray, Vec<NotWhole>) {
    // Whole numbers below two to the power of these bits are told apart by a float of the type.
    let bits = match column.data_type() {
        DataType::Float64 => 53,
        DataType::Float32 => 24,
        DataType::Float16 => 11,
        other => panic!("a column of {other}"),
    };
    let numbers = cast(column, &DataType::Float64).expect("a number fits a longer one");
    let numbers = numbers.as_primitive::<Float64Type>();
    let is_exact = |number: f64| number.fract() == 0.0 && number.abs() < 2f64.powi(bits);
    let texts = numbers.iter().map(|number| number.filter(|&number| is_exact(number)).map(|number| (number as i64).to_string()));
    let others = numbers.iter().enumerate().filter_map(|(row, number)| number.map(|number| NotWhole { row, number }));
    (texts.collect(), others.filter(|other| !is_exact(other.number)).collect())
}

/// A column of another program's table as texts: whole numbers as they are written, nulls as nulls.
///
/// # Errors
/// In words: numbers with fractions, or too large to be exact, and what is no text.
///
/// # Panics
/// When there are fewer columns.
pub fn texts_or_null(batch: &RecordBatch, place: usize) -> Result<StringArray, String> {
    let (column, schema) = (batch.column(place), batch.schema());
    let name = quote::value(schema.field(place).name()).into_owned();
    if column.data_type().is_floating() {
        return whole_texts(column).map_err(|not_whole| format!("the column `{name}`: {not_whole}"));
    }
    let cast = cast(column, &DataType::Utf8).map_err(|error| format!("the column `{name}` is no text: {error}"))?;
    Ok(cast.as_any().downcast_ref::<StringArray>().expect("what was cast to text").clone())
}

fn decode_whole(bytes: Bytes) -> Result<RecordBatch, String> {
    caught(|| {
        let (schema, batches) = decode_bounded(bytes, None)?;
        concat_batches(&schema, &batches).map_err(|error| error.to_string())
    })
}

/// The decoder trusts lengths and offsets in the file, and panics where they lead nowhere.
fn caught<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    panics::caught(decode).unwrap_or_else(|_| Err("its content contradicts itself".to_owned()))
}

/// Decodes batch by batch, up to so many bytes: a few bytes can stand for any number of equal rows.
fn decode_bounded(bytes: Bytes, names: Option<&[&str]>) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
    let most = LEAST_BOUND.max(bytes.len().saturating_mul(MOST_EXPANSION));
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).map_err(|error| error.to_string())?;
    let mask = names.map_or_else(ProjectionMask::all, |names| ProjectionMask::columns(builder.parquet_schema(), names.iter().copied()));
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(|error| error.to_string())?;
    let schema: SchemaRef = reader.schema();
    let (mut batches, mut held) = (Vec::new(), 0);
    for batch in reader {
        let batch = batch.map_err(|error| error.to_string())?;
        held += batch.get_array_memory_size();
        if held > most {
            return Err(format!("it expands to more than {} MiB, which no table of its size does", most >> 20));
        }
        batches.push(batch);
    }
    Ok((schema, batches))
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
        Error::content(at, format!("no column `{name}` among {}", quote::names(&columns)))
    })?;
    column
        .as_any()
        .downcast_ref::<T>()
        .ok_or_else(|| Error::content(at, format!("column `{name}` has the unexpected type {}", column.data_type())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{StringArray, UInt32Array};

    #[test]
    fn sorted_batches_of_several_groups_are_read() {
        let rows = 2 * GROUP as u32 + 7;
        let users = UInt32Array::from_iter_values((0..rows).map(|row| row / 30));
        let items = UInt32Array::from_iter_values((0..rows).map(|row| row % 30 * 1_000 + row % 999));
        let own = StringArray::from_iter_values((0..rows).map(|row| format!("id-{row:07}")));
        let whole = &batch(vec![("user", Arc::new(users), false), ("item", Arc::new(items), false), ("own", Arc::new(own), false)]);
        let at = Location::parse("memory:///tables/sorted").unwrap();
        for count in [0, 1, GROUP, whole.num_rows()] {
            let part = whole.slice(0, count);
            let column = |place: usize| move |rows: Range<usize>| whole.column(place).slice(rows.start, rows.len());
            let encoded = encode_sorted(0..count, &[("user", &column(0)), ("item", &column(1)), ("own", &column(2))]).unwrap();
            assert!(decode(encoded.into(), &at).unwrap() == part, "{count} rows");
        }
    }

    /// Runs that end before, at and after the ends of groups.
    #[test]
    fn rows_that_come_bit_by_bit_give_the_same_bytes() {
        let rows = 2 * GROUP + 7;
        let values = |rows: Range<usize>| Arc::new(UInt32Array::from_iter_values(rows.map(|row| row as u32 / 30 * 7))) as ArrayRef;
        let own = |rows: Range<usize>| Arc::new(StringArray::from_iter_values(rows.map(|row| format!("id-{row:07}")))) as ArrayRef;
        let expected = encode_sorted(0..rows, &[("user", &values), ("own", &own)]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for ends in [&[rows][..], &[1, GROUP - 1, GROUP, 2 * GROUP + 1, rows], &[GROUP / 3, GROUP / 3, 2 * GROUP, rows]] {
            let path = folder.path().join("sorted.parquet");
            let mut file = SortedFile::create(&path, &[("user", DataType::UInt32), ("own", DataType::Utf8)]).unwrap();
            let mut start = 0;
            for &end in ends {
                file.push(vec![values(start..end), own(start..end)]).unwrap();
                start = end;
            }
            let entry = file.finish().unwrap();
            let found = std::fs::read(&path).unwrap();
            assert!(found == expected && entry.describes(&expected), "{ends:?}");
        }
        let empty = SortedFile::create(&folder.path().join("empty"), &[("user", DataType::UInt32)]).unwrap().finish().unwrap();
        assert!(empty.describes(&encode_sorted(0..0, &[("user", &values)]).unwrap()));
    }

    #[test]
    fn a_table_whose_lengths_lead_nowhere_is_an_error_and_no_panic() {
        let ids = StringArray::from_iter_values((0..500).map(|row| format!("id-{row}")));
        let numbers = UInt32Array::from_iter_values(0..500);
        let whole = encode(&batch(vec![("own", Arc::new(ids), false), ("number", Arc::new(numbers), false)])).unwrap();
        let at = Location::parse("memory:///tables/lying").unwrap();
        for place in 0..whole.len() {
            for flip in [0x01, 0x10, 0x80, 0xff] {
                let mut lying = whole.clone();
                lying[place] ^= flip;
                if let Err(error) = decode(lying.into(), &at) {
                    assert!(error.to_string().ends_with("delete its folder and run again"), "{error}");
                }
            }
        }
    }

    #[test]
    fn a_few_bytes_do_not_become_gigabytes() {
        let text = "x".repeat(1 << 16);
        let rows = StringArray::from_iter_values((0..9_000).map(|_| &text));
        let bytes = encode(&batch(vec![("text", Arc::new(rows), false)])).unwrap();
        assert!(bytes.len() < 1 << 20, "{}", bytes.len());
        let at = Location::parse("memory:///tables/bomb").unwrap();
        let message = decode(bytes.into(), &at).unwrap_err().to_string();
        assert!(message.contains("it expands to more than 512 MiB"), "{message}");
    }
}
