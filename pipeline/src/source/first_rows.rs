//! The first rows of a source, for what is judged by a sample.

use super::{Rejected, Rows, Sink, Sinks, Source};
use crate::{Error, Result};
use dataset::Split;
use std::sync::Mutex;

/// Takes rows one by one: their columns, and a row's place in them.
type Take<'a> = &'a mut (dyn FnMut(Rows<'_>, usize) + Send);

/// How the first rows ended.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    /// Whether they are all.
    pub(crate) is_whole: bool,
    /// Rows among them that were left out, as they cannot be read.
    pub(crate) rejected: usize,
    /// The first of these, in words.
    pub(crate) first_rejected: Option<String>,
}

/// Rows that are still taken, and what takes them.
struct SampleSink<'a> {
    left: usize,
    take: Take<'a>,
    sampled: Sampled,
}

impl Source {
    /// Gives the first rows of a part, at most so many, in one thread. Rows that are left out are counted.
    ///
    /// # Errors
    /// A source that cannot be read, or a bad row among the first.
    pub(crate) fn first_rows(&self, part: Split, most: usize, take: Take<'_>) -> Result<Sampled> {
        let sample = Mutex::new(SampleSink { left: most, take, sampled: Sampled::default() });
        let ended = self.read(part, &sample);
        let SampleSink { left, sampled, .. } = sample.into_inner().expect("no holder of this lock panics");
        let is_whole = if left == 0 { ended.is_ok() } else { ended.map(|()| true)? };
        Ok(Sampled { is_whole, ..sampled })
    }
}

impl Sinks for Mutex<SampleSink<'_>> {
    fn threads(&self) -> usize {
        1
    }

    fn sink(&self) -> Box<dyn Sink + '_> {
        Box::new(self)
    }

    fn reject(&self, rejected: Rejected<'_>) -> Result<()> {
        let sampled = &mut self.lock().expect("no holder of this lock panics").sampled;
        sampled.rejected += 1;
        sampled.first_rejected.get_or_insert_with(|| rejected.words());
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
