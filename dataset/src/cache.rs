//! Prepared datasets of a server, kept on this machine: a sweep reads each of them many times.
//!
//! A table is kept under its checksum, so that it cannot be out of date, and damage is noticed and mended. The manifest is always the server's.
//! Several processes may share a cache. It holds so many bytes; what was not used for the longest time goes first. Other files of the folder stay.

use crate::{FileEntry, Location, Result, file_entry::checksum};
use bytes::Bytes;
use std::{
    ffi::OsStr,
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Bytes that a cache holds at most, unless one dataset alone is larger.
const BOUND: u64 = 20 << 30;

/// A folder of tables by their checksums.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Location,
    path: PathBuf,
    bound: u64,
}

impl Cache {
    /// Makes a cache in a folder of this machine, which need not be there yet.
    ///
    /// # Errors
    /// [`Error::Url`](crate::Error::Url) for a path that this system does not have.
    pub fn new(folder: &Path) -> Result<Self> {
        let folder = Location::parse(&folder.to_string_lossy())?;
        let path = folder
            .local_path()
            .ok_or_else(|| crate::Error::Url { text: folder.to_string(), reason: "a cache is a folder of this machine".to_owned() })?;
        Ok(Self { folder, path, bound: BOUND })
    }

    /// The table at a location: the kept one where it is whole, or the stored one, which is kept from now on.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) fn table(&self, at: &Location, entry: &FileEntry) -> Result<Bytes> {
        let kept = self.folder.join(&entry.sha256);
        if let Ok(bytes) = kept.read()
            && checksum(&bytes) == entry.sha256
        {
            self.touch(&entry.sha256);
            return Ok(bytes);
        }
        let bytes = at.read()?;
        if checksum(&bytes) == entry.sha256 {
            let stored = kept.write(bytes.clone()).map_err(|error| error.whole());
            if let Err(error) = stored.and_then(|()| self.shrink(&entry.sha256).map_err(|error| error.to_string())) {
                tracing::warn!(error, "the cache of datasets cannot be used; choose another folder with --cache");
            }
        }
        Ok(bytes)
    }

    /// Remembers that a table was used. Where the system does not let it, the table goes sooner.
    fn touch(&self, name: &str) {
        let now = |file: File| file.set_modified(SystemTime::now());
        let _ = File::options().write(true).open(self.path.join(name)).and_then(now);
    }

    /// Removes the tables that were not used for the longest time, down to the bound, and never the one that was just kept.
    fn shrink(&self, kept: &str) -> io::Result<()> {
        let mut tables: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
        for entry in self.path.read_dir()? {
            let entry = entry?;
            if !is_table(&entry.file_name()) {
                continue;
            }
            // One that another process has removed meanwhile is gone, as it should be.
            let Some(found) = entry.metadata().ok().filter(Metadata::is_file) else { continue };
            tables.push((found.modified()?, entry.path(), found.len()));
        }
        tables.sort();
        let mut total: u64 = tables.iter().map(|(.., bytes)| bytes).sum();
        for (_, path, bytes) in tables.iter().filter(|(_, path, _)| !path.ends_with(kept)) {
            if total <= self.bound {
                break;
            }
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => total -= bytes,
            }
        }
        Ok(())
    }
}

/// Whether a file has the name of a table, which is its checksum, or of one that is being written: the same with `#` and a number.
fn is_table(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let (sum, number) = name.split_once('#').unwrap_or((&name, "0"));
    let is_hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    sum.len() == 64 && sum.bytes().all(is_hex) && number.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(content: &str) -> FileEntry {
        FileEntry { bytes: content.len() as u64, sha256: checksum(content.as_bytes()) }
    }

    struct Bench {
        _folder: tempfile::TempDir,
        cache: Cache,
        stored: Location,
    }

    impl Bench {
        fn new(name: &str, bound: u64) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache { bound, ..Cache::new(&folder.path().join("new")).unwrap() };
            Self { _folder: folder, cache, stored: Location::parse("memory:///cache").unwrap().join(name) }
        }

        fn read(&self, name: &str, content: &str) -> Result<Bytes> {
            self.cache.table(&self.stored.join(name), &entry(content))
        }

        fn kept(&self, content: &str) -> PathBuf {
            self.cache.path.join(entry(content).sha256)
        }
    }

    #[test]
    fn a_kept_table_is_not_fetched_again_unless_it_is_damaged() {
        let bench = Bench::new("kept", 100);
        bench.stored.join("a").write("one").unwrap();
        assert_eq!(bench.read("a", "one").unwrap(), "one");
        bench.stored.join("a").delete().unwrap();
        assert_eq!(bench.read("a", "one").unwrap(), "one");
        std::fs::write(bench.kept("one"), "on").unwrap();
        assert!(bench.read("a", "one").is_err());
        bench.stored.join("a").write("one").unwrap();
        assert_eq!(bench.read("a", "one").unwrap(), "one");
        assert_eq!(std::fs::read(bench.kept("one")).unwrap(), b"one");
    }

    #[test]
    fn what_is_damaged_where_it_is_stored_is_not_kept() {
        let bench = Bench::new("stored", 100);
        bench.stored.join("a").write("other").unwrap();
        assert_eq!(bench.read("a", "one").unwrap(), "other");
        assert!(!bench.kept("one").exists());
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let bench = Bench::new("bound", 8);
        for (name, content) in [("a", "one"), ("b", "two")] {
            bench.stored.join(name).write(content).unwrap();
            bench.read(name, content).unwrap();
        }
        let set = |content: &str, seconds: u64| {
            let file = File::options().write(true).open(bench.kept(content)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        };
        set("one", 10);
        set("two", 20);
        bench.read("a", "one").unwrap();
        bench.stored.join("c").write("three").unwrap();
        bench.read("c", "three").unwrap();
        assert_eq!((bench.kept("one").exists(), bench.kept("two").exists(), bench.kept("three").exists()), (true, false, true));
    }

    #[test]
    fn files_of_other_programs_stay() {
        let bench = Bench::new("foreign", 4);
        std::fs::create_dir_all(&bench.cache.path).unwrap();
        let foreign = bench.cache.path.join("thesis.tex");
        std::fs::write(&foreign, "years of work").unwrap();
        let old = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
        File::options().write(true).open(&foreign).unwrap().set_modified(old).unwrap();
        for (name, content) in [("a", "one"), ("b", "two")] {
            bench.stored.join(name).write(content).unwrap();
            bench.read(name, content).unwrap();
        }
        assert_eq!((foreign.exists(), bench.kept("one").exists(), bench.kept("two").exists()), (true, false, true));
        let staged = format!("{}#12", entry("one").sha256);
        assert_eq!(["thesis.tex", "0af", &staged, &entry("one").sha256].map(|name| is_table(OsStr::new(name))), [false, false, true, true]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_hinders_nobody() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let stored = Location::parse("memory:///cache/blocked").unwrap();
        stored.write("one").unwrap();
        let cache = Cache::new(&folder.path().join("file")).unwrap();
        assert_eq!(cache.table(&stored, &entry("one")).unwrap(), "one");
    }
}
