//! The records of delimited text, with their line numbers.
//!
//! Lines end in LF or CRLF; empty lines are skipped. A record is one line, or several when a quoted field holds line ends.

use super::fields::{Ending, Fields};
use crate::{Error, Result};
use dataset::Location;
use memchr::memchr;
use std::ops::Range;

/// The most lines of one record: beyond that a quote is taken for unclosed, before the rest of the file is swallowed.
pub(crate) const RECORD_LINES: u64 = 1_000;

/// Why a record that goes on for so many lines without an end is none.
pub(crate) fn unclosed(lines: u64) -> String {
    let how = if lines > RECORD_LINES { format!("not closed within {RECORD_LINES} lines") } else { "never closed".to_owned() };
    format!("a quoted field that starts here is {how} (close the quote, or double it where it is part of the text)")
}

/// A reader of the records in a text.
pub(crate) struct Records<'t> {
    text: &'t [u8],
    separator: &'t [u8],
    position: usize,
    /// The line that starts at the position.
    line: u64,
    /// The first line of the last record.
    first_line: FirstLine,
    fields: Fields,
}

/// Where a record's first line stands in a text, and which line of the file it is.
#[derive(Default)]
struct FirstLine {
    text: Range<usize>,
    line: u64,
}

/// One record.
pub(crate) struct Record<'t> {
    /// The line on which it starts, from 1.
    pub(crate) line: u64,
    pub(crate) fields: &'t Fields,
    /// Whether the record's quotes are sound; otherwise the fields are worth nothing.
    pub(crate) sound: bool,
}

/// What comes next in a text.
pub(crate) enum Step<'t> {
    Record(Record<'t>),
    /// A record whose quoted field is not closed within so many lines, or within the text.
    Open {
        line: u64,
        lines: u64,
    },
    End,
}

impl<'t> Records<'t> {
    /// Makes the records of a text that starts on a line.
    pub(crate) fn new(text: &'t [u8], line: u64, separator: &'t [u8]) -> Self {
        Self { text, separator, position: 0, line, first_line: FirstLine::default(), fields: Fields::default() }
    }

    /// Where the next record is looked for.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The line at the position.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The next record; `None` after the last one. `at` names the file.
    ///
    /// # Errors
    /// [`Error::Row`] for a quoted field that is never closed.
    pub(crate) fn next(&mut self, at: &Location) -> Result<Option<Record<'_>>> {
        match self.step() {
            Step::Record(record) => Ok(Some(record)),
            Step::End => Ok(None),
            Step::Open { line, lines } => Err(Error::line(at, line, unclosed(lines))),
        }
    }

    /// The text of the last record.
    pub(crate) fn last(&self) -> &'t [u8] {
        without_end(&self.text[self.first_line.text.start..self.position])
    }

    /// Goes on behind the first line of the last record, which cannot be used: a quote in that line may have taken the lines behind it for part
    /// of a field. Gives the text that is left out.
    pub(crate) fn leave_first_line_out(&mut self) -> &'t [u8] {
        let FirstLine { text, line } = &self.first_line;
        (self.position, self.line) = (text.end, line + 1);
        without_end(&self.text[text.clone()])
    }

    /// The next record, or why there is none.
    pub(crate) fn step(&mut self) -> Step<'_> {
        let mut start = self.position;
        while self.skip_line() {
            if !without_end(&self.text[start..self.position]).is_empty() {
                return self.record(start);
            }
            start = self.position;
        }
        Step::End
    }

    /// The record whose first line was skipped.
    fn record(&mut self, start: usize) -> Step<'_> {
        let line = self.line - 1;
        self.first_line = FirstLine { text: start..self.position, line };
        loop {
            let raw = without_end(&self.text[start..self.position]);
            match self.fields.split(raw, self.separator) {
                Ending::Open if self.line - line > RECORD_LINES || !self.skip_line() => {
                    return Step::Open { line, lines: self.line - line };
                }
                Ending::Open => {}
                ending => return Step::Record(Record { line, fields: &self.fields, sound: ending == Ending::Complete }),
            }
        }
    }

    /// Moves behind the next line; false after the last one.
    fn skip_line(&mut self) -> bool {
        let rest = &self.text[self.position..];
        self.position += memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        self.line += u64::from(!rest.is_empty());
        !rest.is_empty()
    }
}

/// The text without one line end.
fn without_end(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
    raw.strip_suffix(b"\r").unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::{
        super::blocks::{Block, Blocks, LINE_BYTES},
        *,
    };

    fn records(name: &str, content: impl Into<Vec<u8>>) -> Result<Vec<(u64, String)>> {
        let at = Location::parse(&format!("memory:///records/{name}")).unwrap();
        at.write(content.into()).unwrap();
        let (mut blocks, mut block) = (Blocks::open(&at, ",").unwrap(), Block::default());
        let mut found = Vec::new();
        while blocks.next(&mut block)? {
            let mut records = Records::new(&block.text, block.line, b",");
            while let Some(record) = records.next(&at)? {
                let fields: Vec<&str> = record.fields.iter().map(|field| std::str::from_utf8(field).unwrap()).collect();
                found.push((record.line, fields.join("|")));
            }
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

    #[test]
    fn lines_and_records_without_end_are_named() {
        let line = records("line", [&b"a,b\n"[..], &vec![b'x'; 3 * LINE_BYTES]].concat()).unwrap_err().to_string();
        assert!(line.contains("line 2: the line is longer than 16777216 bytes"), "{line}");
        let quoted = format!("a,b\nc,\"{}\"\n", format!("{}\n", "x".repeat(1 << 20)).repeat(48));
        let record = records("record", quoted).unwrap_err().to_string();
        assert!(record.contains("line 2: a record is longer than 16777216 bytes; close the quote"), "{record}");
    }

    /// Blocks end within quoted fields, and one record is longer than a block.
    #[test]
    fn records_are_the_same_however_blocks_fall() {
        let quoted = |n: usize| format!("{n},\"a,\r\nb\"\"\nc\"\n");
        let many: String = (0..60_000).map(|n| if n % 100 == 0 { quoted(n) } else { format!("{n},5\" nail\n") }).collect();
        let content = format!("{many}1,\"{}\"\n{many}", "z\n\"\"".repeat(300).repeat(3) + &"y".repeat(300 << 10));
        let found = records("blocks", content.clone()).unwrap();
        let mut whole = Records::new(content.as_bytes(), 1, b",");
        for (line, fields) in found {
            let Step::Record(record) = whole.step() else { panic!("line {line} is no record") };
            let expected: Vec<&str> = record.fields.iter().map(|field| std::str::from_utf8(field).unwrap()).collect();
            assert!((line, &fields) == (record.line, &expected.join("|")), "line {line}");
        }
        assert!(matches!(whole.step(), Step::End));
    }
}
