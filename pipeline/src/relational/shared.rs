//! Relations that a cluster computes, in a folder that all of its machines see.
//!
//! A task whose executor is lost is run again by another one, and both may have written. So a relation is a list of files, which holds as many rows as
//! the cluster says that it wrote; where it does not, or the cluster fails, the relation is computed once more, into another folder. What a
//! lost task writes later stands in no list.

use super::{
    relations::Frame,
    scratch_file::{options, properties},
    workspace::{GROUP, Relation},
};
use crate::{
    Error, Result,
    cluster::{Cluster, Stores},
    session,
    workers::in_threads,
};
use arrow::{
    array::{AsArray, RecordBatch, UInt64Array},
    datatypes::UInt64Type,
};
use datafusion::{
    dataframe::DataFrameWriteOptions,
    error::DataFusionError,
    execution::runtime_env::RuntimeEnvBuilder,
    parquet::arrow::ArrowWriter,
    prelude::{DataFrame, ParquetReadOptions, SessionConfig, SessionContext},
};
use dataset::{Location, block_on};
use std::{
    collections::HashMap,
    error::Error as _,
    fs,
    future::Future,
    path::Path,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::{task::spawn_blocking, time::timeout};

/// How often a relation is computed before its error is the preparation's.
const ATTEMPTS: u32 = 3;
/// What a cluster is given to mend itself, for each attempt that has failed.
const PAUSE: Duration = Duration::from_secs(3);
/// The time between two looks at a cluster that is waited for.
const LOOK: Duration = Duration::from_secs(5);
/// The file by which what a killed process left is known.
const MARK: &str = "scratch.json";

/// A cluster's session, and the relations that it has.
pub(super) struct Shared {
    cluster: Cluster,
    session: SessionContext,
    /// Computes what one task can.
    one_task: SessionContext,
    /// Reads what others wrote, on this machine.
    reader: SessionContext,
    folder: Location,
    stored: Mutex<HashMap<Relation, Stored>>,
    folders: AtomicUsize,
}

/// The files of a relation, and their rows.
#[derive(Clone, Default)]
struct Stored {
    files: Vec<Location>,
    rows: usize,
}

impl Shared {
    /// Connects to a cluster, whose machines must see a folder of their own below `folder`: one row is written and read there by both sides.
    pub(super) fn new(cluster: &Cluster, folder: &Location) -> Result<Self> {
        let (session, one_task) = (cluster.open()?, cluster.by_one_task().open()?);
        let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores)).build_arc();
        let runtime = runtime.map_err(|error| Error::query("read what the cluster writes", error))?;
        let folder = folder.join("scratch").join(&nonce());
        let shared = Self {
            cluster: cluster.clone(),
            session,
            one_task,
            reader: session::local(SessionConfig::new(), runtime),
            folder,
            stored: Mutex::default(),
            folders: AtomicUsize::new(0),
        };
        shared.folder.join(MARK).write("{\"scratch_of\": \"ranksweep\"}\n")?;
        shared.probe()?;
        Ok(shared)
    }

    /// Lets the cluster copy one row, and looks whether it has.
    fn probe(&self) -> Result<()> {
        let (probe, row) = (Relation::Probe, UInt64Array::from(vec![1]));
        let row = RecordBatch::try_new(Arc::new(probe.schema()), vec![Arc::new(row)]).expect("a column of the relation");
        self.put(probe, parquet(probe, Some(&row)), 1)?;
        let copied = self.write(&self.scan(probe), probe).and_then(|(files, written)| {
            let seen = self.rows_of(probe, &files)?;
            files.iter().try_for_each(Location::delete)?;
            Ok((written, seen))
        });
        self.remove(probe)?;
        match copied {
            Ok((1, 1)) => return Ok(()),
            Err(error) if !is_about_a_missing_file(&error) => return Err(error),
            _ => {}
        }
        let reason = format!(
            "its machines do not see the files of {}: the storage must be one that this machine, the scheduler and all executors have, as s3:// or a \
             folder that is mounted on each of them",
            self.folder
        );
        Err(Error::Cluster { url: self.cluster.url.clone(), reason })
    }

    /// A stored relation.
    pub(super) fn scan(&self, relation: Relation) -> Frame {
        Self::read(&self.session, relation, &self.files(relation)?)
    }

    /// A stored relation, read by this machine.
    pub(super) fn scan_here(&self, relation: Relation) -> Frame {
        Self::read(&self.reader, relation, &self.files(relation)?)
    }

    /// The files of a relation: an empty one where nothing was stored.
    fn files(&self, relation: Relation) -> Result<Vec<Location>, DataFusionError> {
        let files = self.stored(relation).files;
        if !files.is_empty() {
            return Ok(files);
        }
        self.put(relation, parquet(relation, None), 0).map_err(|error| DataFusionError::External(error.into()))?;
        Ok(self.stored(relation).files)
    }

    /// The rows of a stored relation.
    pub(super) fn rows(&self, relation: Relation) -> usize {
        self.stored(relation).rows
    }

    /// Tasks that run at once.
    pub(super) fn partitions(&self) -> usize {
        self.session.copied_config().target_partitions()
    }

    /// Computes a relation and stores it in place of the one that was there.
    pub(super) fn store(&self, frame: Frame, relation: Relation) -> Result<()> {
        let stored = self.computed(&frame, relation)?;
        self.replace(relation, stored)
    }

    /// Computes a part of a relation from each of several others, and stores the parts together. Each is a job of one task, which shuffles nothing. The others are
    /// removed.
    pub(super) fn store_each(&self, others: &[Relation], step: impl Fn(DataFrame) -> Frame + Sync, relation: Relation) -> Result<()> {
        let failed = AtomicBool::new(false);
        let one = |_, other: Relation| {
            if self.rows(other) == 0 || failed.load(Ordering::Relaxed) {
                return Ok(Stored::default());
            }
            let frame = Self::read(&self.one_task, other, &self.stored(other).files).and_then(&step);
            let part = self.computed(&frame, relation).and_then(|part| self.remove(other).map(|()| part));
            failed.fetch_or(part.is_err(), Ordering::Relaxed);
            part
        };
        let mut all = Stored::default();
        for part in in_threads(self.partitions(), others.to_vec(), one) {
            let Stored { files, rows } = part?;
            all.files.extend(files);
            all.rows += rows;
        }
        self.replace(relation, all)
    }

    fn computed(&self, frame: &Frame, relation: Relation) -> Result<Stored> {
        self.tried(|| {
            let (files, rows) = self.write(frame, relation)?;
            let seen = self.rows_of(relation, &files)?;
            if seen != rows {
                let reason = format!("it says that it wrote {rows} rows of {relation}, and {seen} stand in {}", self.folder);
                return Err(Error::Cluster { url: self.cluster.url.clone(), reason });
            }
            Ok(Stored { files, rows })
        })
    }

    fn replace(&self, relation: Relation, stored: Stored) -> Result<()> {
        let before = self.lock().insert(relation, stored).unwrap_or_default();
        Ok(before.files.iter().try_for_each(Location::delete)?)
    }

    /// Moves a file of this machine into a relation.
    pub(super) fn add(&self, relation: Relation, file: &Path, rows: usize) -> Result<()> {
        let at = self.place(relation).join("0.parquet");
        at.take(file)?;
        self.note(relation, at, rows);
        Ok(())
    }

    /// Takes a relation away, if it is there.
    pub(super) fn remove(&self, relation: Relation) -> Result<()> {
        let before = self.lock().remove(&relation).unwrap_or_default();
        Ok(before.files.iter().try_for_each(Location::delete)?)
    }

    /// Tries something that changes nothing some times.
    pub(super) fn tried<T>(&self, once: impl Fn() -> Result<T>) -> Result<T> {
        let mut attempt = 1;
        loop {
            match once() {
                Err(error) if attempt < ATTEMPTS => {
                    tracing::warn!("{}; it is asked again", words(&error));
                    thread::sleep(PAUSE * attempt);
                    self.cluster.open()?;
                    attempt += 1;
                }
                other => return other,
            }
        }
    }

    /// Waits for an answer of the cluster, for as long as it has executors and a step may take: work without any, and a job that the scheduler has lost track
    /// of, would be waited for for ever.
    pub(super) fn ask<T>(&self, question: impl Future<Output = Result<T, DataFusionError>>) -> Result<T> {
        block_on(async {
            let (mut question, start, limit) = (pin!(question), Instant::now(), self.cluster.step_limit());
            loop {
                if let Ok(answer) = timeout(LOOK, question.as_mut()).await {
                    return answer.map_err(|error| self.failed(error));
                }
                let Cluster { url, patience, connect } = self.cluster.clone();
                let looked = spawn_blocking(move || connect(&url, patience).map(drop)).await;
                looked.unwrap_or_else(|error| Err(error.to_string())).map_err(|reason| self.is_lost(reason))?;
                if start.elapsed() > limit {
                    let words = "a step has not ended within";
                    return Err(self.is_lost(format!("{words} {} s; `step_seconds=` in its URL allows more", limit.as_secs())));
                }
            }
        })
    }

    fn is_lost(&self, reason: String) -> Error {
        Error::Cluster { url: self.cluster.url.clone(), reason }
    }

    /// The error of a relation.
    pub(super) fn failed(&self, error: DataFusionError) -> Error {
        Error::query(format!("prepare the interactions on the cluster {} (its executors' logs say more)", self.cluster.url), error)
    }

    /// Lets the cluster write a relation into a new folder; the files that stand there, and the rows that it says it has written.
    fn write(&self, frame: &Frame, relation: Relation) -> Result<(Vec<Location>, usize)> {
        let folder = self.place(relation);
        let frame = frame.as_ref().map_err(|error| self.failed(DataFusionError::Execution(error.to_string())))?.clone();
        let several = DataFrameWriteOptions::new().with_single_file_output(false);
        let folder_url = format!("{}/", url(&folder));
        let written = self.ask(frame.write_parquet(&folder_url, several, Some(options(GROUP))))?;
        let counts = written.iter().flat_map(|batch| batch.column(0).as_primitive::<UInt64Type>().values());
        Ok((folder.list()?, counts.sum::<u64>() as usize))
    }

    /// The rows of files, which their footers tell.
    fn rows_of(&self, relation: Relation, files: &[Location]) -> Result<usize> {
        if files.is_empty() {
            return Ok(0);
        }
        let count = Self::read(&self.reader, relation, files).and_then(|rows| block_on(rows.count()));
        count.map_err(|error| self.failed(error))
    }

    fn read(session: &SessionContext, relation: Relation, files: &[Location]) -> Frame {
        let schema = relation.schema();
        let options = ParquetReadOptions { schema: Some(&schema), ..ParquetReadOptions::default() };
        let urls: Vec<String> = files.iter().map(url).collect();
        block_on(session.read_parquet(urls, options))
    }

    /// What was stored of a relation.
    fn stored(&self, relation: Relation) -> Stored {
        self.lock().get(&relation).cloned().unwrap_or_default()
    }

    /// Stores a file of a relation that this machine has made.
    fn put(&self, relation: Relation, content: Vec<u8>, rows: usize) -> Result<()> {
        let at = self.place(relation).join("0.parquet");
        at.write(content)?;
        self.note(relation, at, rows);
        Ok(())
    }

    fn note(&self, relation: Relation, at: Location, rows: usize) {
        let mut all = self.lock();
        let stored = all.entry(relation).or_default();
        stored.files.push(at);
        stored.rows += rows;
    }

    /// A new folder for a relation.
    fn place(&self, relation: Relation) -> Location {
        self.folder.join(&format!("{relation}-{}", self.folders.fetch_add(1, Ordering::Relaxed)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Relation, Stored>> {
        self.stored.lock().expect("no holder of this lock panics")
    }
}

impl Drop for Shared {
    /// What cannot be removed now, `ranksweep gc` finds.
    fn drop(&mut self) {
        let removed = self.folder.list().and_then(|files| files.iter().try_for_each(Location::delete));
        if let Err(error) = removed {
            tracing::warn!("{error}: `ranksweep gc` removes what is left in {}", self.folder);
        }
        if let Some(path) = self.folder.local_path() {
            // The folders are empty, but for what a lost task writes still.
            let _ = fs::remove_dir_all(&path);
            let _ = path.parent().map(fs::remove_dir);
        }
    }
}

/// A file of a relation; one without rows where none are given.
fn parquet(relation: Relation, rows: Option<&RecordBatch>) -> Vec<u8> {
    let mut content = Vec::new();
    let mut write = || {
        let mut writer = ArrowWriter::try_new(&mut content, Arc::new(relation.schema()), Some(properties(1)))?;
        rows.map_or(Ok(()), |rows| writer.write(rows))?;
        writer.close()
    };
    write().expect("memory takes a small file");
    content
}

/// The address of a file for DataFusion, which reads a path as a URL.
fn url(at: &Location) -> String {
    match at.local_path() {
        Some(path) => url::Url::from_file_path(path).expect("an absolute path").into(),
        None => at.to_string(),
    }
}

/// Whether a machine lacks a file, in the words of object stores and of the system.
fn is_about_a_missing_file(error: &Error) -> bool {
    let words = words(error);
    words.contains("not found") || words.contains("No such file")
}

/// An error with its causes, of which Ballista ends some by an empty line.
fn words(error: &Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {}", cause.to_string().trim_end()))
}

/// A name that no other preparation has.
fn nonce() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    hex::encode(bytes)
}
