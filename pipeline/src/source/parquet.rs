//! Parquet files, scanned by DataFusion: large ones by several threads, each of some row groups that follow one another.
//!
//! Ids are text, whole numbers or UUIDs, ratings are numbers (of 32 bits as they are written: 4.1, not 4.099999904632568), timestamps are numbers, timestamps or dates, also as text. Text may be dictionary-encoded, as
//! the categories of pandas are.

mod values;

use super::{
    Has, SourceKind, archive,
    beginning::Beginning,
    columns::{Columns, NamedColumns},
    compression::{self, Compression},
    files, roles,
    row::{Rejected, Rows, Sink, Sinks},
    several::Several,
    text::OnBadRow,
};
use crate::{Error, Result, session, workers::in_threads};
use arrow::{
    array::RecordBatch,
    datatypes::{DataType, TimeUnit},
    util::display::{ArrayFormatter, FormatOptions},
};
use datafusion::{
    datasource::listing::ListingTableUrl,
    error::DataFusionError,
    execution::SendableRecordBatchStream,
    logical_expr::try_cast,
    prelude::{DataFrame, Expr, ParquetReadOptions, SessionConfig, cast, ident, lit},
};
use dataset::{Location, Split, block_on, panics, quote};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use values::{Fault, Faults, Texts, numbers};

/// `parquet` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parquet {
    /// The file, a folder with `/` at its end, or a pattern.
    pub path: String,
    /// Which columns hold what, by name.
    pub columns: NamedColumns,
    /// What to do with a row that cannot be used.
    // Left out where it is not set, so that what was prepared before there was such a key stays good.
    #[serde(default, skip_serializing_if = "OnBadRow::is_error")]
    pub on_bad_row: OnBadRow,
}

/// Bytes from which on a file is read by several threads.
const LARGE: usize = 1 << 20;
/// What a Parquet file begins with.
const MAGIC: &[u8] = b"PAR1";

impl SourceKind for Parquet {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        vec![("source.path", Split::Train, &self.path)]
    }

    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        if !beginning.bytes.starts_with(MAGIC) {
            return Ok(None);
        }
        let at = &beginning.at;
        check_plain(at)?;
        let frame = decoded(at, || block_on(scan(at, 1)))?.map_err(|error| unreadable(at, error))?;
        let names: Vec<String> = frame.schema().fields().iter().map(|field| field.name().clone()).collect();
        let columns = roles::by_name(at.name(), &names, &beginning.known)?;
        Ok(Some(Self { path: beginning.path.clone(), columns: columns.into_named(), on_bad_row: OnBadRow::default() }))
    }

    fn ratings(&self) -> Has {
        Has::from(self.columns.rating.is_some())
    }

    fn timestamps(&self) -> Has {
        Has::from(self.columns.timestamp.is_some())
    }

    fn check(&self) -> Result<()> {
        Columns::from(self.columns.clone()).check(true)
    }

    /// 1: timestamps and dates of a type are in seconds, and no longer in the unit of their file; 2 more: ratings of 32 bits are those that are written.
    fn revision(&self) -> u32 {
        u32::from(self.columns.timestamp.is_some()) + 2 * u32::from(self.columns.rating.is_some())
    }

    /// What is left out comes in the order of its rows.
    fn is_read_in_parallel(&self) -> bool {
        !self.skips()
    }

    fn skips(&self) -> bool {
        self.on_bad_row == OnBadRow::Skip
    }

    fn skip_bad_rows(&mut self) -> bool {
        self.on_bad_row = OnBadRow::Skip;
        true
    }

    fn read(&self, _part: Split, sinks: &dyn Sinks) -> Result<()> {
        let files = files::all("source.path", &self.path)?;
        Several::of(&files, sinks).read(|at, sinks| self.read_file(at, sinks))
    }

    fn rows(&self, _part: Split) -> Result<u64> {
        files::all("source.path", &self.path)?.iter().map(rows).sum()
    }
}

impl Parquet {
    fn read_file(&self, at: &Location, sinks: &dyn Sinks) -> Result<()> {
        check_plain(at)?;
        // DataFusion takes an empty file for a table without columns.
        if at.size()? == 0 {
            return Err(Error::file(at, "the file is empty; copy it again"));
        }
        let failed = |error: DataFusionError| unreadable(at, error);
        let threads = if self.is_read_in_parallel() { sinks.threads() } else { 1 };
        let frame = decoded(at, || block_on(scan(at, threads)))?.map_err(failed)?;
        let frame = frame.clone().select(self.selection(&frame, at)?).map_err(failed)?;
        let streams = decoded(at, || block_on(frame.execute_stream_partitioned()))?.map_err(failed)?;
        // The first stream that fails; those before it are read to their ends.
        let last = AtomicUsize::new(usize::MAX);
        let read = |place: usize, stream: SendableRecordBatchStream| {
            let read = self.read_stream(at, stream, sinks, || last.load(Ordering::Relaxed) < place);
            if read.is_err() {
                last.fetch_min(place, Ordering::Relaxed);
            }
            read
        };
        let mut before = 0;
        for read in in_threads(threads, streams, read) {
            before += read.map_err(|failure| failure.into_error(before, at, &self.names()))?;
        }
        Ok(())
    }

    /// Gives the rows of a stream; how many there were.
    fn read_stream(
        &self,
        at: &Location,
        mut stream: SendableRecordBatchStream,
        sinks: &dyn Sinks,
        is_over: impl Fn() -> bool,
    ) -> Result<usize, Failure> {
        let (mut sink, mut rows) = (sinks.sink(), 0);
        while !is_over() {
            let Some(batch) = decoded(at, || block_on(stream.next()))? else { break };
            let batch = batch.map_err(|error| unreadable(at, error))?;
            self.give(&batch, rows, sinks, &mut *sink)?;
            rows += batch.num_rows();
        }
        sink.finish()?;
        Ok(rows)
    }

    /// The columns that are read, in their order.
    fn names(&self) -> Vec<&String> {
        let NamedColumns { user, item, rating, timestamp } = &self.columns;
        [Some(user), Some(item), rating.as_ref(), timestamp.as_ref()].into_iter().flatten().collect()
    }

    /// The columns as text and 64-bit floats: user, item, and what is asked for of rating and timestamp.
    fn selection(&self, frame: &DataFrame, at: &Location) -> Result<Vec<Expr>> {
        let columns = &self.columns;
        let mut selection =
            vec![select(frame, ("user", &columns.user), Role::Id, at)?, select(frame, ("item", &columns.item), Role::Id, at)?];
        if let Some(rating) = &columns.rating {
            selection.push(select(frame, ("rating", rating), Role::Rating, at)?);
        }
        if let Some(timestamp) = &columns.timestamp {
            selection.push(select(frame, ("timestamp", timestamp), Role::Time, at)?);
        }
        Ok(selection)
    }

    /// Gives the rows of a batch, before which its stream had so many.
    fn give(&self, batch: &RecordBatch, before: usize, sinks: &dyn Sinks, sink: &mut dyn Sink) -> Result<(), Failure> {
        let (columns, last, mut faults) = (batch.columns(), batch.num_columns() - 1, Faults::default());
        let [user_texts, item_texts] = [0, 1].map(|column| Texts::of(&columns[column]));
        let (mut users, mut items) = (user_texts.ids(0, &mut faults), item_texts.ids(1, &mut faults));
        let mut number = |name: &Option<String>, column: usize| name.as_ref().map(|_| numbers(&columns[column], column, &mut faults));
        let (mut ratings, mut times) = (number(&self.columns.rating, 2), number(&self.columns.timestamp, last));
        if let Some((row, fault)) = faults.first() {
            if !self.skips() {
                return Err(Failure::Row { row: before + row, fault });
            }
            self.reject(batch, before, &faults, sinks)?;
            (users, items) = (faults.without(users), faults.without(items));
            (ratings, times) = (ratings.map(|all| faults.without(all)), times.map(|all| faults.without(all)));
        }
        Ok(sink.rows(Rows { users: &users, items: &items, ratings: ratings.as_deref(), times: times.as_deref() })?)
    }

    /// Gives the rows of a batch that are left out.
    fn reject(&self, batch: &RecordBatch, before: usize, faults: &Faults, sinks: &dyn Sinks) -> Result<()> {
        let (names, options) = (self.names(), FormatOptions::default());
        let texts = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let texts: Vec<_> = texts.collect::<Result<_, _>>().expect("columns of text, bytes and floats have texts");
        faults.iter().try_for_each(|(row, fault)| {
            let raw: Vec<String> = texts.iter().map(|text| text.value(row).to_string()).collect();
            let (number, reason) = ((before + row + 1) as u64, fault.words(&names));
            sinks.reject(Rejected { unit: "row", number, reason: &reason, raw: raw.join("\t").as_bytes() })
        })
    }
}

/// Why a stream of rows is not read to its end.
enum Failure {
    /// A row of the stream, from 0, that lacks a value.
    Row {
        row: usize,
        fault: Fault,
    },
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Failure {
    /// The error of a file, of which so many rows stand before the stream.
    fn into_error(self, before: usize, at: &Location, names: &[&String]) -> Error {
        match self {
            Self::Row { row, fault } => {
                let advice = "correct the row, or set `on_bad_row: skip`";
                Error::row(at, (before + row + 1) as u64, format!("{}; {advice}", fault.words(names)))
            }
            Self::Other(error) => error,
        }
    }
}

/// Parquet is read at any place, which a compressed file cannot be.
fn check_plain(at: &Location) -> Result<()> {
    let is_packed = match archive::through(at)? {
        Some(_) => true,
        None if at.size()? == 0 => false,
        None => {
            let first = at.beginning(compression::FIRST)?;
            let is_packed = archive::is(&first) || Compression::of(&first).is_some();
            if !is_packed && !first.starts_with(MAGIC) {
                return Err(Error::file(at, "it is no Parquet file, which would begin with `PAR1`; correct `format`, or copy it again"));
            }
            is_packed
        }
    };
    match is_packed {
        true => Err(Error::file(
            at,
            "a Parquet file cannot be read while it is compressed or in an archive (its columns are compressed); unpack it first",
        )),
        false => Ok(()),
    }
}

/// The number of a file's rows.
fn rows(at: &Location) -> Result<u64> {
    check_plain(at)?;
    let count = decoded(at, || block_on(async { scan(at, 1).await?.count().await }))?;
    count.map(|rows| rows as u64).map_err(|error| Error::query(format!("count the rows of {at}"), error))
}

/// What a decoder makes of the file; one that panics has met lengths or offsets that lead nowhere.
fn decoded<T>(at: &Location, decode: impl FnOnce() -> T) -> Result<T> {
    panics::caught(decode).map_err(|_| Error::file(at, "its content contradicts itself as Parquet; copy it again"))
}

fn unreadable(at: &Location, error: DataFusionError) -> Error {
    Error::query(format!("read {at} as Parquet; copy it again, or check its format"), error)
}

/// The file as a table, in the order of its rows: in so many partitions where it is large.
async fn scan(at: &Location, partitions: usize) -> Result<DataFrame, DataFusionError> {
    // Partitions are runs of rows: none that are dealt out.
    let mut config = SessionConfig::new().with_target_partitions(partitions.max(1)).with_round_robin_repartition(false);
    config.options_mut().optimizer.repartition_file_min_size = LARGE;
    // Each partition reads its own run, so that rows have the numbers of their places.
    config.options_mut().execution.enable_file_stream_work_stealing = false;
    let session = session::local(config, Arc::default());
    let (store, path) = at.store();
    let mut url = ListingTableUrl::parse("source://file/")?.get_url().clone();
    session.register_object_store(&url, store);
    // A step at a time, so that `#`, `?` and `%` in a name are encoded.
    url.path_segments_mut().expect("a URL with a host has a path").pop_if_empty().extend(path.parts());
    let options = ParquetReadOptions { file_extension: "", ..ParquetReadOptions::default() };
    session.read_parquet(url.as_str(), options).await
}

#[derive(Clone, Copy)]
enum Role {
    Id,
    Rating,
    Time,
}

/// A column by its key in `columns` and its exact name, in the one type that its role has here.
fn select(frame: &DataFrame, (key, name): (&str, &str), role: Role, at: &Location) -> Result<Expr> {
    let fields = frame.schema().fields();
    let Some(field) = fields.iter().find(|field| field.name() == name) else {
        let present: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
        return Err(Error::column(
            key,
            at,
            format!("no column `{}` ({key}); its {} columns are {}", quote::value(name), present.len(), quote::names(&present)),
        ));
    };
    let of = match field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    };
    let temporal = matches!(of, DataType::Timestamp(..) | DataType::Date32 | DataType::Date64);
    // Warehouses have no other whole numbers.
    let whole_decimal =
        matches!(of, DataType::Decimal32(_, 0) | DataType::Decimal64(_, 0) | DataType::Decimal128(_, 0) | DataType::Decimal256(_, 0));
    // As some writers have text; what is none is null then.
    let is_bytes = matches!(of, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    let is_uuid = matches!(of, DataType::FixedSizeBinary(UUID_BYTES));
    let (fits, expected) = match role {
        Role::Id => {
            (of.is_integer() || of.is_string() || is_bytes || is_uuid || of.is_floating() || whole_decimal, "text, whole numbers or UUIDs")
        }
        Role::Rating => (of.is_numeric() || of.is_string() || matches!(of, DataType::Boolean), "numbers"),
        Role::Time => (of.is_numeric() || of.is_string() || temporal, "numbers, timestamps or dates"),
    };
    if !fits {
        return Err(Error::file(at, format!("column `{}` is of type {of} (expected {expected})", quote::value(name))));
    }
    let column = ident(name);
    Ok(match role {
        // Whether they are whole numbers is seen row by row.
        Role::Id if of.is_floating() || is_uuid => cast(column, of.clone()),
        Role::Id if is_bytes => try_cast(column, DataType::Utf8),
        Role::Rating if of.is_string() => try_cast(cast(column, DataType::Utf8), DataType::Float64),
        Role::Id => cast(column, DataType::Utf8),
        Role::Rating if matches!(of, DataType::Float16 | DataType::Float32) => cast(cast(column, DataType::Utf8), DataType::Float64),
        Role::Time if of.is_string() => cast(column, DataType::Utf8),
        Role::Time if matches!(of, DataType::Date32) => cast(cast(column, DataType::Int32), DataType::Float64) * lit(DAY),
        Role::Time if temporal => cast(cast(column, DataType::Int64), DataType::Float64) / lit(in_a_second(of)),
        _ => cast(column, DataType::Float64),
    })
}

/// Bytes of a UUID.
const UUID_BYTES: i32 = 16;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// How often a second holds the unit of a type: files of one source may have other units, and moments of splits are in seconds.
fn in_a_second(temporal: &DataType) -> f64 {
    match temporal {
        DataType::Timestamp(TimeUnit::Millisecond, _) | DataType::Date64 => 1e3,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 1e6,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 1e9,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{failure, pair, read, source};
    use arrow::{
        array::{
            ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Float32Array, Float64Array,
            Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
        },
        datatypes::Int8Type,
    };
    use datafusion::parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
    use dataset::{Location, Split, block_on, table};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn stored(name: &str) -> String {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("User", Arc::new(StringArray::from(vec!["a,\"b\"", "c"]))),
            ("item.id", Arc::new(Int64Array::from(vec![7, 8]))),
            ("stars", Arc::new(Float32Array::from(vec![4.5, 3.0]))),
            ("when", Arc::new(TimestampMillisecondArray::from(vec![1_500, 2_500]))),
            ("empty", Arc::new(StringArray::from(vec![None, Some("x")]))),
        ];
        let url = format!("memory:///sources/{name}");
        table::write(&Location::parse(&url).unwrap(), &RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        url
    }

    fn from(name: &str, columns: Value) -> crate::Source {
        source(json!({"parquet": {"path": stored(name), "columns": columns}}))
    }

    #[test]
    fn columns_are_cast_by_their_role() {
        let all = from("all.parquet", json!({"user": "User", "item": "item.id", "rating": "stars", "timestamp": "when"}));
        let rows = read(&all, Split::Train).unwrap().rows;
        assert_eq!(rows, [("a,\"b\"".into(), "7".into(), Some(4.5), Some(1.5)), ("c".into(), "8".into(), Some(3.0), Some(2.5))]);
        let timed = from("timed.bin", json!({"user": "item.id", "item": "User", "timestamp": "stars"}));
        assert_eq!(read(&timed, Split::Train).unwrap().rows[1], ("8".into(), "c".into(), None, Some(3.0)));
    }

    #[test]
    fn ratings_of_32_bits_and_ids_of_decimals_are_as_they_are_written() {
        let ids = Decimal128Array::from(vec![12_345_678_901_234_567_890_123, -7]).with_precision_and_scale(38, 0).unwrap();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("user", Arc::new(ids)),
            ("item", Arc::new(Int64Array::from(vec![1, 2]))),
            ("stars", Arc::new(Float32Array::from(vec![4.1, 0.7]))),
        ];
        let url = "memory:///sources/decimals.parquet";
        table::write(&Location::parse(url).unwrap(), &RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        let settings = json!({"path": url, "columns": {"user": "user", "item": "item", "rating": "stars"}});
        let rows = read(&source(json!({"parquet": settings})), Split::Train).unwrap().rows;
        let expected = [("12345678901234567890123".into(), "1".into(), Some(4.1), None), ("-7".into(), "2".into(), Some(0.7), None)];
        assert_eq!(rows, expected);
    }

    /// What warehouses write: ids as bytes, ratings as truth values and as text.
    #[test]
    fn ids_of_bytes_and_ratings_of_other_types() {
        let url = "memory:///sources/warehouse.parquet";
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("user", Arc::new(BinaryArray::from(vec![b"u1".as_slice(), b"u2"]))),
            ("item", Arc::new(Int64Array::from(vec![1, 2]))),
            ("liked", Arc::new(BooleanArray::from(vec![true, false]))),
            ("stars", Arc::new(StringArray::from(vec!["4.5", "none"]))),
        ];
        table::write(&Location::parse(url).unwrap(), &RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        let by = |rating: &str| source(json!({"parquet": {"path": url, "columns": {"user": "user", "item": "item", "rating": rating}}}));
        let expected = [("u1".into(), "1".into(), Some(1.0), None), ("u2".into(), "2".into(), Some(0.0), None)];
        assert_eq!(read(&by("liked"), Split::Train).unwrap().rows, expected);
        assert!(failure(&by("stars")).contains("row 2: column `stars` is null or not finite"), "{}", failure(&by("stars")));
    }

    /// What DuckDB, Spark and pyarrow write of UUIDs.
    #[test]
    fn ids_of_16_bytes_are_uuids() {
        let url = "memory:///sources/uuids.parquet";
        let ids = |ids: [Option<u128>; 2]| -> ArrayRef {
            let bytes = ids.map(|id| id.map(u128::to_be_bytes)).into_iter();
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes, 16).unwrap())
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("user", ids([Some(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8), Some(0)])),
            ("item", ids([Some(1), None])),
            ("hash", Arc::new(FixedSizeBinaryArray::try_from_iter([[1; 20], [2; 20]].iter()).unwrap())),
        ];
        table::write(&Location::parse(url).unwrap(), &RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        let of = |item: &str, on_bad_row: &str| {
            source(json!({"parquet": {"path": url, "columns": {"user": "user", "item": item}, "on_bad_row": on_bad_row}}))
        };
        let expected = [pair("67e55044-10b1-426f-9247-bb680e5fe0c8", "00000000-0000-0000-0000-000000000001")];
        assert_eq!(read(&of("item", "skip"), Split::Train).unwrap().rows, expected);
        assert!(failure(&of("item", "error")).contains("row 2: column `item` is empty"));
        let hash = failure(&of("hash", "error"));
        assert!(hash.contains("`hash` is of type FixedSizeBinary(20) (expected text, whole numbers or UUIDs)"), "{hash}");
    }

    /// Visitors without an id are null in tables of events.
    #[test]
    fn bad_rows_are_left_out_where_that_is_asked_for() {
        let url = "memory:///sources/visitors/";
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("user", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(2.5), Some(4.0), Some(5.0), Some(6.0)]))),
            ("item", Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("d"), Some(" "), Some("f")]))),
            ("stars", Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), Some(3.0), Some(f64::NAN), None, Some(6.0)]))),
            ("when", Arc::new(Int64Array::from(vec![10, 20, 30, 40, 50, 60]))),
        ];
        let events = RecordBatch::try_from_iter(columns).unwrap();
        table::write(&Location::parse(&format!("{url}0.parquet")).unwrap(), &events.slice(0, 1)).unwrap();
        table::write(&Location::parse(&format!("{url}1.parquet")).unwrap(), &events).unwrap();
        let columns = json!({"user": "user", "item": "item", "rating": "stars", "timestamp": "when"});
        let skipping = source(json!({"parquet": {"path": url, "columns": columns, "on_bad_row": "skip"}}));
        let found = read(&skipping, Split::Train).unwrap();
        let row = |user: &str, item: &str, rating: f64, time: f64| (user.to_owned(), item.to_owned(), Some(rating), Some(time));
        assert_eq!(found.rows, [row("1", "a", 1.0, 10.0), row("1", "a", 1.0, 10.0), row("6", "f", 6.0, 60.0)]);
        let rejected: Vec<_> =
            found.rejected.iter().map(|(row, reason, raw)| (*row, &reason[..], std::str::from_utf8(raw).unwrap())).collect();
        let of = |reason: &str| format!("{url}1.parquet: column {reason}");
        let expected = [
            (2, of("`user` is empty (expected an id)"), "\tb\t2.0\t20.0"),
            (3, of("`user` is not a whole number (expected text or whole numbers as ids)"), "2.5\t\t3.0\t30.0"),
            (4, of("`stars` is null or not finite (expected a number)"), "4.0\td\tNaN\t40.0"),
            (5, of("`item` is empty (expected an id)"), "5.0\t \t\t50.0"),
        ];
        assert_eq!(rejected, expected.each_ref().map(|(row, reason, raw)| (*row, &reason[..], *raw)));
        let stopping = failure(&source(json!({"parquet": {"path": url, "columns": columns}})));
        assert!(stopping.ends_with("1.parquet row 2: column `user` is empty (expected an id); correct the row, or set `on_bad_row: skip`"));
    }

    /// What was prepared before there was such a key has its fingerprint without it.
    #[test]
    fn the_default_of_bad_rows_is_not_written() {
        let without = json!({"parquet": {"path": "x", "columns": {"user": "u", "item": "i", "rating": null, "timestamp": null}}});
        assert_eq!(serde_json::to_value(source(without.clone())).unwrap(), without);
    }

    /// What pandas writes: categories, integers with a missing value as floats, and dates as text.
    #[test]
    fn categories_whole_floats_and_dates_as_text() {
        let stored = |name: &str, users: ArrayRef| {
            let categories: DictionaryArray<Int8Type> = vec!["x", "y", "x"].into_iter().collect();
            let columns: Vec<(&str, ArrayRef)> = vec![
                ("user", users),
                ("item", Arc::new(categories)),
                ("date", Arc::new(StringArray::from(vec!["2024-05-01", "2024-05-01 12:30:15", "7"]))),
            ];
            let url = format!("memory:///sources/{name}");
            table::write(&Location::parse(&url).unwrap(), &RecordBatch::try_from_iter(columns).unwrap()).unwrap();
            source(json!({"parquet": {"path": url, "columns": {"user": "user", "item": "item", "timestamp": "date"}}}))
        };
        let doubles = |users: [Option<f64>; 3]| -> ArrayRef { Arc::new(Float64Array::from(users.to_vec())) };
        let rows = read(&stored("pandas.parquet", doubles([Some(7.0), Some(-3.0), Some(1e15)])), Split::Train).unwrap().rows;
        let found: Vec<_> = rows.iter().map(|(user, item, _, time)| (&user[..], &item[..], time.unwrap())).collect();
        assert_eq!(found, [("7", "x", 1_714_521_600.0), ("-3", "y", 1_714_566_615.0), ("1000000000000000", "x", 7.0)]);
        let missing = failure(&stored("missing-id.parquet", doubles([Some(7.0), None, Some(1.0)])));
        assert!(missing.contains("row 2: column `user` is empty (expected an id)"), "{missing}");
        let half = failure(&stored("half.parquet", doubles([Some(7.0), Some(0.5), None])));
        assert!(half.contains("row 2: column `user` is not a whole number"), "{half}");
        // 16,777,217 is this number too, once it is a float of 32 bits.
        let singles: ArrayRef = Arc::new(Float32Array::from(vec![16_777_215.0, 16_777_216.0, 1.0]));
        let large = failure(&stored("singles.parquet", singles));
        assert!(large.contains("row 2: column `user` is too large to be exact as a float"), "{large}");
    }

    #[test]
    fn names_may_hold_what_urls_encode() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a#b.parquet", "a?b=c.parquet", "a%20b.parquet", "a b.parquet", "100%.parquet", "[a]*.parquet", "ü.parquet"] {
            let file = folder.path().join("d#1").join(name);
            let path = file.to_str().unwrap();
            let content = Location::parse(&stored("encoded.parquet")).unwrap().read().unwrap();
            Location::parse(path).unwrap().write(content).unwrap();
            assert!(file.exists(), "{name}");
            let settings = json!({"path": path, "columns": {"user": "User", "item": "item.id"}});
            let rows = read(&source(json!({"parquet": settings})), Split::Train).unwrap().rows;
            assert_eq!(rows, [pair("a,\"b\"", "7"), pair("c", "8")], "{name}");
        }
    }

    #[test]
    fn bad_columns_are_named() {
        let missing = failure(&from("missing.parquet", json!({"user": "user", "item": "item.id"})));
        assert!(missing.ends_with("no column `user` (user); its 5 columns are `User`, `item.id`, `stars`, `when`, `empty`"), "{missing}");
        let kind = failure(&from("kind.parquet", json!({"user": "stars", "item": "item.id"})));
        assert!(kind.contains("kind.parquet row 1: column `stars` is not a whole number"), "{kind}");
        let time = failure(&from("time.parquet", json!({"user": "item.id", "item": "when", "rating": "User"})));
        assert!(time.contains("`when` is of type Timestamp") && time.contains("(expected text, whole numbers or UUIDs)"), "{time}");
        let null = failure(&from("null.parquet", json!({"user": "empty", "item": "item.id"})));
        assert!(null.contains("null.parquet row 1: column `empty` is empty"), "{null}");
    }

    #[test]
    fn a_file_whose_lengths_lead_nowhere_is_an_error_and_no_panic() {
        let whole = Location::parse(&stored("whole.parquet")).unwrap().read().unwrap();
        let at = Location::parse("memory:///sources/lying.parquet").unwrap();
        let settings = json!({"path": at.to_string(), "columns": {"user": "User", "item": "item.id", "rating": "stars"}});
        let lying = source(json!({"parquet": settings}));
        for place in (0..whole.len()).step_by(3) {
            let mut bytes = whole.to_vec();
            bytes[place] ^= 0x55;
            at.write(bytes).unwrap();
            if let Err(error) = read(&lying, Split::Train) {
                assert!(error.to_string().contains("lying.parquet"), "{error}");
            }
            let _ = lying.rows(Split::Train);
        }
    }

    #[test]
    fn what_is_no_parquet_is_named() {
        let at = Location::parse("memory:///sources/text.parquet").unwrap();
        at.write("user,item\n").unwrap();
        let settings = json!({"path": at.to_string(), "columns": {"user": "user", "item": "item"}});
        assert!(
            failure(&source(json!({"parquet": settings})))
                .contains("sources/text.parquet: it is no Parquet file, which would begin with `PAR1`")
        );
        let none = json!({"path": "memory:///sources/none.parquet", "columns": {"user": "user", "item": "item"}});
        assert!(failure(&source(json!({"parquet": none}))).contains("does not exist"));
    }

    /// Two runs of two row groups each, by two threads: all rows, and of several bad ones the first, wherever it is.
    #[test]
    fn a_large_file_is_read_by_several_threads() {
        const ROWS: i64 = 200_000;
        // Ids that do not compress: odd numbers have an inverse, so that none comes twice.
        let id = |row: i64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 1;
        let large = |name: &str, missing: &[i64]| {
            let user = (0..ROWS).map(|row| (!missing.contains(&row)).then(|| id(row))).collect::<Int64Array>();
            let item = (0..ROWS).collect::<Int64Array>();
            let columns: Vec<(&str, ArrayRef)> = vec![("user", Arc::new(user)), ("item", Arc::new(item))];
            let rows = RecordBatch::try_from_iter(columns).unwrap();
            let groups = WriterProperties::builder().set_max_row_group_row_count(Some(50_000)).build();
            let mut content = Vec::new();
            let mut writer = ArrowWriter::try_new(&mut content, rows.schema(), Some(groups)).unwrap();
            writer.write(&rows).unwrap();
            writer.close().unwrap();
            assert!(content.len() > super::LARGE);
            let url = format!("memory:///sources/{name}");
            let at = Location::parse(&url).unwrap();
            at.write(content).unwrap();
            let streams = block_on(async { super::scan(&at, 2).await.unwrap().execute_stream_partitioned().await.unwrap() });
            assert_eq!(streams.len(), 2);
            source(json!({"parquet": {"path": url, "columns": {"user": "user", "item": "item"}}}))
        };
        let whole = large("large.parquet", &[]);
        let mut found: Vec<(i64, String)> =
            read(&whole, Split::Train).unwrap().rows.into_iter().map(|(user, item, ..)| (item.parse().unwrap(), user)).collect();
        found.sort_unstable();
        assert!(found.into_iter().eq((0..ROWS).map(|row| (row, id(row).to_string()))));
        for missing in [&[150_000][..], &[120_000, 199_999], &[3, 199_999], &[99_999, 100_000]] {
            let message = failure(&large("bad.parquet", missing));
            let expected = format!("row {}: column `user` is empty", missing[0] + 1);
            assert!(message.contains(&expected), "{expected}: {message}");
        }
    }
}
