//! Whole files and streams. What is larger than a part comes in parts, each of them a request that is repeated when its answer breaks off;
//! all are parts of one and the same content.

use super::{Expected, Location, PART, PARTS_AT_ONCE, server::Server};
use crate::{Error, Result, block_on};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use object_store::{GetOptions, GetRange, GetResultPayload, ObjectMeta, ObjectStore, ObjectStoreExt, path::Path};
use std::{
    io::{self, Read},
    ops::Range,
    sync::Arc,
};

impl Location {
    /// The whole file.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when it cannot be read, or changes meanwhile; [`Error::Damaged`] where the location
    /// [holds](Self::holding) another file, or none.
    pub fn read(&self) -> Result<Bytes> {
        let Some(expected) = &self.expected else { return self.fetch() };
        let Expected { entry, remedy } = &**expected;
        let check = |content: Bytes| match entry.describes(&content) {
            true => Ok(content),
            false => Err("its checksum differs from the one in its marker".to_owned()),
        };
        match checked(self, || self.fetch(), check, remedy) {
            Err(Error::NotFound { .. }) => Err(Error::damaged(self, format!("it is missing, and its marker names it; {remedy}"))),
            other => other,
        }
    }

    fn fetch(&self) -> Result<Bytes> {
        let failed = |error| self.read_error(&error);
        match self.begin().map_err(failed)? {
            Begun::Whole(content) => Ok(content),
            Begun::File(mut file, size) => {
                let mut content = Vec::with_capacity(size as usize);
                file.read_to_end(&mut content).map_err(|error| Error::store("read", self, &error))?;
                Ok(content.into())
            }
            Begun::Large(meta) => {
                let joined = |mut content: Vec<u8>, part: Bytes| {
                    content.extend_from_slice(&part);
                    async { Ok(content) }
                };
                let content = Vec::with_capacity(meta.size as usize);
                let parts = self.parts(&meta, PARTS_AT_ONCE);
                Ok(block_on(parts.try_fold(content, joined)).map_err(failed)?.into())
            }
        }
    }

    /// The file as a stream, for what need not be in memory at once.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when it cannot be opened. Later failures come from the reader.
    pub fn open(&self) -> Result<impl Read + Send + use<>> {
        Ok(match self.begin().map_err(|error| self.read_error(&error))? {
            Begun::File(file, _) => Content::File(file),
            Begun::Whole(block) => Content::Stream { stream: futures::stream::empty().boxed(), block, at: self.clone() },
            Begun::Large(meta) => {
                let stream = self.parts(&meta, 2).boxed();
                Content::Stream { stream, block: Bytes::new(), at: self.clone() }
            }
        })
    }

    /// The first bytes of a file that is not empty, as many as there are of so many.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when it cannot be read.
    pub fn beginning(&self, bytes: u64) -> Result<Bytes> {
        let once = || self.server.store.get_range(&self.path, 0..bytes);
        self.server.attempt(once).map_err(|error| self.read_error(&error))
    }

    /// Asks for the file, and reads it when it is small.
    pub(super) fn begin(&self) -> object_store::Result<Begun> {
        let store = &self.server.store;
        self.server.attempt(|| async {
            let found = store.get(&self.path).await?;
            match found.payload {
                GetResultPayload::File(file, _) => Ok(Begun::File(file, found.meta.size)),
                GetResultPayload::Stream(_) if found.meta.size > PART as u64 => Ok(Begun::Large(found.meta)),
                GetResultPayload::Stream(_) => {
                    let size = found.meta.size;
                    found.bytes().await.and_then(|content| whole(content, size)).map(Begun::Whole)
                }
            }
        })
    }

    /// The file's parts in order, so many of them under way at a time. They are fetched by the runtime's threads also while nobody waits.
    fn parts(&self, meta: &ObjectMeta, at_once: usize) -> impl futures::Stream<Item = object_store::Result<Bytes>> + Send + use<> {
        let (size, tag) = (meta.size, meta.e_tag.clone());
        let (server, path) = (Arc::clone(&self.server), self.path.clone());
        let ranges = (0..size).step_by(PART).map(move |start| start..size.min(start + PART as u64));
        let fetch = move |range| tokio::spawn(part(Arc::clone(&server), path.clone(), range, tag.clone()));
        futures::stream::iter(ranges).map(fetch).buffered(at_once).map(|part| part?)
    }
}

/// A file that was asked for.
pub(super) enum Begun {
    File(std::fs::File, u64),
    Whole(Bytes),
    Large(ObjectMeta),
}

/// One part of the content with this tag.
pub(super) async fn part(server: Arc<Server>, path: Path, range: Range<u64>, tag: Option<String>) -> object_store::Result<Bytes> {
    let length = range.end - range.start;
    let options = GetOptions { range: Some(GetRange::Bounded(range)), if_match: tag, ..GetOptions::default() };
    let once = || async { whole(server.store.get_opts(&path, options.clone()).await?.bytes().await?, length) };
    server.attempted(once).await
}

/// That nothing is missing, which a server or a proxy may leave out without a word.
fn whole(content: Bytes, length: u64) -> object_store::Result<Bytes> {
    if content.len() as u64 == length {
        return Ok(content);
    }
    let reason = format!("Got invalid content: {} bytes where {length} were announced", content.len());
    Err(object_store::Error::Generic { store: "storage", source: reason.into() })
}

/// A blocking reader: of a local file itself, or of a store's parts.
enum Content {
    File(std::fs::File),
    Stream { stream: BoxStream<'static, object_store::Result<Bytes>>, block: Bytes, at: Location },
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (stream, block, at) = match self {
            Self::File(file) => return file.read(buffer),
            Self::Stream { stream, block, at } => (stream, block, at),
        };
        while block.is_empty() {
            match block_on(stream.next()) {
                Some(next) => *block = next.map_err(|error| io::Error::other(at.read_error(&error)))?,
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(block.len());
        buffer[..length].copy_from_slice(&block.split_to(length));
        Ok(length)
    }
}

/// What `check` makes of a content; where it refuses it the content is fetched once more, as a network may have changed it on its way.
pub(crate) fn checked<T>(
    at: &Location,
    fetch: impl Fn() -> Result<Bytes>,
    check: impl Fn(Bytes) -> Result<T, String>,
    remedy: &str,
) -> Result<T> {
    let first = fetch()?;
    if let Ok(content) = check(first.clone()) {
        return Ok(content);
    }
    let second = fetch()?;
    match check(second.clone()) {
        Ok(content) => {
            tracing::warn!(file = %at, "what was read was not what is stored; read again, it is whole");
            Ok(content)
        }
        Err(reason) if first == second => Err(Error::damaged(at, format!("{reason}; {remedy}"))),
        Err(_) => {
            let words =
                "two reads of it differ, and neither is what its marker says: the disk, the network or this machine's memory is at fault";
            Err(Error::Store { action: "read", at: at.to_string(), source: words.into() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileEntry;

    #[test]
    fn a_large_file_comes_in_parts() {
        let content: Vec<u8> = (0..2 * PART + 12_345).map(|i| (i % 251) as u8).collect();
        let at = Location::parse("memory:///read/large").unwrap();
        at.write(content.clone()).unwrap();
        assert!(at.read().unwrap() == content);
        assert!(at.beginning(1_000).unwrap() == content[..1_000] && at.beginning(1 << 40).unwrap() == content);
        let mut streamed = Vec::new();
        at.open().unwrap().read_to_end(&mut streamed).unwrap();
        assert!(streamed == content);
    }

    #[test]
    fn only_the_file_that_is_expected_is_read() {
        let at = Location::parse("memory:///read/expected").unwrap();
        at.write("one").unwrap();
        let holding = at.holding(&FileEntry::of(b"one"), "make it again");
        assert_eq!(holding.read().unwrap(), "one");
        let reason = || holding.read().unwrap_err().to_string();
        at.write("two").unwrap();
        assert_eq!(reason(), "memory:///read/expected: its checksum differs from the one in its marker; make it again");
        at.delete().unwrap();
        assert_eq!(reason(), "memory:///read/expected: it is missing, and its marker names it; make it again");
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_an_error() {
        let at = Location::parse("memory:///read/changing").unwrap();
        at.write(vec![1; 4 * PART]).unwrap();
        let mut reader = at.open().unwrap();
        at.write(vec![2; 4 * PART]).unwrap();
        let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
        let error = error.into_inner().unwrap().downcast::<Error>().unwrap();
        assert!(matches!(*error, Error::Store { .. }), "{error}");
    }

    #[test]
    fn what_is_missing_from_a_body_is_noticed() {
        assert!(whole(Bytes::from_static(b"abc"), 3).is_ok());
        let error = whole(Bytes::from_static(b"ab"), 3).unwrap_err();
        assert!(super::super::words::may_pass(&error), "{error}");
    }
}
