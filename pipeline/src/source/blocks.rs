//! A text file in blocks of whole records, so that several threads can read it.
//!
//! One thread at a time cuts the next block; what is in a block can be read without what stands before it. A block without quotes ends
//! with its last line. Where there are quotes, a line end may be part of a field, and the records have to be read to find the last one.

use super::{
    beginning::no_lines,
    content,
    records::{RECORD_LINES, Records, Step},
};
use crate::{Error, Result};
use dataset::Location;
use memchr::{memchr, memchr_iter, memrchr};
use std::io::{self, Read};

/// Bytes of a block; more where a record is longer.
const BLOCK: usize = 256 << 10;
/// The longest line, and the longest record of several.
pub(super) const LINE_BYTES: usize = 16 << 20;

/// Whole records.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) text: Vec<u8>,
    /// The line on which it starts, from 1.
    pub(crate) line: u64,
    /// The block's place in the file, from 0.
    pub(crate) index: usize,
}

/// A reader of blocks.
pub(crate) struct Blocks<'a> {
    at: &'a Location,
    separator: &'a [u8],
    content: Box<dyn Read + Send>,
    /// What was read beyond the last block.
    rest: Vec<u8>,
    /// Lines in all blocks so far.
    lines: u64,
    count: usize,
    /// How reading ended.
    end: Option<io::Result<()>>,
}

impl<'a> Blocks<'a> {
    /// Opens a file.
    pub(crate) fn open(at: &'a Location, separator: &'a str) -> Result<Self> {
        let content = content::open(at)?;
        Ok(Self { at, separator: separator.as_bytes(), content, rest: Vec::new(), lines: 0, count: 0, end: None })
    }

    /// Puts the next block in place of an old one; false after the last one.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<bool> {
        let text = &mut block.text;
        text.clear();
        text.append(&mut self.rest);
        let mut cut = None;
        while cut.is_none() {
            self.fill(text, BLOCK.max(2 * text.len()));
            cut = self.cut(text)?;
        }
        self.rest.extend_from_slice(&text[cut.unwrap_or_default()..]);
        text.truncate(cut.unwrap_or_default());
        if self.count == 0 {
            if let Some(reason) = no_lines(text) {
                return Err(Error::file(self.at, reason));
            }
            if text.starts_with(b"\xef\xbb\xbf") {
                text.drain(..3);
            }
        }
        (block.line, block.index) = (self.lines + 1, self.count);
        self.lines += lines(text);
        self.count += 1;
        match self.end.take_if(|end| text.is_empty() && end.is_err()) {
            Some(Err(error)) => Err(content::unreadable(self.at, self.lines + lines(&self.rest), error)),
            _ => Ok(cut != Some(0)),
        }
    }

    /// Reads until there are so many bytes, or no more.
    fn fill(&mut self, text: &mut Vec<u8>, bytes: usize) {
        text.reserve_exact(bytes - text.len());
        while self.end.is_none() && text.len() < bytes {
            self.end = match self.content.by_ref().take((bytes - text.len()) as u64).read_to_end(text) {
                Ok(0) => Some(Ok(())),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            };
        }
    }

    /// The end of the last whole record; `None` when there is none yet.
    fn cut(&self, text: &[u8]) -> Result<Option<usize>> {
        if let Some(Ok(())) = self.end {
            return Ok(Some(text.len()));
        }
        let end = memrchr(b'\n', text).map_or(0, |at| at + 1);
        if text.len() - end >= LINE_BYTES {
            let reason = format!("the line is longer than {LINE_BYTES} bytes; lines must end in LF or CRLF");
            return Err(Error::line(self.at, self.lines + lines(text) + 1, reason));
        }
        let whole = if memchr(b'"', &text[..end]).is_none() { end } else { self.whole_records(&text[..end]) };
        if whole == 0 && end >= LINE_BYTES {
            let reason = format!("a record is longer than {LINE_BYTES} bytes; close the quote that starts in it");
            return Err(Error::line(self.at, self.lines + 1, reason));
        }
        Ok((whole > 0 || self.end.is_some()).then_some(whole))
    }

    /// The end of the last record that is whole. One so long that it is taken for unclosed has its first line left out, as the reader does.
    fn whole_records(&self, text: &[u8]) -> usize {
        let mut records = Records::new(text, self.lines + 1, self.separator);
        loop {
            let start = records.position();
            match records.step() {
                Step::Record(_) => {}
                Step::End => return start,
                Step::Open { lines, .. } if lines > RECORD_LINES => {
                    records.leave_first_line_out();
                }
                Step::Open { .. } => return start,
            }
        }
    }
}

fn lines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}
