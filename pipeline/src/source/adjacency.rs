//! A user and all their items on each line, as LightGCN's files: `user item item …`, separated by spaces or tabs.
//!
//! A user without items on their line has none in that part. Without a test file the source comes whole, and `train` may be a folder or a pattern.

use super::{
    KnownColumns, SourceKind, archive,
    beginning::{Beginning, no_lines},
    blocks::LINE_BYTES,
    content, files,
    row::{Row, Sink, Sinks},
};
use crate::{Error, Result};
use dataset::{Location, Split};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read};

/// `adjacency` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjacency {
    /// The file that models learn from; without `test` all files, which a split parts.
    pub train: String,
    /// The file that is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

impl SourceKind for Adjacency {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        let test = self.test.iter().map(|test| ("source.test", Split::Test, &test[..]));
        [("source.train", Split::Train, &self.train[..])].into_iter().chain(test).collect()
    }

    /// `train.txt` with a `test.txt` beside it, as LightGCN's releases have them.
    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        let Some(((folder, suffix), text)) = beginning.path.rsplit_once("train.txt").zip(beginning.text()) else { return Ok(None) };
        let test = format!("{folder}test.txt{suffix}");
        let is_of_numbers = text.split_ascii_whitespace().all(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
        let is_whole = is_of_numbers && beginning.known == KnownColumns::default() && archive::exists(&Location::parse(&test)?)?;
        Ok(is_whole.then(|| Self { train: beginning.path.clone(), test: Some(test) }))
    }

    fn is_read_in_parallel(&self) -> bool {
        false
    }

    /// A space or a tab stands before each item.
    fn rows(&self, part: Split) -> Result<u64> {
        let Some((key, path)) = self.path(part) else { return Ok(0) };
        files::all(key, path)?.iter().map(|at| content::count(at, |block| memchr::memchr2_iter(b' ', b'\t', block).count())).sum()
    }

    fn read(&self, part: Split, sinks: &dyn Sinks) -> Result<()> {
        let Some((key, path)) = self.path(part) else { return Ok(()) };
        let mut sink = sinks.sink();
        files::all(key, path)?.iter().try_for_each(|at| read_file(at, &mut *sink))?;
        sink.finish()
    }
}

/// Gives the rows of one file.
fn read_file(at: &Location, sink: &mut dyn Sink) -> Result<()> {
    let mut content = BufReader::new(content::open(at)?);
    let beginning = content.fill_buf().map_err(|error| content::unreadable(at, 0, error))?;
    if let Some(reason) = no_lines(beginning) {
        return Err(Error::file(at, reason));
    }
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let read = content.by_ref().take(LINE_BYTES as u64 + 1).read_until(b'\n', &mut text);
        if read.map_err(|error| content::unreadable(at, line - 1, error))? == 0 {
            break;
        }
        if text.len() > LINE_BYTES {
            return Err(Error::line(at, line, format!("the line is longer than {LINE_BYTES} bytes; lines must end in LF or CRLF")));
        }
        let text = std::str::from_utf8(&text).map_err(|_| Error::line(at, line, "not UTF-8; convert the file to UTF-8"))?;
        if text.trim_end_matches(['\r', '\n']).contains(['\r', '\0']) {
            let reason = "a carriage return or a zero byte within a line; lines must end in LF or CRLF, and their text be UTF-8";
            return Err(Error::line(at, line, reason.to_owned()));
        }
        let mut ids = text.trim_start_matches('\u{feff}').split_ascii_whitespace();
        let Some(user) = ids.next() else { continue };
        ids.try_for_each(|item| sink.row(Row { user, item, rating: None, time: None }))?;
    }
    Ok(())
}

impl Adjacency {
    /// A part's key and path.
    fn path(&self, part: Split) -> Option<(&'static str, &str)> {
        match part {
            Split::Train => Some(("source.train", &self.train)),
            Split::FoldIn | Split::Validation => None,
            Split::Test => self.test.as_deref().map(|test| ("source.test", test)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{failure, pair, read, source, stored};
    use super::LINE_BYTES;
    use dataset::Split;
    use serde_json::json;

    #[test]
    fn a_line_without_end_is_named() {
        let train = stored("adjacency/endless.txt", [&b"0 1\n"[..], &vec![b'7'; LINE_BYTES + 1]].concat());
        let message = failure(&source(json!({"adjacency": {"train": train, "test": train}})));
        assert!(message.contains("endless.txt line 2: the line is longer than 16777216 bytes"), "{message}");
    }

    #[test]
    fn lines_that_do_not_end_in_lf_are_refused() {
        let message = |name: &str, text: &[u8]| {
            let train = stored(name, text);
            failure(&source(json!({"adjacency": {"train": train, "test": train}})))
        };
        assert!(message("adjacency/cr.txt", b"1 10 11\r2 10 13\r").contains("its lines end in CR alone"));
        assert!(message("adjacency/mixed.txt", b"1 10\n1 11\r2 10\n").contains("line 2: a carriage return"));
        assert!(message("adjacency/utf-16.txt", b"1\0 \x002\0\n\0").contains("line 1: a carriage return or a zero byte"));
    }

    #[test]
    fn items_follow_their_user() {
        let train = stored("adjacency/train.txt", "0 3 4\r\n1 \n\n2\t3\n");
        let source = source(json!({"adjacency": {"train": train, "test": train}}));
        assert_eq!(read(&source, Split::Train).unwrap().rows, [pair("0", "3"), pair("0", "4"), pair("2", "3")]);
        assert_eq!(source.parts(), [Split::Train, Split::Test]);
    }

    #[test]
    fn its_rows_are_items_and_not_lines() {
        let train = stored("adjacency/counted.txt", "user 1 2 3\t4 5 6 7 8 9\n".repeat(1_000));
        assert_eq!(source(json!({"adjacency": {"train": train}})).rows(Split::Train).unwrap(), 9_000);
    }

    #[test]
    fn without_a_test_file_it_comes_whole() {
        let (_, _) = (stored("adjacency/whole/t1.txt", "0 3 4\n"), stored("adjacency/whole/t2.txt", "0 5\n1 3"));
        let source = source(json!({"adjacency": {"train": "memory:///sources/adjacency/whole/t*.txt"}}));
        assert_eq!((source.parts(), source.is_split()), (vec![Split::Train], false));
        assert_eq!(read(&source, Split::Train).unwrap().rows, [pair("0", "3"), pair("0", "4"), pair("0", "5"), pair("1", "3")]);
    }
}
