//! What a preparation takes in memory, before it is made.
//!
//! ```text
//! while reading     16 r + s + t * (32 (u + i) + c)
//! while numbering   29 r + s + t * c
//!
//! r   rows that reach the threshold
//! u,i distinct users and items; s, the bytes of their ids and of the dictionaries that find them
//! t   threads, each with its own codes of all ids and with c bytes of rows in chunks that are half full
//! ```
//! The greater of the two is the estimate, with all that reach the threshold taken for distinct and left after k-core. Rows are counted by
//! the file's size and its first lines. Ratings and ids are those of the first 200,000 rows; the number of distinct ids in `n` rows is
//! extrapolated as `a n / (b + n)`, through the first half of these rows and all of them.

use crate::{
    Error, Limits, Preparation, Result,
    dictionary::Dictionary,
    partitions::{CHUNK_BYTES, PARTITIONS},
    source::{Rejected, Rows, Sink, Sinks},
};
use std::sync::Mutex;

/// Rows that are looked at.
const SAMPLE: usize = 200_000;
/// Bytes of a row with its time, and of the interaction that becomes of it.
const ROW: f64 = 16.0;
const INTERACTION: f64 = 13.0;
/// Bytes of an id in a dictionary beside its text, and in a thread's own table.
const ENTRY: f64 = 20.0;
const OWN: f64 = 32.0;

/// Bytes that [`prepare`](crate::prepare) takes beyond what the process takes anyway. Reads the beginning of each source file.
///
/// # Errors
/// Those of reading the source: a bad setting, a file that cannot be read, a bad row among the first.
pub fn memory_estimate(preparation: &Preparation, limits: &Limits) -> Result<u64> {
    preparation.check()?;
    let (mut rated, mut users, mut items) = (0.0, Ids::default(), Ids::default());
    for part in preparation.source.parts() {
        let sample = Mutex::new(Sample { least: preparation.min_rating, ..Sample::default() });
        let read = preparation.source.read(part, &sample);
        let sample = sample.into_inner().expect("no holder of this lock panics");
        let rows = if sample.rows < SAMPLE { read.map(|()| sample.rows as u64)? } else { preparation.source.rows(part)? };
        rated += rows as f64 * sample.rated as f64 / sample.rows.max(1) as f64;
        users = users.or(sample.users.among(rows as f64, sample.rows));
        items = items.or(sample.items.among(rows as f64, sample.rows));
    }
    Ok(bytes(rated, &users, &items, limits) as u64)
}

fn bytes(rated: f64, users: &Ids, items: &Ids, limits: &Limits) -> f64 {
    let threads = limits.threads.max(1) as f64;
    let shared = users.bytes() + items.bytes();
    let chunks = threads * ((PARTITIONS * CHUNK_BYTES) as f64 / 2.0).min(rated * ROW);
    let held = limits.memory.map_or(rated * ROW, |limit| (rated * ROW).min(limit as f64));
    let reading = held + threads * OWN * (users.count + items.count);
    reading.max(rated * (ROW + INTERACTION)) + shared + chunks
}

/// How many ids there will be, and the mean length of their text.
#[derive(Clone, Copy, Default)]
struct Ids {
    count: f64,
    length: f64,
}

impl Ids {
    fn bytes(self) -> f64 {
        self.count * (self.length + ENTRY)
    }

    /// The greater catalogue: parts of one source have most ids in common.
    fn or(self, other: Self) -> Self {
        if other.count > self.count { other } else { self }
    }
}

/// The first rows of a part.
#[derive(Default)]
struct Sample {
    least: Option<f64>,
    users: Distinct,
    items: Distinct,
    rows: usize,
    rated: usize,
}

/// Distinct ids, and how many there were after the first half of the rows.
#[derive(Default)]
struct Distinct {
    ids: Dictionary,
    half: usize,
}

impl Distinct {
    /// Extrapolated from a sample to all rows.
    fn among(&self, rows: f64, sample: usize) -> Ids {
        let length = self.ids.bytes() as f64 / self.ids.len().max(1) as f64;
        let (half, all, sample) = (self.half as f64, self.ids.len() as f64, sample as f64);
        if rows <= sample {
            return Ids { count: all, length };
        }
        // The b of a n / (b + n) through (sample / 2, half) and (sample, all); growth without a bend has none, and goes on for ever.
        let bend = 2.0 * half - all;
        let count = if bend > 0.0 {
            let b = sample * (all - half) / bend;
            all * (b + sample) / sample * rows / (b + rows)
        } else {
            all * rows / sample
        };
        Ids { count, length }
    }
}

impl Sinks for Mutex<Sample> {
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

impl Sink for &Mutex<Sample> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        let mut sample = self.lock().expect("no holder of this lock panics");
        for place in 0..rows.users.len() {
            if sample.rows == SAMPLE {
                return Err(Error::setting("source", "the sample is full"));
            }
            sample.users.ids.code(rows.users[place]);
            sample.items.ids.code(rows.items[place]);
            sample.rows += 1;
            sample.rated += usize::from(sample.least.zip(rows.ratings).is_none_or(|(least, ratings)| ratings[place] >= least));
            if sample.rows == SAMPLE / 2 {
                (sample.users.half, sample.items.half) = (sample.users.ids.len(), sample.items.ids.len());
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_extrapolation_goes_through_its_points() {
        let mut distinct = Distinct { half: 600, ..Distinct::default() };
        for id in 0..1_000 {
            distinct.ids.code(&format!("{id:04}"));
        }
        // 3000 n / (4000 + n) goes through (1000, 600) and (2000, 1000).
        let ids = distinct.among(20_000.0, 2_000);
        assert_eq!((ids.length, distinct.among(2_000.0, 2_000).count), (4.0, 1_000.0));
        assert!((ids.count - 2_500.0).abs() < 1e-6, "{}", ids.count);
        distinct.half = 500;
        assert!((distinct.among(20_000.0, 2_000).count - 10_000.0).abs() < 1e-6);
    }

    #[test]
    fn it_grows_with_the_rows_that_are_left() {
        let of = |interactions: usize, threads: usize| {
            let source = json!({"synthetic": {"users": 20_000, "items": 5_000, "interactions": interactions}});
            let preparation = serde_json::from_value(json!({"name": "d", "source": source, "split": {"random": {"test": 0.2}}})).unwrap();
            memory_estimate(&preparation, &Limits { threads, memory: None, scratch: None }).unwrap()
        };
        let (one, ten) = (of(100_000, 1), of(1_000_000, 1));
        assert!(one > 29 * 100_000 && ten > 29 * 1_000_000 && ten < 10 * one, "{one} {ten}");
        assert!(of(100_000, 2) > one);
    }
}
