//! The records of a delimited text file, with their line numbers.
//!
//! Lines end in LF or CRLF; a byte order mark at the start and empty lines are skipped. A record is one line, or several when a
//! quoted field holds line ends.

use super::{
    content,
    fields::{Ending, Fields},
};
use crate::{Error, Result};
use dataset::Location;
use std::io::{BufRead, Read};

/// The longest line.
const LINE_BYTES: u64 = 64 << 20;
/// The most lines of one record: beyond that a quote is taken for unclosed, before the rest of the file is swallowed.
const RECORD_LINES: u64 = 1_000;

/// A reader of records.
pub(crate) struct Records<'a> {
    at: &'a Location,
    separator: &'a [u8],
    content: Box<dyn BufRead>,
    lines: u64,
    raw: Vec<u8>,
    fields: Fields,
}

/// One record.
pub(crate) struct Record<'a> {
    /// The line on which it starts, from 1.
    pub(crate) line: u64,
    /// Its text without the last line end.
    pub(crate) raw: &'a [u8],
    pub(crate) fields: &'a Fields,
    /// Whether its quotes are sound; otherwise the fields are worth nothing.
    pub(crate) sound: bool,
}

impl<'a> Records<'a> {
    /// Opens a file.
    pub(crate) fn open(at: &'a Location, separator: &'a str) -> Result<Self> {
        let content = content::open(at)?;
        Ok(Self { at, separator: separator.as_bytes(), content, lines: 0, raw: Vec::new(), fields: Fields::default() })
    }

    /// The next record; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>> {
        loop {
            self.raw.clear();
            if !self.line()? {
                return Ok(None);
            }
            if !without_end(&self.raw).is_empty() {
                break;
            }
        }
        let line = self.lines;
        let mut ending = self.fields.split(without_end(&self.raw), self.separator);
        while ending == Ending::Open {
            if self.lines - line >= RECORD_LINES || !self.line()? {
                let reason = "a quoted field that starts here is never closed; close the quote, or double it where it is part of the text";
                return Err(Error::row(self.at, line, reason));
            }
            ending = self.fields.split(without_end(&self.raw), self.separator);
        }
        Ok(Some(Record { line, raw: without_end(&self.raw), fields: &self.fields, sound: ending == Ending::Complete }))
    }

    /// Appends the next line, with its end, to the raw text; false after the last one.
    fn line(&mut self) -> Result<bool> {
        let read = (&mut self.content).take(LINE_BYTES).read_until(b'\n', &mut self.raw);
        let length = read.map_err(|error| content::unreadable(self.at, self.lines, error))?;
        if length as u64 == LINE_BYTES {
            let reason = format!("the line is longer than {LINE_BYTES} bytes; lines must end in LF or CRLF");
            return Err(Error::row(self.at, self.lines + 1, reason));
        }
        if self.lines == 0 && self.raw.starts_with(b"\xef\xbb\xbf") {
            self.raw.drain(..3);
        }
        self.lines += u64::from(length > 0);
        Ok(length > 0)
    }
}

/// The text without one line end.
fn without_end(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
    raw.strip_suffix(b"\r").unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(name: &str, content: impl Into<Vec<u8>>) -> Result<Vec<(u64, String)>> {
        let at = Location::parse(&format!("memory:///records/{name}")).unwrap();
        at.write(content.into()).unwrap();
        let mut records = Records::open(&at, ",").unwrap();
        let mut found = Vec::new();
        while let Some(record) = records.next()? {
            let fields: Vec<&str> = record.fields.iter().map(|field| std::str::from_utf8(field).unwrap()).collect();
            found.push((record.line, fields.join("|")));
        }
        Ok(found)
    }

    fn expected(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
        lines.iter().map(|&(line, text)| (line, text.to_owned())).collect()
    }

    #[test]
    fn line_ends_marks_and_empty_lines() {
        let found = records("ends", "\u{feff}a,b\r\n\r\n\nc,d\ne,f").unwrap();
        assert_eq!(found, expected(&[(1, "a|b"), (4, "c|d"), (5, "e|f")]));
    }

    #[test]
    fn a_quoted_field_may_hold_line_ends() {
        let found = records("quoted", "a,\"x\r\ny\"\nb,2\n").unwrap();
        assert_eq!(found, expected(&[(1, "a|x\r\ny"), (3, "b|2")]));
    }

    #[test]
    fn an_unclosed_quote_is_named_by_its_line() {
        let message = records("unclosed", "a,b\nc,\"d\ne,f\n").unwrap_err().to_string();
        assert!(message.contains("unclosed line 2: ") && message.contains("never closed"), "{message}");
        let long = format!("a,\"b\n{}", "c,d\n".repeat(5_000));
        assert!(records("long", long).unwrap_err().to_string().contains("line 1: "));
    }
}
