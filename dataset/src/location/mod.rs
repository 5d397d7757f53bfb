//! Folders and files on any object store: `./runs`, `file://`, `s3://`, `gs://`, `az://`, `memory://`.
//!
//! Credentials and endpoints come from the clouds' usual environment variables. Writes are atomic: a reader sees the old file, the
//! new file or none. On a local disk a link stays and what it leads to is written; a pipe or a device is written into. Nothing waits
//! for ever: a store that never answered is given up within 30 s unless it is waited for, one that has answered before after 5
//! minutes (`server.rs`).

mod place;
mod read;
mod seek;
mod server;
mod unfinished;
mod words;
mod write;

pub(crate) use read::checked;
pub use server::{longest_operation, wait_for_first_answers};
pub use unfinished::{Unfinished, is_unfinished};

use crate::{Error, FileEntry, Result, redact::redacted};
use futures::TryStreamExt;
use object_store::{ListResult, ObjectMeta, ObjectStore, ObjectStoreExt, path::Path};
use server::Server;
use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Component, PathBuf},
    sync::Arc,
    time::SystemTime,
};
use url::Url;

/// Bytes of one part of a large file, on its way up or down: what one request carries.
const PART: usize = 8 << 20;
/// Parts of one file on their way at a time.
const PARTS_AT_ONCE: usize = 4;

/// A folder or a file on an object store. Cheap to clone.
#[derive(Clone)]
pub struct Location {
    base: String,
    server: Arc<Server>,
    path: Path,
    expected: Option<Arc<Expected>>,
    origin: Option<Arc<Origin>>,
}

/// What tables were made of, by key: entries of their Parquet metadata.
pub type Origin = BTreeMap<String, String>;

/// What must stand at a location.
struct Expected {
    entry: FileEntry,
    /// What to do where something else stands there.
    remedy: String,
}

/// A file that a listing names.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Where the file is.
    pub at: Location,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, by the store's clock.
    pub modified: SystemTime,
}

impl Location {
    /// Reads a location from a URL, or from a path that is relative to the working directory, or to the home folder where it starts with `~/`.
    ///
    /// # Errors
    /// [`Error::Url`] for an unknown scheme or an address that its store refuses.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |reason: String| Error::Url { text: redacted(text).into_owned(), reason: redacted(&reason).into_owned() };
        // A letter of a name here, and not the beginning of a URL's fragment.
        let url = match Url::parse(&text.replace('#', "%23")) {
            Ok(url) if url.scheme().len() > 1 => url,
            Err(error) if text.contains("://") => return Err(refuse(error.to_string())),
            _ => {
                let absolute =
                    from_home(text).and_then(std::path::absolute).and_then(without_parents).map_err(|error| refuse(error.to_string()))?;
                Url::from_file_path(absolute).map_err(|()| refuse("not a path of this system".to_owned()))?
            }
        };
        // Two containers of an account would be one server here.
        if matches!(url.scheme(), "abfs" | "abfss") && !url.username().is_empty() {
            return Err(refuse("write `az://container/path`, and name the account in AZURE_STORAGE_ACCOUNT_NAME".to_owned()));
        }
        let base = format!("{}://{}", url.scheme(), &url[url::Position::BeforeHost..url::Position::AfterPort]);
        let server = Server::of(&url, &base).map_err(refuse)?;
        let (kind, path) = object_store::ObjectStoreScheme::parse(&url).map_err(|error| refuse(error.to_string()))?;
        // The bucket is a part of the path there, or of the host.
        if matches!(url.scheme(), "http" | "https") && kind != object_store::ObjectStoreScheme::Http {
            return Err(refuse("write `s3://bucket/path`, `gs://bucket/path` or `az://container/path`".to_owned()));
        }
        Ok(Self { base, server, path, expected: None, origin: None })
    }

    /// The place `name` inside this folder; `name` may hold several steps (`checkpoint/scorer.json`).
    pub fn join(&self, name: &str) -> Self {
        self.at(name.split('/').filter(|step| !step.is_empty()).fold(self.path.clone(), |path, step| path.join(step)))
    }

    /// Another place of the same store.
    fn at(&self, path: Path) -> Self {
        Self { path, expected: None, origin: self.origin.clone(), base: self.base.clone(), server: Arc::clone(&self.server) }
    }

    /// This location, where a file of this description must stand: to [read](Self::read) another one, or none, is an error, which says the remedy.
    pub fn holding(&self, entry: &FileEntry, remedy: impl Into<String>) -> Self {
        Self { expected: Some(Arc::new(Expected { entry: entry.clone(), remedy: remedy.into() })), ..self.clone() }
    }

    /// This location, where the Parquet metadata of tables that are [written](crate::table::write) here, or below here, says what they were made of.
    pub fn originating(&self, origin: Origin) -> Self {
        Self { origin: Some(Arc::new(origin)), ..self.clone() }
    }

    /// What tables that are written here say that they were made of.
    pub(crate) fn origin(&self) -> impl Iterator<Item = (&String, &String)> {
        self.origin.iter().flat_map(|origin| origin.iter())
    }

    /// The last step of the path: a file's or a folder's name.
    pub fn name(&self) -> &str {
        self.path.filename().unwrap_or_default()
    }

    /// The location up to the first step, but the last, that a suffix ends, in letters of any size, and the path that is left: what an archive of files is
    /// called, and what stands in it.
    pub fn split_after(&self, suffix: &str) -> Option<(Self, String)> {
        let ends = |step: &str| step.to_ascii_lowercase().ends_with(suffix);
        let steps: Vec<_> = self.path.parts().collect();
        let last = steps.iter().position(|step| ends(step.as_ref())).filter(|&place| place + 1 < steps.len())?;
        let rest: Vec<&str> = steps[last + 1..].iter().map(AsRef::as_ref).collect();
        Some((self.at(steps[..=last].iter().cloned().collect()), rest.join("/")))
    }

    /// The store behind, and the path in it, for libraries that speak object_store themselves.
    pub fn store(&self) -> (Arc<dyn ObjectStore>, &Path) {
        (Arc::clone(&self.server.store), &self.path)
    }

    /// The path on this machine, where the location is a local one.
    pub fn local_path(&self) -> Option<PathBuf> {
        (self.base == "file://").then(|| PathBuf::from(format!("/{}", self.path)))
    }

    /// The address of the place, which is one however it is written: on this machine links are followed, as far as the path exists.
    pub fn resolved(&self) -> String {
        let Some(path) = self.local_path() else { return self.to_string() };
        let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
        let below = existing.and_then(|(above, real)| Some(path.strip_prefix(above).ok()?.iter().fold(real, |path, step| path.join(step))));
        below.map_or_else(|| self.to_string(), |path| path.display().to_string())
    }

    /// Whether two addresses are of one place.
    pub fn is_same(&self, other: &Self) -> bool {
        self.resolved() == other.resolved()
    }

    /// Whether it is a pipe or a device of this machine, which is read once and not again.
    pub fn is_pipe_or_device(&self) -> bool {
        let is_special = |path: PathBuf| path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
        self.local_path().is_some_and(is_special)
    }

    /// Whether the location is on a server, and not on this machine.
    pub fn is_remote(&self) -> bool {
        !matches!(self.base.as_str(), "file://" | "memory://")
    }

    /// Checks that the store answers and lets its files be listed, by one cheap request; what stands there does not matter.
    ///
    /// # Errors
    /// [`Error::Store`] for a store that does not answer, that refuses the credentials, or that has no such bucket.
    pub fn reach(&self) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let first = || async { self.server.store.list(Some(&self.path)).try_next().await };
        self.server.attempt(first).map_err(|error| self.store_error("reach", &error))?;
        Ok(())
    }

    /// Whether a file stands here.
    ///
    /// # Errors
    /// [`Error::Store`] when the store cannot tell.
    pub fn exists(&self) -> Result<bool> {
        match self.meta() {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The file's size in bytes.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when the store cannot tell.
    pub fn size(&self) -> Result<u64> {
        Ok(self.meta()?.size)
    }

    /// A tag that changes when the file's content does; `None` where the store gives none.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when the store cannot tell.
    pub fn tag(&self) -> Result<Option<String>> {
        Ok(self.meta()?.e_tag)
    }

    /// When the file was last written, by the store's clock.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when the store cannot tell.
    pub fn modified(&self) -> Result<SystemTime> {
        Ok(self.meta()?.last_modified.into())
    }

    fn meta(&self) -> Result<ObjectMeta> {
        self.server.attempt(|| self.server.store.head(&self.path)).map_err(|error| self.read_error(&error))
    }

    /// Removes the file; none there is no error.
    ///
    /// # Errors
    /// [`Error::Store`] when the store refuses.
    pub fn delete(&self) -> Result<()> {
        match self.server.attempt(|| self.server.store.delete(&self.path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.store_error("delete", &error)),
        }
    }

    /// All files below this folder, sorted by path.
    ///
    /// # Errors
    /// [`Error::Store`] when the store cannot list. A missing folder is an empty one.
    pub fn list(&self) -> Result<Vec<Self>> {
        Ok(self.listing()?.into_iter().map(|file| file.at).collect())
    }

    /// All files below this folder with what a listing says of them, sorted by path.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub fn listing(&self) -> Result<Vec<Listed>> {
        let listing = || self.server.store.list(Some(&self.path)).try_collect::<Vec<ObjectMeta>>();
        let found = self.server.attempt(listing).map_err(|error| self.store_error("list", &error))?;
        let listed = |file: ObjectMeta| Listed { at: self.at(file.location), bytes: file.size, modified: file.last_modified.into() };
        let mut files: Vec<_> = found.into_iter().map(listed).collect();
        files.sort_by(|a, b| a.at.path.cmp(&b.at.path));
        // Consoles of object stores keep a folder by an empty object of its name.
        let has_files = |folder: &Path| {
            let below = format!("{folder}/");
            let first = files.partition_point(|file| file.at.path.as_ref() < below.as_str());
            files.get(first).is_some_and(|file| file.at.path.as_ref().starts_with(&below))
        };
        let is_folder = |file: &Listed| file.bytes == 0 && (file.at.path == self.path || has_files(&file.at.path));
        let are_folders: Vec<bool> = files.iter().map(is_folder).collect();
        Ok(files.into_iter().zip(are_folders).filter(|(_, is_folder)| !is_folder).map(|(file, _)| file).collect())
    }

    /// The folders directly in this one, sorted by name.
    ///
    /// # Errors
    /// [`Error::Store`] when the store cannot list. A missing folder is an empty one.
    pub fn folders(&self) -> Result<Vec<Self>> {
        Ok(self.sorted(self.entries()?.common_prefixes))
    }

    /// The files directly in this folder, sorted by name.
    ///
    /// # Errors
    /// As for [`folders`](Self::folders).
    pub fn files(&self) -> Result<Vec<Self>> {
        Ok(self.sorted(self.entries()?.objects.into_iter().map(|file| file.location).filter(|path| *path != self.path)))
    }

    fn entries(&self) -> Result<ListResult> {
        let listing = || self.server.store.list_with_delimiter(Some(&self.path));
        self.server.attempt(listing).map_err(|error| self.store_error("list", &error))
    }

    fn sorted(&self, paths: impl IntoIterator<Item = Path>) -> Vec<Self> {
        let mut paths: Vec<Path> = paths.into_iter().collect();
        paths.sort();
        paths.into_iter().map(|path| self.at(path)).collect()
    }

    fn read_error(&self, error: &object_store::Error) -> Error {
        match error {
            object_store::Error::NotFound { .. } if !words::is_bucket_missing(error) => Error::NotFound { at: self.to_string() },
            object_store::Error::Precondition { .. } => {
                Error::Store { action: "read", at: self.to_string(), source: "it changed meanwhile; run this again".into() }
            }
            other => self.store_error("read", other),
        }
    }

    fn store_error(&self, action: &'static str, error: &object_store::Error) -> Error {
        if !self.is_remote() {
            return Error::store(action, self, error);
        }
        Error::Store { action, at: self.to_string(), source: words::in_words(error, &self.server).into() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.base.strip_prefix("file://") {
            Some(_) => write!(f, "/{}", self.path),
            None => write!(f, "{}/{}", self.base, self.path),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// The path with the home folder in place of a `~/` at its start, which shells leave in `--out=~/file` and programs in sweep files.
fn from_home(text: &str) -> io::Result<PathBuf> {
    let Some(below) = text.strip_prefix("~/") else { return Ok(text.into()) };
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the home folder is not known; set HOME, or write it out"))?;
    Ok(home.join(below.trim_start_matches('/')))
}

/// The path without `..`, which stores do not know: the part up to the last one is looked up on this machine.
fn without_parents(path: PathBuf) -> io::Result<PathBuf> {
    let steps: Vec<Component<'_>> = path.components().collect();
    let Some(last) = steps.iter().rposition(|step| *step == Component::ParentDir) else { return Ok(path) };
    let known = steps[..=last].iter().collect::<PathBuf>().canonicalize()?;
    Ok(known.join(steps[last + 1..].iter().collect::<PathBuf>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// One suite for every kind of store.
    fn conforms(root: &Location) {
        let file = root.join("a/b.txt");
        assert!(matches!(file.read(), Err(Error::NotFound { .. })));
        assert!(!file.exists().unwrap());
        file.write("one").unwrap();
        let tag = file.tag().unwrap();
        assert_eq!(tag, file.tag().unwrap());
        file.write("three").unwrap();
        assert!(tag.is_some() && tag != file.tag().unwrap());
        file.write("two").unwrap();
        assert_eq!(&file.read().unwrap()[..], b"two");
        assert_eq!(file.size().unwrap(), 3);
        let mut text = String::new();
        file.open().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "two");
        root.join("a/c/d.txt").write("x").unwrap();
        let names: Vec<String> = root.list().unwrap().iter().map(|file| file.name().to_owned()).collect();
        assert_eq!(names, ["b.txt", "d.txt"]);
        assert_eq!(root.join("a").folders().unwrap()[0].name(), "c");
        file.delete().unwrap();
        file.delete().unwrap();
        assert!(!file.exists().unwrap());
    }

    #[test]
    fn a_local_folder_conforms() {
        let folder = tempfile::tempdir().unwrap();
        let root = Location::parse(folder.path().to_str().unwrap()).unwrap();
        conforms(&root);
        assert_eq!(root.join("x").local_path().unwrap(), folder.path().join("x"));
    }

    #[test]
    fn a_path_may_go_up() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        let text = folder.path().join("inner/../data/./a.csv");
        let at = Location::parse(text.to_str().unwrap()).unwrap();
        assert_eq!(at.local_path().unwrap(), folder.path().canonicalize().unwrap().join("data/a.csv"));
        assert!(Location::parse("no-such-folder/../a.csv").is_err());
    }

    #[test]
    fn a_path_may_start_at_home() {
        let home = std::env::home_dir().unwrap();
        let parsed = |text: &str| Location::parse(text).unwrap().local_path().unwrap();
        assert_eq!((parsed("~/a/b.csv"), parsed("~//b.csv")), (home.join("a/b.csv"), home.join("b.csv")));
        assert_eq!(parsed("./~/a.csv"), std::env::current_dir().unwrap().join("~/a.csv"));
    }

    #[test]
    fn a_path_may_lead_through_a_file() {
        let split = |text: &str| {
            let (file, rest) = Location::parse(text).unwrap().split_after(".zip")?;
            Some((file.to_string(), rest))
        };
        assert_eq!(split("memory:///a/b.ZIP/c d/[e].csv"), Some(("memory:///a/b.ZIP".into(), "c d/[e].csv".into())));
        assert_eq!(split("/a/b.zip/c.zip/d"), Some(("/a/b.zip".into(), "c.zip/d".into())));
        assert_eq!((split("/a/b.zip"), split("/a/b.zip.csv"), split("memory:///")), (None, None, None));
    }

    #[test]
    fn memory_conforms_and_is_shared() {
        let root = Location::parse("memory:///conforms").unwrap();
        conforms(&root);
        root.join("seen").write("1").unwrap();
        assert!(Location::parse("memory:///conforms/seen").unwrap().exists().unwrap());
    }

    /// In a process of its own, because the environment is that of all tests.
    #[cfg(unix)]
    #[test]
    fn a_variable_that_is_not_unicode_is_passed_over() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let value = OsStr::from_bytes(b"\xff");
        if std::env::var_os("NOT_UNICODE").as_deref() == Some(value) {
            Location::parse("s3://bucket/file").unwrap();
            return;
        }
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "location::tests::a_variable_that_is_not_unicode_is_passed_over"])
            .env("NOT_UNICODE", value)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    fn an_unknown_scheme_is_named() {
        let message = Location::parse("ftp://host/x").unwrap_err().to_string();
        assert!(message.contains("ftp://host/x") && message.contains("s3://"), "{message}");
    }

    /// Their servers would be told apart by what stands between `//` and the path.
    #[test]
    fn addresses_in_which_the_bucket_stands_elsewhere_are_refused() {
        for text in [
            "abfss://raw@account.dfs.core.windows.net/ratings.csv",
            "https://account.blob.core.windows.net/raw/ratings.csv",
            "https://s3.eu-west-1.amazonaws.com/bucket/ratings.csv",
        ] {
            let message = Location::parse(text).unwrap_err().to_string();
            assert!(message.contains("az://container/path"), "{message}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_used_is_shown_without_its_user_and_query() {
        for (text, shown) in [
            ("ftp://ann:hunter2@host/x?sig=hunter2", "`ftp://***@host/x?***` is not a usable location"),
            ("https://ann:hunter2@host:99999/x", "`https://***@host:99999/x` is not a usable location"),
            ("s3://ann:hunt/er2@bucket/x", "`s3://***@bucket/x` is not a usable location"),
        ] {
            let Err(error) = Location::parse(text) else { panic!("{text} is usable") };
            let message = error.to_string();
            assert!(message.starts_with(shown) && !message.contains("hunt"), "{message}");
        }
        let at = Location::parse("s3://ann:hunter2@bucket/x?sig=hunter2").unwrap();
        assert_eq!((at.to_string(), format!("{at:?}")), ("s3://bucket/x".to_owned(), "Location(s3://bucket/x)".to_owned()));
    }
}
