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
pub(crate) struct ScratchFolder(TempDir);

impl ScratchFolder {
    /// Makes a folder of a name of its own in another one.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        let made = tempfile::Builder::new().prefix("ranksweep-").tempdir_in(folder)?;
        folders().insert(made.path().to_owned());
        Ok(Self(made))
    }

    pub(crate) fn path(&self) -> &Path {
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
    remove(&std::mem::take(&mut *folders()));
}

fn remove(those: &BTreeSet<PathBuf>) {
    for folder in those {
        // A thread that still writes may put a file into a folder that is being removed.
        for _ in 0..3 {
            if fs::remove_dir_all(folder).is_ok() {
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
        let [first, second] = [(), ()].map(|()| ScratchFolder::new_in(outer.path()).unwrap());
        fs::create_dir(first.path().join("edges")).unwrap();
        fs::write(first.path().join("edges/part-0"), "rows").unwrap();
        // Other tests of this process have folders too.
        let own = || folders().iter().filter(|folder| folder.starts_with(outer.path())).cloned().collect::<BTreeSet<PathBuf>>();
        assert_eq!(own(), BTreeSet::from([first.path().to_owned(), second.path().to_owned()]));
        drop(second);
        assert_eq!((own().len(), outer.path().read_dir().unwrap().count()), (1, 1));
        remove(&own());
        assert_eq!(outer.path().read_dir().unwrap().count(), 0);
        drop(first);
        assert!(own().is_empty());
    }
}
