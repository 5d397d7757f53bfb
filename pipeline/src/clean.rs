//! Threshold and duplicates, by DataFusion.
//!
//! Rows with a rating below the threshold are dropped first. Of what is left, each user and item keep one interaction, with the latest
//! of its times; which of several rows with that time is kept makes no difference to what is left of a row. So the result does not depend
//! on the order of rows, on partitions or on memory.

use crate::{
    Error, Limits, Result,
    edges::Catalogue,
    ingest::{BATCH, Ingest, SCHEMA},
    rejected::RejectedRows,
    source::Source,
};
use arrow::{
    array::{Array, AsArray, RecordBatch},
    datatypes::{Float64Type, Int64Type, SchemaRef, UInt64Type},
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
    functions_aggregate::expr_fn::{count, max},
    physical_plan::{SendableRecordBatchStream, stream::RecordBatchStreamAdapter, streaming::PartitionStream},
    prelude::{SessionConfig, SessionContext, col, lit},
};
use dataset::{Split, block_on};
use futures::{StreamExt, stream};
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};
use tokio::sync::mpsc::{self, Receiver};

/// Batches between reading and cleaning.
const QUEUE: usize = 4;
/// Operators that a memory error names.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(3).expect("3 is not 0");

/// What is left of one part of a source, in no order.
pub(crate) struct Cleaned {
    /// Rows that were read.
    pub(crate) read: usize,
    /// Rows that reached the threshold.
    pub(crate) rated: usize,
    /// One pair of codes for each user and item.
    pub(crate) pairs: Vec<u64>,
    /// The latest time of each pair; empty when the source has no timestamps.
    pub(crate) times: Vec<f64>,
}

/// Reads and cleans one part of a source. Reading runs on its own thread; DataFusion takes its batches as they come.
pub(crate) fn clean(
    source: &Source,
    part: Split,
    min_rating: Option<f64>,
    catalogue: &mut Catalogue,
    rejected: &mut RejectedRows,
    limits: &Limits,
) -> Result<Cleaned> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let mut ingest = Ingest::new(catalogue, rejected, min_rating.is_some(), sender);
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            source.read(part, &mut ingest)?;
            ingest.finish()
        });
        let cleaned =
            session(limits).and_then(|session| block_on(query(&session, receiver, min_rating)).map_err(|error| failed(error, limits)));
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // When reading fails, cleaning ends well with what it has; when cleaning fails, reading only notes that nobody listens.
        let cleaned = cleaned?;
        Ok(Cleaned { read: read?, ..cleaned })
    })
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

async fn query(session: &SessionContext, rows: Receiver<RecordBatch>, min_rating: Option<f64>) -> Result<Cleaned, DataFusionError> {
    let rows = StreamingTable::try_new(Arc::clone(&SCHEMA), vec![Arc::new(Rows(Mutex::new(Some(rows))))])?;
    let mut frame = session.read_table(Arc::new(rows))?;
    if let Some(least) = min_rating {
        frame = frame.filter(col("rating").gt_eq(lit(least)))?;
    }
    let latest = vec![max(col("time")).alias("time"), count(lit(1)).alias("rows")];
    let mut stream = frame.aggregate(vec![col("pair")], latest)?.execute_stream().await?;
    let mut cleaned = Cleaned { read: 0, rated: 0, pairs: Vec::new(), times: Vec::new() };
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let (pairs, times) = (batch.column(0).as_primitive::<UInt64Type>(), batch.column(1).as_primitive::<Float64Type>());
        cleaned.pairs.extend_from_slice(pairs.values());
        if times.null_count() == 0 {
            cleaned.times.extend_from_slice(times.values());
        }
        cleaned.rated += batch.column(2).as_primitive::<Int64Type>().values().iter().sum::<i64>() as usize;
    }
    Ok(cleaned)
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

/// The reader's batches as DataFusion's one input partition. They can be taken once.
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
