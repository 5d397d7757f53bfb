//! What stands where a file is to be put in place, on a local disk: a rename would replace a link, a pipe or a device by a file.

use super::Location;
use crate::{Error, Result};
use std::{
    fs::{self, OpenOptions},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Where what is written to a location goes.
pub(super) enum Place {
    /// The location itself, by a rename: nothing stands there, a file or a folder, or it is no path of this machine.
    Here,
    /// What a link leads to, by a rename.
    Linked(Location),
    /// A pipe or a device, which is written to as it is opened.
    Through(PathBuf),
}

impl Location {
    /// Where what is written here goes.
    ///
    /// # Errors
    /// [`Error::Store`] for a link that leads round in a circle.
    pub(super) fn place(&self) -> Result<Place> {
        let Some(path) = self.local_path() else { return Ok(Place::Here) };
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() || found.is_dir() => return Ok(Place::Here),
            Err(_) if takes_no_files(&path) => {
                let error = io::Error::new(io::ErrorKind::Unsupported, "no file can be created there");
                return Err(Error::store("write", self, &error));
            }
            Err(_) => return Ok(Place::Here), // what is wrong with it is found when it is written
            Ok(_) => {}
        }
        if fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Ok(Place::Through(path));
        }
        let aim = aim(&path).map_err(|error| Error::store("write", self, &error))?;
        Self::parse(&aim.to_string_lossy()).map(Place::Linked)
    }
}

/// Whether the folder of a path is one of the system's own, of processes: it says of each new file that there is no folder for it, and
/// `object_store` makes the folder and tries again for ever.
fn takes_no_files(path: &Path) -> bool {
    let system = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    let folder = path.parent().and_then(system);
    folder.is_some() && folder == system(Path::new("/proc"))
}

/// What a link leads to, whether it is there or not.
fn aim(link: &Path) -> io::Result<PathBuf> {
    match link.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(link) {
            Ok(next) => aim(&link.parent().unwrap_or(link).join(next)),
            Err(_) => Ok(link.to_owned()), // no link any more
        },
        other => other,
    }
}

/// Writes into a pipe or a device.
pub(super) fn write_through(path: &Path, mut content: impl Read) -> Result<()> {
    let mut write = || io::copy(&mut content, &mut OpenOptions::new().write(true).open(path)?);
    write().map_err(|error| Error::store("write", path.display(), &error))?;
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::{os::unix::fs::symlink, process::Command, thread};

    fn root(folder: &tempfile::TempDir) -> Location {
        Location::parse(folder.path().to_str().unwrap()).unwrap()
    }

    #[test]
    fn a_link_stays_and_its_aim_is_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("elsewhere")).unwrap();
        fs::write(folder.path().join("elsewhere/there"), "old").unwrap();
        fs::write(folder.path().join("source"), "uploaded").unwrap();
        for (link, aim) in [("one", "elsewhere/there"), ("two", "one"), ("dangling", "elsewhere/new")] {
            let at = folder.path().join(link);
            symlink(aim, &at).unwrap();
            root(&folder).join(link).write(format!("by {link}")).unwrap();
            assert!(at.is_symlink());
            assert_eq!(fs::read_to_string(&at).unwrap(), format!("by {link}"));
            root(&folder).join(link).upload(&folder.path().join("source")).unwrap();
            assert!(at.is_symlink());
            assert_eq!(fs::read_to_string(&at).unwrap(), "uploaded");
        }
        assert_eq!(fs::read_to_string(folder.path().join("elsewhere/there")).unwrap(), "uploaded");
    }

    #[test]
    fn a_link_in_a_circle_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        for (link, aim) in [("one", "two"), ("two", "one")] {
            symlink(aim, folder.path().join(link)).unwrap();
        }
        let message = root(&folder).join("one").write("x").unwrap_err().to_string();
        assert!(message.contains("cannot write") && message.contains("/one"), "{message}");
        assert!(folder.path().join("one").is_symlink());
    }

    #[test]
    fn a_pipe_is_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::write(folder.path().join("source"), "uploaded").unwrap();
        for (expected, upload) in [("written", false), ("uploaded", true)] {
            let reader = thread::spawn({
                let pipe = pipe.clone();
                move || fs::read_to_string(pipe).unwrap()
            });
            let at = root(&folder).join("pipe");
            if upload { at.upload(&folder.path().join("source")) } else { at.write(expected) }.unwrap();
            assert_eq!(reader.join().unwrap(), expected);
        }
        assert!(!fs::symlink_metadata(&pipe).unwrap().is_file());
    }

    #[test]
    fn where_no_file_can_be_created_is_an_error_and_no_wait() {
        for path in ["/proc/x", "/proc/self/x"] {
            let error = Location::parse(path).unwrap().write("x").unwrap_err();
            let message = format!("{error}: {}", std::error::Error::source(&error).unwrap());
            assert_eq!(message, format!("cannot write {path}: no file can be created there; use another path"));
        }
        assert!(Location::parse("/proc/none/x").unwrap().write("x").is_err());
    }

    #[test]
    fn a_device_is_written_into() {
        Location::parse("/dev/null").unwrap().write("nothing").unwrap();
        assert!(!fs::symlink_metadata("/dev/null").unwrap().is_file());
        let message = Location::parse("/dev/full").unwrap().write("too much").unwrap_err().to_string();
        assert!(message.contains("/dev/full"), "{message}");
    }
}
