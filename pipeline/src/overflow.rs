//! Duplicates among more rows than fit in memory, by DataFusion, which spills to disk.

use crate::{Error, Limits, Result, edges::unpair, partitions::Partitions};
use arrow::{
    array::{AsArray, Float64Array, RecordBatch, UInt64Array},
    datatypes::{DataType, Field, Float64Type, Schema, SchemaRef, UInt64Type},
};
use datafusion::{
    catalog::streaming::StreamingTable,
    error::DataFusionError,
    execution::{
        TaskContext,
        disk_manager::{DiskManagerBuilder, DiskManagerMode},
        memory_pool::{FairSpillPool, TrackConsumersPool},
        runtime_env::RuntimeEnvBuilder,
    },
    functions_aggregate::expr_fn::max,
    physical_plan::{SendableRecordBatchStream, stream::RecordBatchStreamAdapter, streaming::PartitionStream},
    prelude::{SessionConfig, SessionContext, col},
};
use dataset::block_on;
use futures::{StreamExt, stream};
use std::{
    num::NonZeroUsize,
    sync::{Arc, LazyLock, Mutex},
    thread::{self, JoinHandle},
};
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Rows of one batch.
pub(crate) const BATCH: usize = 8_192;
/// Batches between reading and DataFusion.
const QUEUE: usize = 4;
/// Operators that a memory error names.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(3).expect("3 is not 0");

/// A pair of codes, and its time.
static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![Field::new("pair", DataType::UInt64, false), Field::new("time", DataType::Float64, false)]))
});

/// A query that runs while rows come in.
pub(crate) struct Overflow {
    entrance: Entrance,
    query: JoinHandle<Result<Partitions, DataFusionError>>,
}

/// Where rows go in.
#[derive(Clone)]
pub(crate) struct Entrance(Sender<RecordBatch>);

impl Overflow {
    /// Starts the query.
    pub(crate) fn start(limits: &Limits) -> Result<Self> {
        let session = session(limits)?;
        let (sender, receiver) = mpsc::channel(QUEUE);
        let query = thread::spawn(move || block_on(query(&session, receiver)));
        Ok(Self { entrance: Entrance(sender), query })
    }

    pub(crate) fn entrance(&self) -> Entrance {
        self.entrance.clone()
    }

    /// The rows that went in, each pair once with its latest time.
    pub(crate) fn finish(self, limits: &Limits) -> Result<Partitions> {
        drop(self.entrance);
        let rows = self.query.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        rows.map_err(|error| failed(error, limits))
    }
}

impl Entrance {
    /// Takes all rows.
    pub(crate) fn send(&self, rows: &mut Partitions) -> Result<()> {
        let mut rows = rows.drain().peekable();
        while rows.peek().is_some() {
            let (pairs, times): (Vec<u64>, Vec<f64>) = rows.by_ref().take(BATCH).unzip();
            let columns = vec![Arc::new(UInt64Array::from(pairs)) as _, Arc::new(Float64Array::from(times)) as _];
            let batch = RecordBatch::try_new(Arc::clone(&SCHEMA), columns).expect("two columns of one length");
            let stopped = |_| Error::query("go on reading: cleaning has stopped", DataFusionError::Execution("stopped".into()));
            self.0.blocking_send(batch).map_err(stopped)?;
        }
        Ok(())
    }
}

fn session(limits: &Limits) -> Result<SessionContext> {
    let spill = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![limits.scratch_folder()?]));
    let mut runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(spill);
    if let Some(bytes) = limits.memory {
        runtime = runtime.with_memory_pool(Arc::new(TrackConsumersPool::new(FairSpillPool::new(bytes), NAMED_CONSUMERS)));
    }
    let runtime = runtime.build_arc().map_err(|error| failed(error, limits))?;
    let config = SessionConfig::new().with_target_partitions(limits.threads.max(1)).with_batch_size(BATCH);
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

async fn query(session: &SessionContext, rows: Receiver<RecordBatch>) -> Result<Partitions, DataFusionError> {
    let rows = StreamingTable::try_new(Arc::clone(&SCHEMA), vec![Arc::new(Rows(Mutex::new(Some(rows))))])?;
    let frame = session.read_table(Arc::new(rows))?;
    let mut stream = frame.aggregate(vec![col("pair")], vec![max(col("time")).alias("time")])?.execute_stream().await?;
    let mut latest = Partitions::default();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let (pairs, times) = (batch.column(0).as_primitive::<UInt64Type>(), batch.column(1).as_primitive::<Float64Type>());
        for row in pairs.values().iter().copied().zip(times.values().iter().copied()) {
            latest.push(unpair(row.0).0, row);
        }
    }
    Ok(latest)
}

fn failed(error: DataFusionError, limits: &Limits) -> Error {
    match (error.find_root(), limits.memory) {
        (DataFusionError::ResourcesExhausted(_), Some(limit)) => Error::Memory { limit, source: Box::new(error) },
        _ => Error::query(format!("clean the interactions (scratch folder: {}; set TMPDIR for another one)", scratch(limits)), error),
    }
}

fn scratch(limits: &Limits) -> String {
    limits.scratch.clone().unwrap_or_else(std::env::temp_dir).display().to_string()
}

/// The batches as DataFusion's one input partition. They can be taken once.
#[derive(Debug)]
struct Rows(Mutex<Option<Receiver<RecordBatch>>>);

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &SCHEMA
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut rows = self.0.lock().expect("no holder of this lock panics").take().expect("the plan runs once");
        let batches = stream::poll_fn(move |context| rows.poll_recv(context).map(|batch| batch.map(Ok)));
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&SCHEMA), batches))
    }
}
