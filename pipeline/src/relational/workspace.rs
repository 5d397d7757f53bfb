//! Where relations are computed and where they stand between steps: DataFusion on this machine, and a scratch folder; or a cluster, and a folder that all of
//! its machines see, but for what this machine alone reads.

use super::{
    relations::{Frame, Side},
    scratch_file::options,
    shared::Shared,
};
use crate::{Engine, Error, Limits, Result, limits::LEAST_MEMORY, scratch_folder::ScratchFolder, session};
use arrow::array::RecordBatch;
use datafusion::{
    dataframe::DataFrameWriteOptions,
    datasource::listing::ListingTableUrl,
    error::DataFusionError,
    execution::{
        disk_manager::{DiskManagerBuilder, DiskManagerMode},
        memory_pool::{FairSpillPool, TrackConsumersPool},
        runtime_env::RuntimeEnvBuilder,
    },
    object_store::local::LocalFileSystem,
    prelude::{DataFrame, ParquetReadOptions, SessionConfig, SessionContext},
};
use dataset::{Location, block_on};
use futures::TryStreamExt;
use std::{
    fmt, fs,
    future::Future,
    io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Operators that a memory error names.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(3).expect("3 is not 0");
/// Bytes that each sort may keep for merging what it spilled.
const MERGE: usize = 10 << 20;
/// Bytes of the limit for each row of a bucket: two operators of the four hold half of the rows each, at up to 128 bytes.
const AGGREGATED: usize = 256;
/// Rows of a bucket from which on aggregating takes longer for each row.
const BUCKET: u64 = 1 << 21;
/// The most buckets: each is a file of each thread while rows are read.
const BUCKETS: usize = 256;
/// The part of the limit that files may take while they are written, and bytes of one row.
const WRITTEN: usize = 8;
const ROW: usize = 24;
/// Rows of one batch.
const BATCH: usize = 8_192;
/// Where relations stand, for DataFusion.
const URL: &str = "scratch://relations/";
/// Rows of a group of a Parquet file.
pub(super) const GROUP: usize = 1 << 20;
/// Rows of one file that this machine writes for a cluster, whose executors share files out.
const SHARED_ROWS: usize = 1 << 22;

/// A stored relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Relation {
    /// One row, by which a cluster shows that it sees what this machine does.
    Probe,
    /// Rows of the source that reach the threshold, of one bucket of users.
    Rows(usize),
    /// Each user and item once; what is left after so many rounds of the k-core.
    Pairs(usize),
    /// Ids of users or items, as they were read.
    RawIds(Side),
    /// Each id once.
    Ids(Side),
    /// How many interactions each has.
    Degrees(Side),
    /// The dense id of each.
    Places(Side),
    /// The users' own ids, by dense id.
    UserIds,
    /// Interactions with dense ids, sorted.
    Edges,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Probe => f.write_str("probe"),
            Self::Rows(bucket) => write!(f, "rows-{bucket}"),
            Self::Pairs(round) => write!(f, "pairs-{round}"),
            Self::RawIds(side) => write!(f, "raw-ids-{}", side.column()),
            Self::Ids(side) => write!(f, "ids-{}", side.column()),
            Self::Degrees(side) => write!(f, "degrees-{}", side.column()),
            Self::Places(side) => write!(f, "places-{}", side.column()),
            Self::UserIds => f.write_str("user-ids"),
            Self::Edges => f.write_str("edges"),
        }
    }
}

impl Relation {
    /// Whether nobody but this machine reads it.
    fn is_own(self) -> bool {
        matches!(self, Self::UserIds | Self::Edges)
    }
}

/// Computes relations. What it stored goes with it.
pub(super) struct Workspace {
    session: SessionContext,
    shared: Option<Shared>,
    scratch: ScratchFolder,
    limits: Limits,
    buckets: usize,
}

impl Workspace {
    /// DataFusion within the limits, for about so many rows, and the cluster that is to prepare, whose relations stand below the dataset's folder.
    pub(super) fn new(limits: &Limits, rows: u64, dataset: &Location) -> Result<Self> {
        let shared = match &limits.engine {
            Some(Engine::Ballista(cluster)) => Some(Shared::new(cluster, dataset)?),
            _ => None,
        };
        let folder = limits.scratch_folder()?;
        let in_scratch = |source: io::Error| Error::Scratch { folder: folder.display().to_string(), source };
        let scratch = ScratchFolder::new_in(&folder).map_err(in_scratch)?;
        let buckets = match (limits.memory, &shared) {
            (_, Some(shared)) => buckets_of_tasks(rows, shared.partitions()),
            (Some(memory), None) => buckets(rows, memory.max(LEAST_MEMORY)),
            (None, None) => 1,
        };
        let limits = limits.clone();
        let spill = DiskManagerBuilder::default()
            .with_mode(DiskManagerMode::Directories(vec![scratch.path().to_owned()]))
            .with_max_temp_directory_size(u64::MAX);
        // A relation is stored in place of another one of its name; a list of files that is kept would be the other's.
        let mut runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(spill).with_object_list_cache_limit(0);
        let pool = limits.memory.map(|bytes| bytes.max(LEAST_MEMORY));
        if let Some(bytes) = pool {
            runtime = runtime.with_memory_pool(Arc::new(TrackConsumersPool::new(FairSpillPool::new(bytes), NAMED_CONSUMERS)));
        }
        let runtime = runtime.build_arc().map_err(|error| failed(error, &limits))?;
        let threads = limits.threads.max(1);
        let mut config = SessionConfig::new().with_target_partitions(threads).with_batch_size(BATCH);
        config.options_mut().execution.sort_spill_reservation_bytes = (pool.unwrap_or(usize::MAX) / (4 * threads)).min(MERGE);
        config.options_mut().execution.parquet.schema_force_view_types = false;
        let session = session::local(config, runtime);
        let url = ListingTableUrl::parse(URL).expect("a good URL");
        let store = LocalFileSystem::new_with_prefix(scratch.path()).map_err(|error| failed(error.into(), &limits))?;
        session.register_object_store(url.get_url(), Arc::new(store));
        Ok(Self { session, shared, scratch, limits, buckets })
    }

    /// How many buckets the rows are in.
    pub(super) fn buckets(&self) -> usize {
        self.buckets
    }

    /// A folder in scratch, made if it is not there.
    pub(super) fn folder(&self, name: impl fmt::Display) -> Result<PathBuf> {
        let path = self.scratch.path().join(name.to_string());
        fs::create_dir_all(&path).map_err(|error| self.in_scratch(error))?;
        Ok(path)
    }

    /// The cluster that has a relation, if one has it.
    fn cluster(&self, relation: Relation) -> Option<&Shared> {
        self.shared.as_ref().filter(|_| !relation.is_own())
    }

    /// A stored relation.
    pub(super) fn scan(&self, relation: Relation) -> Frame {
        if let Some(shared) = self.cluster(relation) {
            return shared.scan(relation);
        }
        fs::create_dir_all(self.scratch.path().join(relation.to_string()))?;
        let schema = relation.schema();
        let options = ParquetReadOptions { schema: Some(&schema), ..ParquetReadOptions::default() };
        block_on(self.session.read_parquet(format!("{URL}{relation}/"), options))
    }

    /// A stored relation, which this machine reads itself.
    pub(super) fn scan_here(&self, relation: Relation) -> Frame {
        self.cluster(relation).map_or_else(|| self.scan(relation), |shared| shared.scan_here(relation))
    }

    /// Computes rows of a relation, and stores them: on a cluster in place of those that were there, else beside them.
    pub(super) fn store(&self, frame: Frame, relation: Relation) -> Result<()> {
        if let Some(shared) = self.cluster(relation) {
            return shared.store(frame, relation);
        }
        let several = DataFrameWriteOptions::new().with_single_file_output(false);
        let url = format!("{URL}{relation}/");
        let write = async { frame?.write_parquet(&url, several, Some(options(self.rows_of_a_group(relation)))).await };
        block_on(write).map(|_| ()).map_err(|error| self.failed(error))
    }

    /// Computes rows of a relation from each bucket of the source's rows, and stores them. The buckets are removed.
    pub(super) fn store_buckets(&self, step: impl Fn(DataFrame) -> Frame + Sync, relation: Relation) -> Result<()> {
        let buckets: Vec<Relation> = (0..self.buckets).map(Relation::Rows).collect();
        if let Some(shared) = self.cluster(relation) {
            return shared.store_each(&buckets, step, relation);
        }
        buckets.into_iter().try_for_each(|rows| {
            self.store(self.scan(rows).and_then(&step), relation)?;
            self.remove(rows)
        })
    }

    /// The number of a stored relation's rows.
    pub(super) fn rows(&self, relation: Relation) -> Result<usize> {
        self.cluster(relation).map_or_else(|| self.count(self.scan(relation)), |shared| Ok(shared.rows(relation)))
    }

    /// The number of a relation's rows.
    pub(super) fn count(&self, frame: Frame) -> Result<usize> {
        let frame = frame.map_err(|error| self.failed(error))?;
        match &self.shared {
            Some(shared) => shared.tried(|| shared.ask(frame.clone().count())),
            None => block_on(frame.count()).map_err(|error| self.failed(error)),
        }
    }

    /// Takes a file of a relation that was written in its folder.
    pub(super) fn add(&self, relation: Relation, file: &Path, rows: usize) -> Result<()> {
        self.cluster(relation).map_or(Ok(()), |shared| shared.add(relation, file, rows))
    }

    /// Rows of a file that are kept until they are written: each thread writes one, and while rows are read one for each bucket.
    pub(super) fn rows_of_a_group(&self, relation: Relation) -> usize {
        let Some(memory) = self.limits.memory else { return GROUP };
        let files = if matches!(relation, Relation::Rows(_)) { self.buckets } else { 1 };
        (memory.max(LEAST_MEMORY) / WRITTEN / ROW / files / self.limits.threads.max(1)).clamp(BATCH, GROUP)
    }

    /// Rows from which on a file of a relation is completed.
    pub(super) fn rows_of_a_file(&self, relation: Relation) -> usize {
        self.cluster(relation).map_or(usize::MAX, |_| SHARED_ROWS)
    }

    /// Computes a relation and gives it batch by batch, in its order.
    pub(super) fn each(&self, frame: Frame, mut give: impl FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
        let mut stream = self.ask(async { frame?.execute_stream().await })?;
        while let Some(batch) = self.ask(stream.try_next())? {
            give(&batch)?;
        }
        Ok(())
    }

    fn ask<T>(&self, question: impl Future<Output = Result<T, DataFusionError>>) -> Result<T> {
        match &self.shared {
            Some(shared) => shared.ask(question),
            None => block_on(question).map_err(|error| self.failed(error)),
        }
    }

    /// Takes a relation away, if it is there.
    pub(super) fn remove(&self, relation: Relation) -> Result<()> {
        if let Some(shared) = self.cluster(relation) {
            return shared.remove(relation);
        }
        match fs::remove_dir_all(self.scratch.path().join(relation.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.in_scratch(error)),
            _ => Ok(()),
        }
    }

    /// The error of a file in scratch.
    pub(super) fn in_scratch(&self, source: io::Error) -> Error {
        Error::Scratch { folder: self.scratch.path().display().to_string(), source }
    }

    fn failed(&self, error: DataFusionError) -> Error {
        match &self.shared {
            Some(shared) => shared.failed(error),
            None => failed(error, &self.limits),
        }
    }
}

/// How many buckets so many rows are parted into: each can be aggregated without being spilled, by two of four operators that share memory.
fn buckets(rows: u64, memory: usize) -> usize {
    let fit = BUCKET.min((memory / AGGREGATED) as u64);
    (rows.div_ceil(fit).max(1).next_power_of_two() as usize).min(BUCKETS)
}

/// How many buckets a cluster has so many rows in: one task looks at a bucket, and so many may run at once.
fn buckets_of_tasks(rows: u64, tasks: usize) -> usize {
    (rows.div_ceil(SHARED_ROWS as u64) as usize).max(tasks).next_power_of_two().min(BUCKETS)
}

fn failed(error: DataFusionError, limits: &Limits) -> Error {
    match (error.find_root(), limits.memory) {
        (DataFusionError::ResourcesExhausted(_), Some(limit)) => Error::Memory { limit, source: Box::new(error) },
        (DataFusionError::IoError(system), _) if dataset::is_out_of_files(system) => {
            Error::query(format!("prepare the interactions ({})", dataset::MORE_FILES), error)
        }
        _ => {
            let scratch = limits.scratch.clone().unwrap_or_else(std::env::temp_dir);
            Error::query(format!("prepare the interactions (scratch folder: {}; set TMPDIR for another one)", scratch.display()), error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_as_many_as_make_each_fit() {
        // 256 bytes a row: 262,144 rows of a bucket in 64 MiB, and 2,097,152 in 512 MiB and more.
        assert_eq!([0, 2_097_152, 2_097_153, 85_000_000, 1_000_000_000].map(|rows| buckets(rows, 4 << 30)), [1, 1, 2, 64, BUCKETS]);
        assert_eq!(
            [(1, 4), (10_000_000, 3), (85_000_000, 4), (1_000_000_000, 4)].map(|(rows, tasks)| buckets_of_tasks(rows, tasks)),
            [4, 4, 32, BUCKETS]
        );
        assert_eq!([262_144, 262_145, 1_300_000, u64::MAX / 2].map(|rows| buckets(rows, LEAST_MEMORY)), [1, 2, 8, BUCKETS]);
    }

    #[test]
    fn groups_of_many_files_are_small() {
        let of = |memory, rows, threads| {
            let limits = Limits { threads, memory, engine: None, scratch: None };
            let workspace = Workspace::new(&limits, rows, &Location::parse("memory:///relational/groups").unwrap()).unwrap();
            [Relation::Rows(0), Relation::Edges].map(|relation| workspace.rows_of_a_group(relation))
        };
        // 256 files of each of two threads, of 24 bytes a row, in an eighth of 4 GiB.
        assert_eq!(of(Some(4 << 30), 1_000_000_000, 2), [43_690, GROUP]);
        // 64 MiB at least.
        assert_eq!(of(Some(1), 1_000_000_000, 16), [BATCH, 21_845]);
        assert_eq!(of(None, 1_000_000_000, 2), [GROUP, GROUP]);
    }
}
