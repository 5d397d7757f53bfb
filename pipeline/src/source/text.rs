//! Delimited text as interactions: what `splits`, `delimited`, `movielens` and `recbole` have in common.

use super::{
    blocks::{Block, Blocks},
    columns::{ColumnRef, Columns},
    fields::Fields,
    parallel::{self, Reject},
    plain::{self, Piece, Shape},
    records::{Record, Records, Step, unclosed},
    row::{Rejected, Row, Sink, Sinks},
    time,
};
use crate::{Error, Result};
use dataset::{Location, quote};
use memchr::{memchr, memchr_iter};

/// How a text file holds interactions.
pub(crate) struct Layout<'a> {
    /// One or more bytes.
    pub(crate) separator: &'a str,
    pub(crate) header: Header,
    pub(crate) columns: Columns,
    pub(crate) on_bad_row: OnBadRow,
    /// Whether the file is one of several, of which one may be empty.
    pub(crate) is_part: bool,
    /// Whether the sweep file names the columns.
    pub(crate) has_columns: bool,
    /// What to do about a bad row, for its error.
    pub(crate) advice: &'a str,
}

/// The first line of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// Already data.
    Absent,
    /// Names.
    Names,
    /// Names with types: `rating:float`.
    Typed,
}

/// What to do with a row that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnBadRow {
    /// Stop with an error that names it.
    #[default]
    Error,
    /// Leave it out, count it, and keep it in `rejected.tsv`.
    Skip,
}

impl OnBadRow {
    /// Whether it is what is done by default.
    pub(super) fn is_error(&self) -> bool {
        *self == Self::Error
    }
}

/// Reads a file; every row goes to one of `sinks`.
pub(crate) fn read(at: &Location, layout: &Layout<'_>, sinks: &dyn Sinks) -> Result<()> {
    let reading = TextReader { at, layout, sinks };
    let (mut blocks, mut block) = (Blocks::open(at, layout.separator)?, Block::default());
    let mut sink = sinks.sink();
    let mut places = None;
    while places.is_none() && blocks.next(&mut block)? {
        places = reading.start(&mut block, &mut *sink)?;
    }
    sink.finish()?;
    match (places, layout.header) {
        (Some(places), _) => parallel::read(blocks, block, sinks, &|block, sink, reject| reading.block(block, &places, sink, reject)),
        (None, header) if header == Header::Absent || layout.is_part => Ok(()),
        (None, _) => Err(Error::file(at, "the file is empty (expected a header line)")),
    }
}

/// What all threads that read a file know.
struct TextReader<'a> {
    at: &'a Location,
    layout: &'a Layout<'a>,
    sinks: &'a dyn Sinks,
}

impl TextReader<'_> {
    /// Looks for the columns' places in a block, and takes what it read away from the block's start.
    fn start(&self, block: &mut Block, sink: &mut dyn Sink) -> Result<Option<Places>> {
        let mut records = Records::new(&block.text, block.line, self.layout.separator.as_bytes());
        let mut found = None;
        while found.is_none() {
            if self.layout.header != Header::Absent {
                let Some(record) = records.next(self.at)? else { break };
                found = Some(Places::from_header(self.at, self.layout, &record)?);
                break;
            }
            let take = |record: &Record<'_>| {
                let (places, row) = Places::from_first_row(&self.layout.columns, record)?;
                found = Some(places);
                Ok(sink.row(row))
            };
            if !self.next(&mut records, take, &mut |rejected| self.sinks.reject(rejected))? {
                break;
            }
        }
        let (read, line) = (records.position(), records.line());
        block.text.drain(..read);
        block.line = line;
        Ok(found)
    }

    /// The records of a text that starts on a line, one by one.
    fn careful(&self, text: &[u8], line: u64, places: &Places, sink: &mut dyn Sink, reject: Reject<'_>) -> Result<()> {
        let mut records = Records::new(text, line, self.layout.separator.as_bytes());
        while self.next(&mut records, |record| Ok(sink.row(places.row(record)?)), reject)? {}
        Ok(())
    }

    /// Has the next record taken; false after the last one. One that cannot be used, for the reason that `take` gives, is left out where that is asked
    /// for: its first line where its quotes may have taken what is not theirs, else all of it.
    fn next(
        &self,
        records: &mut Records<'_>,
        take: impl FnOnce(&Record<'_>) -> Result<Result<()>, Unusable>,
        reject: Reject<'_>,
    ) -> Result<bool> {
        let (line, Unusable { reason, is_whole }) = match records.step() {
            Step::Record(record) => match take(&record) {
                Ok(taken) => return taken.map(|()| true),
                Err(unusable) => (record.line, unusable),
            },
            Step::Open { line, lines } => (line, Unusable::from(unclosed(lines))),
            Step::End => return Ok(false),
        };
        let raw = match self.layout.on_bad_row {
            OnBadRow::Skip if is_whole => records.last(),
            OnBadRow::Skip => records.leave_first_line_out(),
            OnBadRow::Error => return Err(Error::line(self.at, line, format!("{reason}; {}", self.layout.advice))),
        };
        reject(Rejected { unit: "line", number: line, reason: &reason, raw })?;
        Ok(true)
    }

    /// A block, the fast way where that can be.
    fn block(&self, block: &Block, places: &Places, sink: &mut dyn Sink, reject: Reject<'_>) -> Result<()> {
        let (Some(shape), Some(text)) = (places.shape(self.layout.separator), unquoted(&block.text)) else {
            return self.careful(&block.text, block.line, places, sink, reject);
        };
        let (mut line, mut counted) = (block.line, 0);
        plain::pieces(text, shape, |piece| match piece {
            Piece::Rows(rows) => sink.rows(rows),
            Piece::Other(other, start) => {
                line += memchr_iter(b'\n', &block.text[counted..start]).count() as u64;
                counted = start;
                self.careful(other.as_bytes(), line, places, sink, reject)
            }
        })
    }
}

/// Why a record gives no row.
struct Unusable {
    reason: String,
    /// Whether the record is what it should be but for a value, so that none of its lines is a record of its own.
    is_whole: bool,
}

impl From<String> for Unusable {
    fn from(reason: String) -> Self {
        Self { reason, is_whole: false }
    }
}

/// Text without quotes.
fn unquoted(text: &[u8]) -> Option<&str> {
    if memchr(b'"', text).is_none() { std::str::from_utf8(text).ok() } else { None }
}

/// Where the columns stand in every row.
struct Places {
    user: Place,
    item: Place,
    rating: Option<Place>,
    time: Option<Place>,
    width: usize,
    /// What set the width.
    model: String,
}

/// What to do where a header that came as one column has another separator.
fn other_separator(header: &str, layout: &Layout<'_>) -> String {
    // Formats that have no such key say in their advice which one has.
    let read = if layout.advice.contains("format: delimited") { "read it as `format: delimited` with" } else { "set" };
    let found = ["::", ";", "\t", "|", ","].into_iter().find(|separator| header.contains(separator));
    found.map_or_else(String::new, |separator| {
        format!("; it looks separated by `{0}`: {read} `separator: \"{0}\"`", separator.escape_default())
    })
}

/// One column: its index, and its name for errors.
struct Place {
    index: usize,
    label: String,
    /// What the header calls it; none without a header.
    name: Option<String>,
}

impl Places {
    fn from_header(at: &Location, layout: &Layout<'_>, header: &Record<'_>) -> Result<Self> {
        let whole: Vec<String> = header.fields.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        let names: Vec<&str> = match layout.header {
            Header::Typed => whole.iter().map(|name| name.split(':').next().unwrap_or_default()).collect(),
            _ => whole.iter().map(String::as_str).collect(),
        };
        let find = |column: &ColumnRef, role: &str| -> Result<Place> {
            if let ColumnRef::Name(name) = column
                && names.iter().filter(|other| *other == name).count() > 1
            {
                let reason =
                    format!("{column} ({role}) stands twice in the header, {}; name it by its place, from 0", quote::names(&whole));
                return Err(if layout.has_columns { Error::column(role, at, reason) } else { Error::file(at, reason) });
            }
            let index = match column {
                ColumnRef::Index(index) => Some(*index).filter(|&index| index < names.len()),
                ColumnRef::Name(name) => names.iter().position(|other| other == name),
            };
            let index = index.ok_or_else(|| {
                let present = quote::names(&whole);
                let reason = match &whole[..] {
                    [one] => {
                        format!("no {column} ({role}) in the header, which is one column, {present}{}", other_separator(one, layout))
                    }
                    _ => format!("no {column} ({role}) in the header; its {} columns are {present}", names.len()),
                };
                if layout.has_columns { Error::column(role, at, reason) } else { Error::file(at, reason) }
            })?;
            Ok(Place { index, label: format!("column `{}`", quote::value(names[index])), name: Some(whole[index].clone()) })
        };
        let columns = &layout.columns;
        let optional = |column: &Option<ColumnRef>, role| column.as_ref().map(|column| find(column, role)).transpose();
        let places = Self {
            user: find(&columns.user, "user")?,
            item: find(&columns.item, "item")?,
            rating: optional(&columns.rating, "rating")?,
            time: optional(&columns.timestamp, "timestamp")?,
            width: names.len(),
            model: "the header".to_owned(),
        };
        // One by its name and one by its index may be the same.
        let all: Vec<&Place> = places.used().collect();
        match all.iter().enumerate().find(|(at, place)| all[..*at].iter().any(|other| other.index == place.index)) {
            Some((_, place)) => Err(Error::file(at, format!("{} is given twice in `columns` (expected one column for each)", place.label))),
            None => Ok(places),
        }
    }

    /// Without a header, the first usable row sets the number of fields; a row that is not usable sets nothing.
    fn from_first_row<'r>(columns: &Columns, record: &Record<'r>) -> Result<(Self, Row<'r>), Unusable> {
        sound(record)?;
        let place = |column: &ColumnRef, role: &str| match column {
            ColumnRef::Index(index) => Place { index: *index, label: format!("column {index} ({role})"), name: None },
            ColumnRef::Name(_) => unreachable!("`Columns::check` refuses names without a header"),
        };
        let places = Self {
            user: place(&columns.user, "user"),
            item: place(&columns.item, "item"),
            rating: columns.rating.as_ref().map(|column| place(column, "rating")),
            time: columns.timestamp.as_ref().map(|column| place(column, "timestamp")),
            width: record.fields.len(),
            model: format!("line {}", record.line),
        };
        let needed = places.used().map(|place| place.index.saturating_add(1)).max().unwrap_or_default();
        if places.width < needed {
            return Err(format!("{} where the indices of `columns` need at least {needed}", count(places.width)).into());
        }
        let row = places.row(record)?;
        Ok((places, row))
    }

    /// The columns that are read.
    fn used(&self) -> impl Iterator<Item = &Place> {
        [Some(&self.user), Some(&self.item), self.rating.as_ref(), self.time.as_ref()].into_iter().flatten()
    }

    /// What the fast way has to know; `None` for separators of several bytes.
    fn shape(&self, separator: &str) -> Option<Shape<'_>> {
        let &[separator] = separator.as_bytes() else { return None };
        let index = |place: &Option<Place>| place.as_ref().map(|place| place.index);
        let (rating, time) = (index(&self.rating), index(&self.time));
        let header = self.user.name.as_deref();
        Some(Shape { separator, width: self.width, user: self.user.index, item: self.item.index, rating, time, header })
    }

    fn row<'r>(&self, record: &Record<'r>) -> Result<Row<'r>, Unusable> {
        sound(record)?;
        let fields = record.fields;
        if fields.len() != self.width {
            return Err(format!("{} where {} has {}", count(fields.len()), self.model, self.width).into());
        }
        let is_whole = self.used().all(|place| !fields.get(place.index).contains(&b'\n'));
        if self.used().all(|place| place.name.as_ref().is_some_and(|name| is_name(fields.get(place.index), name))) {
            return Err(Unusable { reason: "the header once more, as where files with headers were put together".to_owned(), is_whole });
        }
        self.values(fields).map_err(|reason| Unusable { reason, is_whole })
    }

    fn values<'r>(&self, fields: &'r Fields) -> Result<Row<'r>, String> {
        Ok(Row {
            user: id(fields, &self.user)?,
            item: id(fields, &self.item)?,
            rating: self.rating.as_ref().map(|place| number(fields, place)).transpose()?,
            time: self.time.as_ref().map(|place| time(fields, place)).transpose()?,
        })
    }
}

/// Whether a field is the name of its column, behind the mark that some files begin with.
fn is_name(field: &[u8], name: &str) -> bool {
    field.strip_prefix("\u{feff}".as_bytes()).unwrap_or(field).trim_ascii() == name.as_bytes()
}

fn sound(record: &Record<'_>) -> Result<(), String> {
    if record.sound {
        return Ok(());
    }
    Err("text after a closing quote (expected a separator; a quote inside a quoted field is doubled)".to_owned())
}

fn count(fields: usize) -> String {
    if fields == 1 { "1 field".to_owned() } else { format!("{fields} fields") }
}

fn id<'r>(fields: &'r Fields, place: &Place) -> Result<&'r str, String> {
    let bytes = fields.get(place.index);
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_ascii().is_empty() => Err(format!("{} is empty (expected an id)", place.label)),
        Ok(text) if text.contains('\n') => {
            let lines = text.lines().count();
            Err(format!("{}: its quotes hold {lines} lines (expected an id on one line; a quote that is text is doubled)", place.label))
        }
        Ok(text) => Ok(text),
        Err(_) => {
            Err(format!("{}: `{}` is not UTF-8 (convert the file to UTF-8)", place.label, quote::value(&String::from_utf8_lossy(bytes))))
        }
    }
}

fn number(fields: &Fields, place: &Place) -> Result<f64, String> {
    finite(fields, place, |text| text.trim_ascii().parse().ok(), "is not a number")
}

fn time(fields: &Fields, place: &Place) -> Result<f64, String> {
    finite(fields, place, time::parse, "is neither a number nor a date such as 2024-05-01 12:30:00")
}

fn finite(fields: &Fields, place: &Place, parse: impl Fn(&str) -> Option<f64>, otherwise: &str) -> Result<f64, String> {
    let text = String::from_utf8_lossy(fields.get(place.index));
    match parse(&text) {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(format!("{}: `{}` is not finite (expected a number)", place.label, quote::value(&text))),
        None => Err(format!("{}: `{}` {otherwise}", place.label, quote::value(&text))),
    }
}
