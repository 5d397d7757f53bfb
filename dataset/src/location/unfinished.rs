//! What killed writers leave on a local disk: `scorer.safetensors#1`, which was to be put in place under its name.

use super::Location;
use crate::{Error, Result};
use std::{io, path::PathBuf, time::SystemTime};

/// A file that was never put in place. No reader and no listing sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Path of the file on this machine.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
    /// When something was last written into it.
    pub modified: SystemTime,
}

impl Location {
    /// The files below this folder that were never put in place, sorted. Only a local disk has such files; one that is being written now is
    /// among them.
    ///
    /// # Errors
    /// [`Error::Store`] for a folder that cannot be read. A missing folder is an empty one.
    pub fn unfinished(&self) -> Result<Vec<Unfinished>> {
        let mut found = Vec::new();
        let mut folders: Vec<PathBuf> = self.local_path().into_iter().collect();
        while let Some(folder) = folders.pop() {
            let mut visit = || -> io::Result<()> {
                for entry in folder.read_dir()? {
                    let entry = entry?;
                    match entry.file_type()?.is_dir() {
                        true => folders.push(entry.path()),
                        false if is_unfinished(&entry.file_name().to_string_lossy()) => {
                            let metadata = entry.metadata()?;
                            found.push(Unfinished { path: entry.path(), bytes: metadata.len(), modified: metadata.modified()? });
                        }
                        false => {}
                    }
                }
                Ok(())
            };
            match visit() {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::store("list", self, &error)),
                _ => {}
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

impl Unfinished {
    /// Removes the file; that it is gone already is no error.
    ///
    /// # Errors
    /// [`Error::Store`] when the system refuses.
    pub fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::store("delete", self.path.display(), &error)),
            _ => Ok(()),
        }
    }
}

/// Whether the name of a file ends in `#` and a number, as `object_store` names what it writes: no listing of a local folder has it.
pub fn is_unfinished(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_writer_left_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = Location::parse(folder.path().to_str().unwrap()).unwrap();
        root.join("trials/a/done.json").write("{}").unwrap();
        for (name, content) in [("trials/a/done.json#1", "half"), ("own#x", "x"), ("b#12", "")] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let found = root.unfinished().unwrap();
        let names: Vec<_> =
            found.iter().map(|file| (file.path.strip_prefix(folder.path()).unwrap().to_str().unwrap(), file.bytes)).collect();
        assert_eq!(names, [("b#12", 0), ("trials/a/done.json#1", 4)]);
        found.iter().for_each(|file| file.remove().unwrap());
        found.iter().for_each(|file| file.remove().unwrap());
        assert_eq!(root.unfinished().unwrap(), []);
        assert!(root.join("trials/a/done.json").exists().unwrap());
        assert_eq!(root.join("none").unfinished().unwrap(), []);
        assert_eq!(Location::parse("memory:///unfinished").unwrap().unfinished().unwrap(), []);
    }
}
