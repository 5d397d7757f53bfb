//! Folders and files on any object store: `./runs`, `file://`, `s3://`, `gs://`, `az://`, `memory://`.
//!
//! Credentials and endpoints come from the clouds' usual environment variables. Writes are atomic: a reader sees the old file, the
//! new file or none.

use crate::{Error, Result, block_on};
use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use object_store::{GetResultPayload, ObjectStore, ObjectStoreExt, PutPayload, WriteMultipart, memory::InMemory, path::Path};
use std::{
    collections::HashMap,
    fmt,
    io::{self, Read},
    path::{Component, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};
use url::Url;

/// Bytes of one part of a multipart upload.
const PART: usize = 16 << 20;

/// A folder or a file on an object store. Cheap to clone.
#[derive(Clone)]
pub struct Location {
    base: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
}

impl Location {
    /// From a URL, or from a path that is relative to the working directory.
    ///
    /// # Errors
    /// [`Error::Url`] for an unknown scheme or an address that its store refuses.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |reason: String| Error::Url { text: text.to_owned(), reason };
        let url = match Url::parse(text) {
            Ok(url) if url.scheme().len() > 1 => url,
            _ => {
                let absolute = std::path::absolute(text).and_then(without_parents).map_err(|error| refuse(error.to_string()))?;
                Url::from_file_path(absolute).map_err(|()| refuse("not a path of this system".to_owned()))?
            }
        };
        let base = format!("{}://{}", url.scheme(), &url[url::Position::BeforeHost..url::Position::AfterPort]);
        let store = store_of(&url, &base).map_err(|error| refuse(error.to_string()))?;
        let (_, path) = object_store::ObjectStoreScheme::parse(&url).map_err(|error| refuse(error.to_string()))?;
        Ok(Self { base, store, path })
    }

    /// The place `name` inside this folder; `name` may hold several steps (`checkpoint/scorer.json`).
    pub fn join(&self, name: &str) -> Self {
        let path = name.split('/').filter(|step| !step.is_empty()).fold(self.path.clone(), |path, step| path.join(step));
        Self { path, ..self.clone() }
    }

    /// The last step of the path: a file's or a folder's name.
    pub fn name(&self) -> &str {
        self.path.filename().unwrap_or_default()
    }

    /// The store behind, and the path in it, for libraries that speak object_store themselves.
    pub fn store(&self) -> (Arc<dyn ObjectStore>, &Path) {
        (Arc::clone(&self.store), &self.path)
    }

    /// The path on this machine, where the location is a local one.
    pub fn local_path(&self) -> Option<PathBuf> {
        (self.base == "file://").then(|| PathBuf::from(format!("/{}", self.path)))
    }

    /// Whether a file stands here.
    ///
    /// # Errors
    /// [`Error::Store`] when the store cannot tell.
    pub fn exists(&self) -> Result<bool> {
        match block_on(self.store.head(&self.path)) {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(Error::store("read", self, error)),
        }
    }

    /// The whole file.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when it cannot be read.
    pub fn read(&self) -> Result<bytes::Bytes> {
        block_on(async { self.store.get(&self.path).await?.bytes().await }).map_err(|error| self.read_error(error))
    }

    /// The file as a stream, for what need not be in memory at once.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when it cannot be opened. Later failures come from the reader.
    pub fn open(&self) -> Result<impl Read + Send + use<>> {
        let found = block_on(self.store.get(&self.path)).map_err(|error| self.read_error(error))?;
        Ok(match found.payload {
            GetResultPayload::File(file, _) => Content::File(file),
            GetResultPayload::Stream(stream) => Content::Stream { stream, block: bytes::Bytes::new() },
        })
    }

    /// The file's size in bytes.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when the store cannot tell.
    pub fn size(&self) -> Result<u64> {
        Ok(block_on(self.store.head(&self.path)).map_err(|error| self.read_error(error))?.size)
    }

    /// A tag that changes when the file's content does; `None` where the store gives none.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Store`] when the store cannot tell.
    pub fn tag(&self) -> Result<Option<String>> {
        Ok(block_on(self.store.head(&self.path)).map_err(|error| self.read_error(error))?.e_tag)
    }

    /// Puts the whole file in place, atomically.
    ///
    /// # Errors
    /// [`Error::Store`]: the old file, if any, is untouched.
    pub fn write(&self, content: impl Into<PutPayload>) -> Result<()> {
        block_on(self.store.put(&self.path, content.into())).map_err(|error| Error::store("write", self, error))?;
        Ok(())
    }

    /// Copies a local file here in parts, atomically: the file appears when the last part is in.
    ///
    /// # Errors
    /// [`Error::Store`]: the old file, if any, is untouched.
    pub fn upload(&self, file: &std::path::Path) -> Result<()> {
        let mut source = std::fs::File::open(file).map_err(|error| Error::store("read", file.display(), error))?;
        let failed = |error| Error::store("write", self, error);
        let upload = block_on(self.store.put_multipart(&self.path)).map_err(failed)?;
        let mut parts = WriteMultipart::new_with_chunk_size(upload, PART);
        let mut block = vec![0; PART];
        loop {
            let length = source.read(&mut block).map_err(|error| Error::store("read", file.display(), error))?;
            if length == 0 {
                break;
            }
            block_on(async {
                parts.wait_for_capacity(4).await?;
                parts.write(&block[..length]);
                Ok(())
            })
            .map_err(failed)?;
        }
        block_on(parts.finish()).map_err(failed)?;
        Ok(())
    }

    /// Removes the file; none there is no error.
    ///
    /// # Errors
    /// [`Error::Store`] when the store refuses.
    pub fn delete(&self) -> Result<()> {
        match block_on(self.store.delete(&self.path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(Error::store("delete", self, error)),
        }
    }

    /// All files below this folder, sorted by path.
    ///
    /// # Errors
    /// [`Error::Store`] when the store cannot list. A missing folder is an empty one.
    pub fn list(&self) -> Result<Vec<Self>> {
        let listing = self.store.list(Some(&self.path)).map_ok(|object| Self { path: object.location, ..self.clone() });
        let mut files: Vec<Self> = block_on(listing.try_collect()).map_err(|error| Error::store("list", self, error))?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// The folders directly in this one, sorted by name.
    ///
    /// # Errors
    /// [`Error::Store`] when the store cannot list. A missing folder is an empty one.
    pub fn folders(&self) -> Result<Vec<Self>> {
        let listing = block_on(self.store.list_with_delimiter(Some(&self.path))).map_err(|error| Error::store("list", self, error))?;
        let mut folders: Vec<Self> = listing.common_prefixes.into_iter().map(|path| Self { path, ..self.clone() }).collect();
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(folders)
    }

    fn read_error(&self, error: object_store::Error) -> Error {
        match error {
            object_store::Error::NotFound { .. } => Error::NotFound { at: self.to_string() },
            other => Error::store("read", self, other),
        }
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

/// The path without `..`, which stores do not know: the part up to the last one is looked up on this machine.
fn without_parents(path: PathBuf) -> io::Result<PathBuf> {
    let steps: Vec<Component<'_>> = path.components().collect();
    let Some(last) = steps.iter().rposition(|step| *step == Component::ParentDir) else { return Ok(path) };
    let known = steps[..=last].iter().collect::<PathBuf>().canonicalize()?;
    Ok(known.join(steps[last + 1..].iter().collect::<PathBuf>()))
}

/// One store for each server and bucket, so that connections and the contents of `memory://` are shared.
fn store_of(url: &Url, base: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    static STORES: OnceLock<Mutex<HashMap<String, Arc<dyn ObjectStore>>>> = OnceLock::new();
    let mut stores = STORES.get_or_init(Mutex::default).lock().expect("no holder of this lock panics");
    if let Some(store) = stores.get(base) {
        return Ok(Arc::clone(store));
    }
    let store: Arc<dyn ObjectStore> = match url.scheme() {
        "memory" => Arc::new(InMemory::new()),
        _ => {
            // No setting is other than Unicode; variables that are belong to something else.
            let settings = std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?.to_ascii_lowercase(), value.into_string().ok()?)));
            Arc::from(object_store::parse_url_opts(url, settings)?.0)
        }
    };
    stores.insert(base.to_owned(), Arc::clone(&store));
    Ok(store)
}

/// A blocking reader: of a local file itself, or of a store's stream of blocks.
enum Content {
    File(std::fs::File),
    Stream { stream: BoxStream<'static, object_store::Result<bytes::Bytes>>, block: bytes::Bytes },
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (stream, block) = match self {
            Self::File(file) => return file.read(buffer),
            Self::Stream { stream, block } => (stream, block),
        };
        while block.is_empty() {
            match block_on(stream.next()) {
                Some(next) => *block = next.map_err(io::Error::other)?,
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(block.len());
        buffer[..length].copy_from_slice(&block.split_to(length));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn memory_conforms_and_is_shared() {
        let root = Location::parse("memory:///conforms").unwrap();
        conforms(&root);
        root.join("seen").write("1").unwrap();
        assert!(Location::parse("memory:///conforms/seen").unwrap().exists().unwrap());
    }

    #[test]
    fn an_upload_in_parts_equals_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..PART + 12_345).map(|i| (i % 251) as u8).collect();
        std::fs::write(folder.path().join("source"), &content).unwrap();
        let root = Location::parse(folder.path().to_str().unwrap()).unwrap();
        root.join("copy").upload(&folder.path().join("source")).unwrap();
        assert!(root.join("copy").read().unwrap() == content);
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
}
