//! Parquet files, scanned by DataFusion: large ones by several threads, each of some row groups that follow one another.
//!
//! Ids are text or whole numbers, ratings are numbers (of 32 bits as they are written: 4.1, not 4.099999904632568), timestamps are numbers, timestamps or dates, also as text. Text may be dictionary-encoded, as
//! the categories of pandas are.

mod values;

use super::{
    Has, SourceKind, archive,
    beginning::Beginning,
    columns::{Columns, NamedColumns},
    compression::{self, Compression},
    files, roles,
    row::{Rows, Sink, Sinks},
};
use crate::{Error, Result, session, workers::in_threads};
use arrow::{
    array::RecordBatch,
    datatypes::{DataType, TimeUnit},
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
use values::{Bad, ids, numbers, texts};

/// `parquet` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parquet {
    /// The file, a folder with `/` at its end, or a pattern.
    pub path: String,
    /// Which columns hold what, by name.
    pub columns: NamedColumns,
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
        Ok(Some(Self { path: beginning.path.clone(), columns: columns.into_named() }))
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

    fn read(&self, _part: Split, sinks: &dyn Sinks) -> Result<()> {
        files::all("source.path", &self.path)?.iter().try_for_each(|at| self.read_file(at, sinks))
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
        let frame = decoded(at, || block_on(scan(at, sinks.threads())))?.map_err(failed)?;
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
        for read in in_threads(sinks.threads(), streams, read) {
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
            self.give(&batch, rows, &mut *sink)?;
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
    fn give(&self, batch: &RecordBatch, before: usize, sink: &mut dyn Sink) -> Result<(), Failure> {
        let [user_texts, item_texts] = [0, 1].map(|column| texts(batch.column(column)));
        let (users, items) = (ids(&user_texts), ids(&item_texts));
        let number = |name: &Option<String>, column: usize| name.as_ref().map(|_| numbers(batch.column(column))).transpose();
        let last = batch.num_columns() - 1;
        let (ratings, times) = (number(&self.columns.rating, 2), number(&self.columns.timestamp, last));
        let bad = [(0, users.as_ref().err()), (1, items.as_ref().err()), (2, ratings.as_ref().err()), (last, times.as_ref().err())];
        let first = bad.into_iter().filter_map(|(column, bad)| Some((bad?, column))).min_by_key(|(bad, _)| bad.row);
        if let Some((&Bad { row, reason }, column)) = first {
            return Err(Failure::Row { row: before + row, column, reason });
        }
        if let (Ok(users), Ok(items), Ok(ratings), Ok(times)) = (users, items, ratings, times) {
            sink.rows(Rows { users: &users, items: &items, ratings: ratings.as_deref(), times: times.as_deref() })?;
        }
        Ok(())
    }
}

/// Why a stream of rows is not read to its end.
enum Failure {
    /// A row of the stream, from 0, whose column of this place is bad.
    Row {
        row: usize,
        column: usize,
        reason: &'static str,
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
            Self::Row { row, column, reason } => {
                let (row, name) = (before + row + 1, quote::value(names[column]));
                Error::file(at, format!("row {row}: column `{name}` {reason}; correct the row"))
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
    let (fits, expected) = match role {
        Role::Id => (of.is_integer() || of.is_string() || is_bytes || of.is_floating() || whole_decimal, "text or whole numbers"),
        Role::Rating => (of.is_numeric() || of.is_string() || matches!(of, DataType::Boolean), "numbers"),
        Role::Time => (of.is_numeric() || of.is_string() || temporal, "numbers, timestamps or dates"),
    };
    if !fits {
        return Err(Error::file(at, format!("column `{}` is of type {of} (expected {expected})", quote::value(name))));
    }
    let column = ident(name);
    Ok(match role {
        // Whether they are whole numbers is seen row by row.
        Role::Id if of.is_floating() => cast(column, of.clone()),
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
            ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int64Array, RecordBatch,
            StringArray, TimestampMillisecondArray,
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
        assert!(kind.contains("kind.parquet: row 1: column `stars` is not a whole number"), "{kind}");
        let time = failure(&from("time.parquet", json!({"user": "item.id", "item": "when", "rating": "User"})));
        assert!(time.contains("`when` is of type Timestamp") && time.contains("(expected text or whole numbers)"), "{time}");
        let null = failure(&from("null.parquet", json!({"user": "empty", "item": "item.id"})));
        assert!(null.contains("null.parquet: row 1: column `empty` is empty"), "{null}");
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
