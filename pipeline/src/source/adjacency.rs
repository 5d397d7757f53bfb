//! A user and all their items on each line, as LightGCN's files: `user item item …`, separated by spaces or tabs.
//!
//! A user without items on their line has none in that part.

use super::{
    KnownColumns, SourceKind, archive,
    beginning::Beginning,
    blocks::LINE_BYTES,
    content,
    row::{Row, Sinks},
};
use crate::{Error, Result};
use dataset::{Location, Split};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read};

/// `adjacency` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjacency {
    /// The file that models learn from.
    pub train: String,
    /// The file that is reported.
    pub test: String,
}

impl SourceKind for Adjacency {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        vec![("source.train", Split::Train, &self.train), ("source.test", Split::Test, &self.test)]
    }

    /// `train.txt` with a `test.txt` beside it, as LightGCN's releases have them.
    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        let Some(((folder, suffix), text)) = beginning.path.rsplit_once("train.txt").zip(beginning.text()) else { return Ok(None) };
        let test = format!("{folder}test.txt{suffix}");
        let is_of_numbers = text.split_ascii_whitespace().all(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
        let is_whole = is_of_numbers && beginning.known == KnownColumns::default() && archive::exists(&Location::parse(&test)?)?;
        Ok(is_whole.then(|| Self { train: beginning.path.clone(), test }))
    }

    fn is_read_in_parallel(&self) -> bool {
        false
    }

    fn read(&self, part: Split, sinks: &dyn Sinks) -> Result<()> {
        let Some(path) = self.path(part) else { return Ok(()) };
        let at = Location::parse(path)?;
        let (mut content, mut sink) = (BufReader::new(content::open(&at)?), sinks.sink());
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let read = content.by_ref().take(LINE_BYTES as u64 + 1).read_until(b'\n', &mut text);
            if read.map_err(|error| content::unreadable(&at, line - 1, error))? == 0 {
                break;
            }
            if text.len() > LINE_BYTES {
                return Err(Error::row(&at, line, format!("the line is longer than {LINE_BYTES} bytes; lines must end in LF or CRLF")));
            }
            let text = std::str::from_utf8(&text).map_err(|_| Error::row(&at, line, "not UTF-8; convert the file to UTF-8"))?;
            let mut ids = text.trim_start_matches('\u{feff}').split_ascii_whitespace();
            let Some(user) = ids.next() else { continue };
            ids.try_for_each(|item| sink.row(Row { user, item, rating: None, time: None }))?;
        }
        sink.finish()
    }
}

impl Adjacency {
    fn path(&self, part: Split) -> Option<&str> {
        match part {
            Split::Train => Some(&self.train),
            Split::FoldIn | Split::Validation => None,
            Split::Test => Some(&self.test),
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
    fn items_follow_their_user() {
        let train = stored("adjacency/train.txt", "0 3 4\r\n1 \n\n2\t3\n");
        let source = source(json!({"adjacency": {"train": train, "test": train}}));
        assert_eq!(read(&source, Split::Train).unwrap().rows, [pair("0", "3"), pair("0", "4"), pair("2", "3")]);
        assert_eq!(source.parts(), [Split::Train, Split::Test]);
    }
}
