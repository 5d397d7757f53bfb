//! The beginning of a raw file, by which its format is recognised.

use super::{KnownColumns, archive, content, files};
use crate::{Error, Result};
use dataset::Location;
use std::io::Read;

/// Bytes of text that are looked at.
const BYTES: u64 = 256 << 10;

/// The beginning of a raw file.
pub(super) struct Beginning {
    /// The path: a file, in an archive or in none, a folder or a pattern.
    pub(super) path: String,
    /// The file, or the first of several.
    pub(super) at: Location,
    /// Its first bytes, decompressed.
    pub(super) bytes: Vec<u8>,
    /// The columns that are known already.
    pub(super) known: KnownColumns,
}

impl Beginning {
    /// Reads it.
    ///
    /// # Errors
    /// A file that is not there, cannot be read, or is empty.
    pub(super) fn read(path: &str, known: KnownColumns) -> Result<Self> {
        let (path, at) = first_of(archive::expanded(path)?)?;
        files::check_is_file("path", &at)?;
        let mut bytes = Vec::new();
        let raw = content::open(&at).map_err(|error| error.absent("path", &at))?;
        raw.take(BYTES).read_to_end(&mut bytes).map_err(|error| content::unreadable(&at, 0, error))?;
        if bytes.is_empty() {
            return Err(Error::file(&at, "the file is empty; copy it again"));
        }
        Ok(Self { path, at, bytes, known })
    }

    /// The file's name without the suffix of its compression.
    pub(super) fn name(&self) -> &str {
        content::plain_name(&self.at)
    }

    /// Its text up to the last line end, or all of it where it has none; `None` where that is no text.
    pub(super) fn text(&self) -> Option<&str> {
        let end = self.bytes.iter().rposition(|&byte| byte == b'\n').map_or(self.bytes.len(), |end| end + 1);
        let text = std::str::from_utf8(&self.bytes[..end]).ok()?;
        (!text.contains('\0')).then(|| text.trim_start_matches('\u{feff}'))
    }

    /// What keeps it from being read as text, where something does.
    pub(super) fn strangeness(&self) -> Option<&'static str> {
        let start = self.bytes.trim_ascii_start();
        let of_text = || match self.text() {
            None if self.bytes.contains(&0) => Some("it is no text, and no binary format that is known"),
            None => Some("its text is not UTF-8; convert the file, as by `iconv -f latin1 -t utf8`"),
            Some(_) if start.starts_with(b"[") => Some("it is a list of JSON; write each object on a line of its own, as by `jq -c '.[]'`"),
            Some(_) if start.starts_with(b"#") => Some("its first line is a comment; take it away"),
            Some(text) if text.contains("\\\"") => Some("it has quotes behind backslashes; inside of a quoted field a quote is doubled"),
            Some(_) => None,
        };
        no_lines(&self.bytes).or_else(of_text)
    }

    /// The first line.
    pub(super) fn first_line(&self) -> Option<&str> {
        self.text()?.lines().next()
    }
}

/// What shows by its first bytes that a file has no lines of text.
pub(super) fn no_lines(bytes: &[u8]) -> Option<&'static str> {
    let ends_in_cr = || !bytes.contains(&b'\n') && bytes.trim_ascii_end().contains(&b'\r');
    match bytes {
        [b'P', b'A', b'R', b'1', ..] if bytes.contains(&0) => Some("it is a Parquet file, of `format: parquet`"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("its text is UTF-16; convert the file to UTF-8"),
        _ if ends_in_cr() => Some("its lines end in CR alone; write LF in its place, as by `tr '\\r' '\\n'`"),
        _ => None,
    }
}

/// A path and its first file; of a folder the one file that is called as files of interactions are, where others stand beside it.
fn first_of(path: String) -> Result<(String, Location)> {
    let mut files = files::named("path", &path)?;
    let is_of_all = files.len() == 1 || !path.ends_with('/') || files::is_pattern(&path);
    let usual: Vec<usize> = (0..files.len()).filter(|&place| !is_of_all && archive::is_usual(&files[place].0)).collect();
    match usual[..] {
        [one] => {
            let (name, at) = files.swap_remove(one);
            Ok((format!("{path}{name}"), at))
        }
        _ => Ok((path, files.swap_remove(0).1)),
    }
}
