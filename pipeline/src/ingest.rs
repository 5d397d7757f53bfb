//! Raw rows on their way into cleaning: ids become codes, rows below the threshold are left out.

use crate::{
    Error, Limits, Result,
    coder::Coder,
    dictionary::Dictionary,
    edges::{Catalogue, pair},
    partitions::{CHUNK_BYTES, Partitions},
    rejected::RejectedRows,
    source::{Rejected, Rows, Sink, Sinks},
};
use std::{
    mem,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

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
    pub(crate) fn new(min_rating: Option<f64>, catalogue: &mut Catalogue, rejected: &'a mut RejectedRows, limits: &'a Limits) -> Self {
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
    pub(crate) fn finish(self, catalogue: &mut Catalogue) -> Vec<Partitions> {
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

/// Takes the rows that one thread reads.
pub(crate) struct Ingest<'a, 'b> {
    cleaning: &'a Cleaning<'b>,
    users: Coder<'a>,
    items: Coder<'a>,
    user_codes: Vec<u32>,
    item_codes: Vec<u32>,
    partitions: Partitions,
    read: usize,
    rated: usize,
    timed: bool,
}

impl<'a, 'b> Ingest<'a, 'b> {
    pub(crate) fn new(cleaning: &'a Cleaning<'b>) -> Self {
        let (users, items) = (Coder::new(&cleaning.users), Coder::new(&cleaning.items));
        // Rows of a file before are gone on with, so that half-full chunks are as many as threads, however many files there are.
        let partitions = lock(&cleaning.kept).pop().unwrap_or_default();
        let (user_codes, item_codes) = (Vec::new(), Vec::new());
        Self { cleaning, users, items, user_codes, item_codes, partitions, read: 0, rated: 0, timed: false }
    }
}

impl Sink for Ingest<'_, '_> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        let reaches = rows.reaching(self.cleaning.min_rating)?;
        self.users.code(rows.users, &mut self.user_codes);
        self.items.code(rows.items, &mut self.item_codes);
        self.read += rows.users.len();
        self.timed = rows.times.is_some();
        let mut begun = 0;
        for (place, (&user, &item)) in self.user_codes.iter().zip(&self.item_codes).enumerate() {
            if reaches(place) {
                begun += usize::from(self.partitions.push(user, (pair(user, item), rows.time(place))));
                self.rated += 1;
            }
        }
        self.cleaning.hold(begun)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.cleaning.timed.fetch_or(self.timed, Ordering::Relaxed);
        self.cleaning.read.fetch_add(self.read, Ordering::Relaxed);
        self.cleaning.rated.fetch_add(self.rated, Ordering::Relaxed);
        self.cleaning.keep(self.partitions);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred files of one row each, of the same user: the chunk that the first began holds all of them.
    #[test]
    fn files_go_on_with_the_chunks_of_those_before() {
        let limits = Limits { threads: 1, memory: Some(CHUNK_BYTES), engine: None, scratch: None };
        let (mut catalogue, mut rejected) = (Catalogue::default(), RejectedRows::new(&limits).unwrap());
        let cleaning = Cleaning::new(None, &mut catalogue, &mut rejected, &limits);
        for item in 0..100 {
            let mut sink = cleaning.sink();
            sink.rows(Rows { users: &["u"], items: &[&item.to_string()], ratings: None, times: None }).unwrap();
            sink.finish().unwrap();
        }
        assert_eq!(cleaning.finish(&mut catalogue).len(), 1);
    }
}
