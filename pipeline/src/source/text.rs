//! Delimited text as interactions: what `splits`, `delimited`, `movielens` and `recbole` have in common.

use super::{
    columns::{ColumnRef, Columns},
    fields::Fields,
    records::{Record, Records},
    row::{Rejected, Row, Sink},
};
use crate::{Error, Result};
use dataset::Location;

/// How a text file holds interactions.
pub(crate) struct Layout<'a> {
    /// One or more bytes.
    pub(crate) separator: &'a str,
    pub(crate) header: Header,
    pub(crate) columns: Columns,
    pub(crate) on_bad_row: OnBadRow,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnBadRow {
    /// Stop with an error that names it.
    #[default]
    Error,
    /// Leave it out, count it, and keep it in `rejected.tsv`.
    Skip,
}

/// Reads a file; every row goes to `sink`.
pub(crate) fn read(at: &Location, layout: &Layout<'_>, sink: &mut dyn Sink) -> Result<()> {
    let mut records = Records::open(at, layout.separator)?;
    let mut places = match layout.header {
        Header::Absent => None,
        _ => Some(Places::from_header(at, layout, records.next()?)?),
    };
    while let Some(record) = records.next()? {
        let row = match &places {
            Some(places) => places.row(&record),
            None => Places::from_first_row(&layout.columns, &record).map(|(found, row)| {
                places = Some(found);
                row
            }),
        };
        match row {
            Ok(row) => sink.row(row)?,
            Err(reason) if layout.on_bad_row == OnBadRow::Skip => {
                sink.reject(Rejected { line: record.line, reason: &reason, raw: record.raw })?;
            }
            Err(reason) => return Err(Error::row(at, record.line, format!("{reason}; {}", layout.advice))),
        }
    }
    Ok(())
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

/// One column: its index, and its name for errors.
struct Place {
    index: usize,
    label: String,
}

impl Places {
    fn from_header(at: &Location, layout: &Layout<'_>, header: Option<Record<'_>>) -> Result<Self> {
        let Some(header) = header else {
            return Err(Error::file(at, "the file is empty (expected a header line)"));
        };
        let whole: Vec<String> = header.fields.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        let names: Vec<&str> = match layout.header {
            Header::Typed => whole.iter().map(|name| name.split(':').next().unwrap_or_default()).collect(),
            _ => whole.iter().map(String::as_str).collect(),
        };
        let find = |column: &ColumnRef, role: &str| -> Result<Place> {
            let index = match column {
                ColumnRef::Index(index) => Some(*index).filter(|&index| index < names.len()),
                ColumnRef::Name(name) => names.iter().position(|other| other == name),
            };
            let index = index.ok_or_else(|| {
                let present = whole.join("`, `");
                Error::file(at, format!("no {column} ({role}) in the header; its {} columns are `{present}`", names.len()))
            })?;
            Ok(Place { index, label: format!("column `{}`", names[index]) })
        };
        let columns = &layout.columns;
        let optional = |column: &Option<ColumnRef>, role| column.as_ref().map(|column| find(column, role)).transpose();
        Ok(Self {
            user: find(&columns.user, "user")?,
            item: find(&columns.item, "item")?,
            rating: optional(&columns.rating, "rating")?,
            time: optional(&columns.timestamp, "timestamp")?,
            width: names.len(),
            model: "the header".to_owned(),
        })
    }

    /// Without a header, the first usable row sets the number of fields; a row that is not usable sets nothing.
    fn from_first_row<'r>(columns: &Columns, record: &Record<'r>) -> Result<(Self, Row<'r>), String> {
        sound(record)?;
        let place = |column: &ColumnRef, role: &str| match column {
            ColumnRef::Index(index) => Place { index: *index, label: format!("column {index} ({role})") },
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
        let needed = [Some(&places.user), Some(&places.item), places.rating.as_ref(), places.time.as_ref()];
        let needed = needed.into_iter().flatten().map(|place| place.index + 1).max().unwrap_or_default();
        if places.width < needed {
            return Err(format!("{} where at least {needed} are needed", count(places.width)));
        }
        let row = places.row(record)?;
        Ok((places, row))
    }

    fn row<'r>(&self, record: &Record<'r>) -> Result<Row<'r>, String> {
        sound(record)?;
        let fields = record.fields;
        if fields.len() != self.width {
            return Err(format!("{} where {} has {}", count(fields.len()), self.model, self.width));
        }
        Ok(Row {
            user: id(fields, &self.user)?,
            item: id(fields, &self.item)?,
            rating: self.rating.as_ref().map(|place| number(fields, place)).transpose()?,
            time: self.time.as_ref().map(|place| number(fields, place)).transpose()?,
        })
    }
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
        Ok(text) => Ok(text),
        Err(_) => Err(format!("{}: `{}` is not UTF-8 (convert the file to UTF-8)", place.label, String::from_utf8_lossy(bytes))),
    }
}

fn number(fields: &Fields, place: &Place) -> Result<f64, String> {
    let text = String::from_utf8_lossy(fields.get(place.index));
    match text.trim_ascii().parse() {
        Ok(number) if f64::is_finite(number) => Ok(number),
        Ok(_) => Err(format!("{}: `{text}` is not finite (expected a number)", place.label)),
        Err(_) => Err(format!("{}: `{text}` is not a number", place.label)),
    }
}
