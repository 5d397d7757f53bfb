//! Files into stores: whole or not at all.

use super::{
    Location, PART, PARTS_AT_ONCE,
    place::{Place, write_through},
};
use crate::{Error, Result};
use bytes::Bytes;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};
use tokio::task::JoinSet;

impl Location {
    /// Bytes that [`write_pieces`](Self::write_pieces) takes at most beside pieces of so many bytes: parts on their way, and the next one.
    pub fn memory_to_write(bytes: u64) -> u64 {
        bytes.min(((PARTS_AT_ONCE + 1) * PART) as u64)
    }

    /// Puts the whole file in place, atomically. What is larger than a part goes to a server in parts. A link is followed; into a pipe or a
    /// device the content is written as it is opened, and it may be written in part when an error comes.
    ///
    /// # Errors
    /// [`Error::Store`]: the old file, if any, is untouched.
    pub fn write(&self, content: impl Into<Bytes>) -> Result<()> {
        let content = content.into();
        match self.place()? {
            Place::Here => self.put(content),
            Place::Linked(aim) => aim.put(content),
            Place::Through(path) => write_through(&path, &content[..]),
        }
    }

    fn put(&self, content: Bytes) -> Result<()> {
        if self.is_remote() && content.len() > PART {
            return self.write_parts(&|place, size| Ok(content.slice(place.min(content.len())..content.len().min(place + size))));
        }
        let payload = PutPayload::from_bytes(content);
        let put = || self.server.store.put(&self.path, payload.clone());
        self.server.attempt(put).map_err(|error| self.store_error("write", &error))?;
        Ok(())
    }

    /// Puts a file of these pieces, one after the other, in place, atomically: as [`write`](Self::write), with no more than a few parts of it
    /// in memory once more.
    ///
    /// # Errors
    /// [`Error::Store`]: the old file, if any, is untouched.
    pub fn write_pieces(&self, pieces: &[&[u8]]) -> Result<()> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let put = |aim: &Self| match length <= aim.part() {
            true => aim.put(pieces.concat().into()),
            false => aim.write_parts(&|place, size| Ok(part_of(pieces, place, size))),
        };
        match self.place()? {
            Place::Here => put(self),
            Place::Linked(aim) => put(&aim),
            Place::Through(path) => write_through(&path, &pieces.concat()[..]),
        }
    }

    /// Copies a local file here in parts, atomically: the file appears when the last part is in. Links, pipes and devices are as for
    /// [`write`](Self::write).
    ///
    /// # Errors
    /// [`Error::Store`]: the old file, if any, is untouched.
    pub fn upload(&self, file: &Path) -> Result<()> {
        let content = File::open(file).map_err(|error| Error::store("read", file.display(), &error))?;
        match self.place()? {
            Place::Here => self.put_parts_of(&content),
            Place::Linked(aim) => aim.put_parts_of(&content),
            Place::Through(path) => write_through(&path, content),
        }
    }

    /// Moves a local file here, atomically: by a rename where the store is of the same disk, else as [`upload`](Self::upload) copies it, after which it is removed.
    ///
    /// # Errors
    /// [`Error::Store`]: the old file, if any, is untouched.
    pub fn take(&self, file: &Path) -> Result<()> {
        if let (Place::Here, Some(path)) = (self.place()?, self.local_path())
            && rename(file, &path).is_ok()
        {
            return Ok(());
        }
        self.upload(file)?;
        fs::remove_file(file).map_err(|error| Error::store("remove", file.display(), &error))
    }

    fn put_parts_of(&self, source: &File) -> Result<()> {
        self.write_parts(&|place, size| {
            let mut source = source;
            source.seek(SeekFrom::Start(place as u64))?;
            let mut part = Vec::with_capacity(size);
            source.take(size as u64).read_to_end(&mut part)?;
            Ok(part.into())
        })
    }

    /// Copies the file to another place of the same store, atomically: on this machine its bytes, as not every disk has hard links, elsewhere by the
    /// store's own means.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no file stands here; [`Error::Store`]: the old file there, if any, is untouched.
    pub fn copy(&self, to: &Self) -> Result<()> {
        if let Some(file) = self.local_path() {
            return if file.exists() { to.upload(&file) } else { Err(Error::NotFound { at: self.to_string() }) };
        }
        let copied = self.server.attempt(|| self.server.store.copy(&self.path, &to.path));
        copied.map_err(|error| match error {
            object_store::Error::NotFound { .. } => Error::NotFound { at: self.to_string() },
            error => to.store_error("write", &error),
        })
    }

    /// Creates the file where none stands. `content` must be what nobody else would write there: that is how a write that arrived although
    /// its answer was lost is told from another's. `false` where another file stands, or stood a moment ago.
    ///
    /// # Errors
    /// [`Error::Store`] when the store fails or cannot create on a condition.
    pub fn create(&self, content: impl Into<Bytes>) -> Result<bool> {
        let content = content.into();
        let payload = PutPayload::from_bytes(content.clone());
        let put = || self.server.store.put_opts(&self.path, payload.clone(), PutMode::Create.into());
        match self.server.attempt(put) {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => match self.read() {
                Ok(found) => Ok(found == content),
                Err(Error::NotFound { .. }) => Ok(false),
                Err(error) => Err(error),
            },
            Err(error) => Err(self.store_error("create", &error)),
        }
    }

    /// Bytes of one part of a large file.
    fn part(&self) -> usize {
        if self.is_remote() { PART } else { LOCAL_PART }
    }

    /// Uploads a file in parts, up to an empty one: a few large ones at a time to a server, which answers late, small ones in turn to a disk.
    fn write_parts(&self, part: Parts<'_>) -> Result<()> {
        let (size, at_once) = (self.part(), if self.is_remote() { PARTS_AT_ONCE } else { 1 });
        let upload = || async {
            let mut upload = self.server.store.put_multipart(&self.path).await?;
            let result = send_parts(&mut *upload, part, size, at_once).await;
            if result.is_err() {
                // Its parts are paid for and seen by nobody. The first error is what matters.
                let _ = upload.abort().await;
            }
            result
        };
        self.server.attempt(upload).map_err(|error| self.store_error("write", &error))
    }
}

/// Bytes of one part of a large file that is written to a disk.
const LOCAL_PART: usize = 1 << 18;

/// The part of at most some size that begins at a place; empty behind the end.
type Parts<'a> = &'a dyn Fn(usize, usize) -> std::io::Result<Bytes>;

/// The part of at most this size of the pieces one after the other that begins at this place.
fn part_of(pieces: &[&[u8]], place: usize, size: usize) -> Bytes {
    let mut part = Vec::with_capacity(size);
    let mut skipped = 0;
    for piece in pieces {
        let from = (place + part.len()).saturating_sub(skipped).min(piece.len());
        let to = piece.len().min(from + size - part.len());
        part.extend_from_slice(&piece[from..to]);
        skipped += piece.len();
    }
    part.into()
}

/// Renames a file into a folder that is made if it is not there. Another disk's is an error.
fn rename(file: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::rename(file, to)
}

async fn send_parts(upload: &mut dyn MultipartUpload, part: Parts<'_>, size: usize, at_once: usize) -> object_store::Result<()> {
    let mut under_way = JoinSet::new();
    for place in (0..).step_by(size) {
        let content = part(place, size).map_err(|error| object_store::Error::Generic { store: "local file", source: error.into() })?;
        if content.is_empty() {
            break;
        }
        if under_way.len() == at_once {
            finished(&mut under_way).await?;
        }
        under_way.spawn(upload.put_part(content.into()));
    }
    while !under_way.is_empty() {
        finished(&mut under_way).await?;
    }
    upload.complete().await?;
    Ok(())
}

/// Waits for one part.
async fn finished(parts: &mut JoinSet<object_store::Result<()>>) -> object_store::Result<()> {
    parts.join_next().await.transpose()?.unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn a_file_is_moved_over_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source");
        for root in [folder.path().to_str().unwrap(), "memory:///take"] {
            let at = Location::parse(root).unwrap().join("below/table");
            at.write("old").unwrap();
            fs::write(&source, "new").unwrap();
            at.take(&source).unwrap();
            assert_eq!((&at.read().unwrap()[..], source.exists()), (&b"new"[..], false));
            assert!(at.take(&source).is_err());
            assert_eq!(at.read().unwrap(), "new");
        }
    }

    #[test]
    fn a_folder_is_not_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source");
        fs::write(&source, "new").unwrap();
        let at = Location::parse(folder.path().to_str().unwrap()).unwrap();
        at.join("table/below").write("old").unwrap();
        assert!(at.join("table").take(&source).is_err());
        assert_eq!((fs::read(&source).unwrap(), at.join("table/below").read().unwrap()), (b"new".to_vec(), "old".into()));
    }

    #[test]
    fn an_upload_in_parts_equals_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..2 * PART + 12_345).map(|i| (i % 251) as u8).collect();
        std::fs::write(folder.path().join("source"), &content).unwrap();
        for root in [folder.path().to_str().unwrap(), "memory:///upload"] {
            let copy = Location::parse(root).unwrap().join("copy");
            copy.upload(&folder.path().join("source")).unwrap();
            assert!(copy.read().unwrap() == content);
        }
    }

    #[test]
    fn pieces_become_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..2 * PART + 12_345).map(|i| (i % 251) as u8).collect();
        for root in [folder.path().to_str().unwrap(), "memory:///pieces"] {
            let at = Location::parse(root).unwrap().join("whole");
            for (length, cuts) in [
                (content.len(), [0, 3, PART, PART + 1]),
                (2 * PART, [PART - 1, PART - 1, PART, 2 * PART]),
                (LOCAL_PART, [1; 4]),
                (LOCAL_PART + 1, [9; 4]),
                (9, [0, 0, 4, 9]),
                (0, [0; 4]),
            ] {
                let [a, b, c, d] = cuts;
                at.write_pieces(&[&content[..a], &content[a..b], &content[b..c], &content[c..d], &content[d..length]]).unwrap();
                assert!(at.read().unwrap() == content[..length], "{root} {length}");
            }
        }
    }

    #[test]
    fn of_many_at_once_one_creates() {
        let folder = tempfile::tempdir().unwrap();
        for root in [folder.path().to_str().unwrap(), "memory:///race"] {
            for round in 0..50 {
                let at = Location::parse(root).unwrap().join(&format!("claims/{round}"));
                let start = Barrier::new(16);
                let claim = |owner: usize| {
                    start.wait();
                    at.create(format!("owner {owner}")).unwrap()
                };
                let won: Vec<usize> = std::thread::scope(|threads| {
                    let claim = &claim;
                    let runners: Vec<_> = (0..16).map(|owner| threads.spawn(move || claim(owner).then_some(owner))).collect();
                    runners.into_iter().filter_map(|runner| runner.join().unwrap()).collect()
                });
                assert_eq!(won.len(), 1, "{at}");
                assert_eq!(at.read().unwrap(), format!("owner {}", won[0]));
            }
        }
    }

    #[test]
    fn a_create_that_arrived_unheard_is_found_to_be_ones_own() {
        let at = Location::parse("memory:///create/own").unwrap();
        assert!(at.create("mine").unwrap());
        assert!(at.create("mine").unwrap());
        assert!(!at.create("another's").unwrap());
    }
}
