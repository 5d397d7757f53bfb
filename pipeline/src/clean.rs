//! Threshold and duplicates.
//!
//! Rows with a rating below the threshold are dropped first. Of what is left, each user and item keep one interaction, with the latest
//! of its times; which of several rows with that time is kept makes no difference to what is left of a row. So the result does not depend
//! on the order of rows, on threads or on memory.
//!
//! Rows are sorted in memory, partition by partition. Those that do not fit are for [`relational`](crate::relational).

use crate::{
    Error, Limits, Result,
    dictionary::Dictionary,
    distinct::Distinct,
    edges::Catalogue,
    freed::give_back,
    ingest::Ingest,
    partitions::{CHUNK_BYTES, Partitions},
    rejected::RejectedRows,
    source::{Rejected, Sink, Sinks, Source},
};
use dataset::Split;
use std::{
    mem,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// What is left of one part of a source.
pub(crate) struct Cleaned {
    /// Rows that were read.
    pub(crate) read: usize,
    /// Rows that reached the threshold.
    pub(crate) rated: usize,
    /// Whether the source has timestamps.
    pub(crate) timed: bool,
    pub(crate) rows: Distinct,
}

/// Reads and cleans one part of a source.
pub(crate) fn clean(
    source: &Source,
    part: Split,
    min_rating: Option<f64>,
    catalogue: &mut Catalogue,
    rejected: &mut RejectedRows,
    limits: &Limits,
) -> Result<Cleaned> {
    let cleaning = Cleaning::new(min_rating, catalogue, rejected, limits);
    let reading = source.read(part, &cleaning);
    let (read, rated, timed) =
        (cleaning.read.load(Ordering::Relaxed), cleaning.rated.load(Ordering::Relaxed), cleaning.timed.load(Ordering::Relaxed));
    let rows = cleaning.finish(catalogue);
    reading?;
    let rows = Distinct::new(rows, catalogue.users.len());
    give_back();
    Ok(Cleaned { read, rated, timed, rows })
}

/// What the threads that read share.
pub(crate) struct Cleaning<'a> {
    pub(crate) min_rating: Option<f64>,
    pub(crate) users: Mutex<Dictionary>,
    pub(crate) items: Mutex<Dictionary>,
    pub(crate) read: AtomicUsize,
    pub(crate) rated: AtomicUsize,
    pub(crate) timed: AtomicBool,
    limits: &'a Limits,
    rejected: Mutex<&'a mut RejectedRows>,
    /// Bytes of the rows of all threads.
    held: AtomicUsize,
    kept: Mutex<Vec<Partitions>>,
}

impl<'a> Cleaning<'a> {
    fn new(min_rating: Option<f64>, catalogue: &mut Catalogue, rejected: &'a mut RejectedRows, limits: &'a Limits) -> Self {
        Self {
            min_rating,
            users: Mutex::new(mem::take(&mut catalogue.users)),
            items: Mutex::new(mem::take(&mut catalogue.items)),
            read: AtomicUsize::new(0),
            rated: AtomicUsize::new(0),
            timed: AtomicBool::new(false),
            limits,
            rejected: Mutex::new(rejected),
            held: AtomicUsize::new(0),
            kept: Mutex::new(Vec::new()),
        }
    }

    /// Notes that a thread has begun chunks of rows.
    ///
    /// # Errors
    /// [`Error::Rows`] when those of all threads are too many.
    pub(crate) fn hold(&self, chunks: usize) -> Result<()> {
        let held = self.held.fetch_add(chunks * CHUNK_BYTES, Ordering::Relaxed) + chunks * CHUNK_BYTES;
        match self.limits.memory {
            Some(limit) if held > limit => Err(Error::Rows { limit }),
            _ => Ok(()),
        }
    }

    /// Keeps a thread's rows.
    pub(crate) fn keep(&self, rows: Partitions) {
        lock(&self.kept).push(rows);
    }

    /// All rows.
    fn finish(self, catalogue: &mut Catalogue) -> Vec<Partitions> {
        const FREE: &str = "no holder of this lock panics";
        catalogue.users = self.users.into_inner().expect(FREE);
        catalogue.items = self.items.into_inner().expect(FREE);
        self.kept.into_inner().expect(FREE)
    }
}

impl Sinks for Cleaning<'_> {
    fn threads(&self) -> usize {
        self.limits.threads.max(1)
    }

    fn sink(&self) -> Box<dyn Sink + '_> {
        Box::new(Ingest::new(self))
    }

    fn reject(&self, rejected: Rejected<'_>) -> Result<()> {
        lock(&self.rejected).add(rejected)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
