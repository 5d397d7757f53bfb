//! What can go wrong with a stored dataset.

use std::{error::Error as Cause, io, iter};

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of storage and of the dataset contract. Each names the place and the values.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no path or URL of a store that this build knows.
    #[error("`{text}` is not a usable location: {reason} (expected a path, or a file://, s3://, gs://, az:// or memory:// URL)")]
    Url {
        /// The text as given.
        text: String,
        /// Why it was refused.
        reason: String,
    },
    /// Nothing is stored at the location.
    #[error("{at} does not exist")]
    NotFound {
        /// The missing file.
        at: String,
    },
    /// The store failed: permissions, a full disk, the network.
    #[error("cannot {action} {at}")]
    Store {
        /// What was tried: `read`, `write`, `list`, `reach`.
        action: &'static str,
        /// The file or folder.
        at: String,
        /// The store's own words, and what to do.
        source: Box<dyn Cause + Send + Sync>,
    },
    /// A stored file is not the one that its marker describes: it was changed, cut off or removed since.
    #[error("{at}: {reason}")]
    Damaged {
        /// The file.
        at: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A stored table or manifest does not hold what the contract says.
    #[error("{at}: {reason}")]
    Content {
        /// The file.
        at: String,
        /// What is wrong, with the values.
        reason: String,
    },
}

impl Error {
    /// A [`Error::Content`] at a file.
    pub fn content(at: impl ToString, reason: impl ToString) -> Self {
        Self::Content { at: at.to_string(), reason: reason.to_string() }
    }

    /// An [`Error::Damaged`] at a file.
    pub fn damaged(at: impl ToString, reason: impl ToString) -> Self {
        Self::Damaged { at: at.to_string(), reason: reason.to_string() }
    }

    /// Whether a file is at fault, and neither the store nor whoever asked: to make the file again is the remedy.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }

    /// The error and its cause in one line.
    pub fn whole(&self) -> String {
        match self.source() {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }

    pub(crate) fn store(action: &'static str, at: impl ToString, source: &(impl Cause + 'static)) -> Self {
        Self::Store { action, at: at.to_string(), source: in_words(source).into() }
    }
}

/// What to do where no more files can be opened.
pub const MORE_FILES: &str = "raise the limit of open files (ulimit -n)";

/// Whether the system refuses a file as too many are open, of the process (`EMFILE`) or of the machine (`ENFILE`).
pub fn is_out_of_files(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// A store's error as one text. Where the operating system refused a file, its own words say it all; otherwise the outermost error holds
/// the texts of those inside it.
fn in_words(error: &(dyn Cause + 'static)) -> String {
    let mut causes = iter::successors(Some(error), |error| (*error).source());
    let system = causes.find_map(|error| error.downcast_ref::<io::Error>());
    match system.and_then(|error| Some((error, remedy(error)?))) {
        Some((error, remedy)) => format!("{error}; {remedy}"),
        None => error.to_string(),
    }
}

/// What to do about a file that the operating system refuses.
fn remedy(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        _ if is_out_of_files(error) => Some(MORE_FILES),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("free some space there, or store elsewhere"),
        io::ErrorKind::FileTooLarge => Some("raise the limit of a file's size (ulimit -f), or store elsewhere"),
        io::ErrorKind::Unsupported => Some("use another path"),
        io::ErrorKind::ReadOnlyFilesystem => Some("make it writable, or store elsewhere"),
        io::ErrorKind::PermissionDenied => Some("give the user that runs this the permission, or use another path"),
        io::ErrorKind::NotADirectory => Some("a file stands where a folder is expected: remove it, or use another path"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("Generic store error: cannot copy: {source}")]
    struct Outer {
        source: io::Error,
    }

    fn text(source: io::Error) -> String {
        let error = Error::store("write", "runs/a", &Outer { source });
        format!("{error}: {}", error.source().unwrap())
    }

    #[test]
    fn what_the_system_refuses_is_said_once_with_what_to_do() {
        let full = text(io::Error::from_raw_os_error(28));
        assert_eq!(full, "cannot write runs/a: No space left on device (os error 28); free some space there, or store elsewhere");
        let file = text(io::Error::from_raw_os_error(20));
        assert!(file.contains("Not a directory (os error 20); a file stands where a folder is expected"), "{file}");
        let files = text(io::Error::from_raw_os_error(24));
        assert_eq!(files, "cannot write runs/a: Too many open files (os error 24); raise the limit of open files (ulimit -n)");
        assert_eq!(text(io::Error::other("reset")), "cannot write runs/a: Generic store error: cannot copy: reset");
    }
}
