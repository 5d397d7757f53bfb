//! The first rows of a source, for what is judged by a sample.

use super::{Rejected, Rows, Sink, Sinks, Source};
use crate::{Error, Result};
use dataset::Split;
use std::sync::Mutex;

/// Takes rows one by one: their columns, and a row's place in them.
type Take<'a> = &'a mut (dyn FnMut(Rows<'_>, usize) + Send);

/// Rows that are still taken, and what takes them.
struct SampleSink<'a> {
    left: usize,
    take: Take<'a>,
}

impl Source {
    /// Gives the first rows of a part, at most so many, in one thread; whether these are all. Rows that are left out are passed over.
    ///
    /// # Errors
    /// A source that cannot be read, or a bad row among the first.
    pub(crate) fn first_rows(&self, part: Split, most: usize, take: Take<'_>) -> Result<bool> {
        let sample = Mutex::new(SampleSink { left: most, take });
        let ended = self.read(part, &sample);
        let left = sample.into_inner().expect("no holder of this lock panics").left;
        if left == 0 { Ok(ended.is_ok()) } else { ended.map(|()| true) }
    }
}

impl Sinks for Mutex<SampleSink<'_>> {
    fn threads(&self) -> usize {
        1
    }

    fn sink(&self) -> Box<dyn Sink + '_> {
        Box::new(self)
    }

    fn reject(&self, _: Rejected<'_>) -> Result<()> {
        Ok(())
    }
}

impl Sink for &Mutex<SampleSink<'_>> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        let mut sample = self.lock().expect("no holder of this lock panics");
        for place in 0..rows.users.len() {
            if sample.left == 0 {
                return Err(Error::setting("source", "the sample is full"));
            }
            sample.left -= 1;
            (sample.take)(rows, place);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
