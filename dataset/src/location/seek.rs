//! A file that is read at any place, as formats ask whose directory stands at their end.

use super::{
    Location, PART,
    read::{Begun, part},
    server::Server,
};
use crate::{Result, block_on};
use bytes::Bytes;
use object_store::{ObjectMeta, path::Path};
use std::{
    fs::File,
    io::{self, Cursor, Read, Seek, SeekFrom},
    sync::Arc,
};

impl Location {
    /// The file, to be read at any place. Of a large one on a server, a part is in memory at a time.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), or [`Error::Store`](crate::Error::Store) when it cannot be opened. Later failures come from the reader.
    pub fn seekable(&self) -> Result<impl Read + Seek + Send + use<>> {
        Ok(match self.begin().map_err(|error| self.read_error(&error))? {
            Begun::File(file, _) => Seekable::File(file),
            Begun::Whole(content) => Seekable::Whole(Cursor::new(content)),
            Begun::Large(meta) => Seekable::Large(Parts::of(self.clone(), &meta)),
        })
    }
}

enum Seekable {
    File(File),
    Whole(Cursor<Bytes>),
    Large(Parts),
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Whole(content) => content.read(buffer),
            Self::Large(parts) => parts.read(buffer),
        }
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Whole(content) => content.seek(to),
            Self::Large(parts) => parts.seek(to),
        }
    }
}

/// A large file on a server, of which one part is held.
struct Parts {
    at: Location,
    server: Arc<Server>,
    path: Path,
    tag: Option<String>,
    size: u64,
    place: u64,
    /// The part that is held, and where it starts.
    held: Bytes,
    start: u64,
}

impl Parts {
    fn of(at: Location, meta: &ObjectMeta) -> Self {
        let (server, path) = (Arc::clone(&at.server), at.path.clone());
        Self { at, server, path, tag: meta.e_tag.clone(), size: meta.size, place: 0, held: Bytes::new(), start: 0 }
    }

    /// Holds the part in which the place is.
    fn hold(&mut self) -> io::Result<()> {
        let start = self.place - self.place % PART as u64;
        let range = start..self.size.min(start + PART as u64);
        let fetched = block_on(part(Arc::clone(&self.server), self.path.clone(), range, self.tag.clone()));
        self.held = fetched.map_err(|error| io::Error::other(self.at.read_error(&error)))?;
        self.start = start;
        Ok(())
    }
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.place >= self.size {
            return Ok(0);
        }
        if !(self.start..self.start + self.held.len() as u64).contains(&self.place) {
            self.hold()?;
        }
        let rest = &self.held[(self.place - self.start) as usize..];
        let length = buffer.len().min(rest.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.place += length as u64;
        Ok(length)
    }
}

impl Seek for Parts {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.place.checked_add_signed(by),
        };
        self.place = place.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the file's start"))?;
        Ok(self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of several parts, read here and there as a file on this machine and as one in memory, which stands for a server's.
    #[test]
    fn any_place_is_read() {
        let content: Vec<u8> = (0..2 * PART + 12_345).map(|i| (i % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let local = folder.path().join("large");
        for url in ["memory:///seek/large", local.to_str().unwrap()] {
            let at = Location::parse(url).unwrap();
            at.write(content.clone()).unwrap();
            let mut file = at.seekable().unwrap();
            for place in [content.len() - 5, 7, PART - 3, 2 * PART - 1, PART] {
                let mut found = Vec::new();
                assert_eq!(file.seek(SeekFrom::Start(place as u64)).unwrap(), place as u64);
                file.by_ref().take(100).read_to_end(&mut found).unwrap();
                assert!(found == content[place..content.len().min(place + 100)], "{url} {place}");
            }
            assert_eq!(file.seek(SeekFrom::End(-4)).unwrap(), content.len() as u64 - 4);
            assert_eq!(file.seek(SeekFrom::Current(-1)).unwrap(), content.len() as u64 - 5);
            assert!(file.seek(SeekFrom::End(-(content.len() as i64) - 1)).is_err());
            file.seek(SeekFrom::Start(1 << 40)).unwrap();
            assert_eq!(file.read(&mut [0; 8]).unwrap(), 0);
        }
    }
}
