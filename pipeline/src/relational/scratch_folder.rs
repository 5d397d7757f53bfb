//! Folders for what a preparation stores and spills on this machine.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tempfile::TempDir;

/// The folders that are there now.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder that goes with its owner, or by [`remove_scratch_folders`].
pub(super) struct ScratchFolder(TempDir);

impl ScratchFolder {
    /// Makes a folder of a name of its own in another one.
    pub(super) fn new_in(folder: &Path) -> io::Result<Self> {
        let made = tempfile::Builder::new().prefix("ranksweep-").tempdir_in(folder)?;
        folders().insert(made.path().to_owned());
        Ok(Self(made))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        folders().remove(self.0.path());
    }
}

/// Removes the scratch folders of all preparations of this process: for a process that ends at once, whose preparations are never dropped. What cannot be
/// removed stays.
pub fn remove_scratch_folders() {
    let there = std::mem::take(&mut *folders());
    for folder in there {
        // A thread that still writes may put a file into a folder that is being removed.
        for _ in 0..3 {
            if fs::remove_dir_all(&folder).is_ok() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_go_with_their_owners_or_all_at_once() {
        let outer = tempfile::tempdir().unwrap();
        let count = || outer.path().read_dir().unwrap().count();
        let [first, second] = [(), ()].map(|()| ScratchFolder::new_in(outer.path()).unwrap());
        fs::create_dir(first.path().join("edges")).unwrap();
        fs::write(first.path().join("edges/part-0"), "rows").unwrap();
        drop(second);
        assert_eq!(count(), 1);
        remove_scratch_folders();
        assert_eq!(count(), 0);
        drop(first);
    }
}
