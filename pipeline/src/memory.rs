//! What a preparation takes in memory, before it is made.
//!
//! ```text
//! while reading     16 r + s + g + t (o + c)
//! while numbering   28 r + s + d + t o
//!
//! r   rows that reach the threshold
//! s   the dictionaries of all ids
//! g   what the source itself holds
//! t   threads that read, each with codes of its own for the ids that it sees, o, and with c bytes of rows in chunks that are half full
//! d   the ids as the dataset has them, each a string, and two numbers for each
//! ```
//! The greater of the two is the estimate for memory, with all that reach the threshold taken for distinct and left after k-core. The threads' codes
//! are freed before ids are numbered, but the allocator may hold on to what one thread freed. What comes later takes less: splitting at most 21 r + d,
//! for the times are sorted once more; the dataset and its tables, which are encoded piece by piece, 9 r + d; train with noise of 1, 20 r + d.
//!
//! By relations it is the limit, the items' own ids, and some users' interactions.
//!
//! Rows are counted by the file's size and its first lines. Ratings and ids are those of the first 200,000 rows; the number of distinct ids
//! in `n` rows is extrapolated as `a n / (b + n)`, through the first half of these rows and all of them.

use crate::{
    Engine, Limits, Preparation, Result,
    coder::Coder,
    dictionary::Dictionary,
    limits::LEAST_MEMORY,
    partitions::{CHUNK_BYTES, PARTITIONS},
    source::{Rows, Sampled},
};

/// Rows that are looked at.
const SAMPLE: usize = 200_000;
/// Bytes of a row with its time, and of the item and the time that become of it.
const ROW: f64 = 16.0;
const INTERACTION: f64 = 12.0;
/// Bytes of a string without its text; of the smallest block that the allocator has for the text; of the steps to larger ones.
const STRING: f64 = 24.0;
const BLOCK: f64 = 32.0;
const STEP: f64 = 16.0;
/// Bytes of a row in a relation that is not spilled; and of what relations take besides: buffers, and some users' interactions.
const RELATION: f64 = 64.0;
const SOME: f64 = 256e6;
/// Bytes of an id's place among those that are left, and of its number of interactions.
const PLACES: f64 = 8.0;

/// What a preparation takes, before it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryEstimate {
    /// What will prepare: the engine that was asked for, else memory where `in_memory` is within the limit.
    pub engine: Engine,
    /// Bytes that this takes beyond what the process takes anyway.
    pub bytes: u64,
    /// Bytes that it takes in memory.
    pub in_memory: u64,
}

/// What a source has, by its first rows and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeEstimate {
    /// Rows that reach the threshold: no dataset that is made of them has more interactions, but for noise.
    pub interactions: u64,
    /// Users.
    pub users: u64,
    /// Items.
    pub items: u64,
}

/// What a source has before anything is filtered. Reads the beginning of each source file; the same files give the same estimate anywhere.
///
/// # Errors
/// Those of [`memory_estimate`].
pub fn size_estimate(preparation: &Preparation) -> Result<SizeEstimate> {
    let read = sampled(preparation, 1)?;
    let count = |count: f64| count.round() as u64;
    Ok(SizeEstimate { interactions: count(read.rated), users: count(read.users.count), items: count(read.items.count) })
}

/// What [`prepare`](crate::prepare) takes. Reads the beginning of each source file.
///
/// # Errors
/// Those of reading the source: a bad setting, a file that cannot be read, a bad row among the first.
pub fn memory_estimate(preparation: &Preparation, limits: &Limits) -> Result<MemoryEstimate> {
    let read = sampled(preparation, limits.threads)?;
    let readers = preparation.source.readers(limits.threads) as f64;
    let in_memory = read.reading(readers, preparation.source.memory()).max(read.numbering(readers)) as u64;
    let is_enough = limits.memory.is_none_or(|limit| in_memory <= limit as u64);
    let engine = limits.engine.clone().unwrap_or(if is_enough { Engine::Memory } else { Engine::Datafusion });
    let bytes = match engine {
        Engine::Memory => in_memory,
        Engine::Datafusion | Engine::Ballista(_) => read.by_relations(limits.memory) as u64,
    };
    Ok(MemoryEstimate { engine, bytes, in_memory })
}

fn sampled(preparation: &Preparation, threads: usize) -> Result<Read> {
    preparation.check()?;
    let source = &preparation.source;
    let readers = source.readers(threads) as f64;
    let mut read = Read::default();
    for part in source.parts() {
        let mut sample = Sample { least: preparation.min_rating, ..Sample::default() };
        let links = preparation.split.links();
        let mut given = 0;
        let Sampled { is_whole, .. } = source.first_rows(part, SAMPLE, &mut |rows, place| {
            match links {
                None => sample.add(rows, place),
                Some(links) => links.of(rows.only(place), |rows| (0..rows.users.len()).for_each(|place| sample.add(rows, place))),
            }
            given += 1;
            if given == SAMPLE / 2 {
                sample.note_half();
            }
        })?;
        let directions = links.map_or(1, |links| links.directions());
        let rows = if is_whole { sample.rows as u64 } else { (source.rows(part)? * directions).max(sample.rows as u64) } as f64;
        read.rated += rows * sample.rated as f64 / sample.rows.max(1) as f64;
        read.users = read.users.or(sample.users.among(rows, sample.rows, readers));
        read.items = read.items.or(sample.items.among(rows, sample.rows, readers));
    }
    Ok(read)
}

/// What reading gives: the rows that reach the threshold, and the ids.
#[derive(Default)]
struct Read {
    rated: f64,
    users: IdEstimate,
    items: IdEstimate,
}

impl Read {
    /// Bytes while rows are read.
    fn reading(&self, readers: f64, source: f64) -> f64 {
        let chunks = ((PARTITIONS * CHUNK_BYTES) as f64 / 2.0).min(self.rated * ROW);
        self.rated * ROW + self.dictionaries() + source + self.own(readers) + readers * chunks
    }

    /// Bytes while codes become dense ids.
    fn numbering(&self, readers: f64) -> f64 {
        self.rated * (ROW + INTERACTION) + self.dictionaries() + self.users.strings() + self.items.strings() + self.own(readers)
    }

    /// Bytes of the codes of threads that read.
    fn own(&self, readers: f64) -> f64 {
        readers * (self.users.own() + self.items.own())
    }

    /// Bytes of relations that are not spilled, of the items' own ids, and of some users' interactions.
    fn by_relations(&self, limit: Option<usize>) -> f64 {
        let held = limit.map_or(f64::INFINITY, |limit| limit.max(LEAST_MEMORY) as f64).min(self.rated * RELATION);
        held + self.items.strings() + SOME
    }

    fn dictionaries(&self) -> f64 {
        Dictionary::memory(self.users.count, self.users.length) + Dictionary::memory(self.items.count, self.items.length)
    }
}

/// How many ids there will be, how many of them each thread sees, and the mean length of their text.
#[derive(Clone, Copy, Default)]
struct IdEstimate {
    count: f64,
    seen: f64,
    length: f64,
}

impl IdEstimate {
    /// Bytes of one thread's codes.
    fn own(self) -> f64 {
        Coder::memory(self.seen, self.length)
    }

    /// Bytes of the ids in a dataset.
    fn strings(self) -> f64 {
        let block = ((self.length + 8.0) / STEP).ceil() * STEP;
        self.count * (STRING + block.max(BLOCK) + PLACES)
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
    users: DistinctIds,
    items: DistinctIds,
    rows: usize,
    rated: usize,
}

/// Distinct ids, and how many there were after some first rows.
#[derive(Default)]
struct DistinctIds {
    ids: Dictionary,
    first_rows: usize,
    of_first_rows: usize,
}

impl DistinctIds {
    /// Extrapolated from a sample to all rows, and to those of one of the threads that read.
    fn among(&self, rows: f64, sample: usize, readers: f64) -> IdEstimate {
        let length = self.ids.bytes() as f64 / self.ids.len().max(1) as f64;
        IdEstimate { count: self.count(rows, sample), seen: self.count(rows / readers, sample), length }
    }

    fn count(&self, rows: f64, sample: usize) -> f64 {
        let (first, of_first) = (self.first_rows as f64, self.of_first_rows as f64);
        let (all, sample) = (self.ids.len() as f64, sample as f64);
        if rows <= sample {
            return all;
        }
        // The b of a n / (b + n) through (first, of_first) and (sample, all); growth without a bend has none, and goes on for ever.
        let bend = of_first / first.max(1.0) - all / sample;
        if bend > 0.0 {
            let b = (all - of_first) / bend;
            all * (b + sample) / sample * rows / (b + rows)
        } else {
            all * rows / sample
        }
    }
}

impl Sample {
    fn add(&mut self, rows: Rows<'_>, place: usize) {
        self.users.ids.code(rows.users[place]);
        self.items.ids.code(rows.items[place]);
        self.rows += 1;
        self.rated += usize::from(self.least.zip(rows.ratings).is_none_or(|(least, ratings)| ratings[place] >= least));
    }

    /// Notes how many ids the rows have that came up to now.
    fn note_half(&mut self) {
        for side in [&mut self.users, &mut self.items] {
            (side.first_rows, side.of_first_rows) = (self.rows, side.ids.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_extrapolation_goes_through_its_points() {
        let mut distinct = DistinctIds { first_rows: 1_000, of_first_rows: 600, ..DistinctIds::default() };
        for id in 0..1_000 {
            distinct.ids.code(&format!("{id:04}"));
        }
        // 3000 n / (4000 + n) goes through (1000, 600) and (2000, 1000).
        let ids = distinct.among(20_000.0, 2_000, 5.0);
        assert_eq!((ids.length, distinct.count(2_000.0, 2_000)), (4.0, 1_000.0));
        assert!((ids.count - 2_500.0).abs() < 1e-6 && (ids.seen - 1_500.0).abs() < 1e-6, "{} {}", ids.count, ids.seen);
        distinct.of_first_rows = 500;
        assert!((distinct.count(20_000.0, 2_000) - 10_000.0).abs() < 1e-6);
        // The same curve through (1000, 600) and (4000, 1500), as where a row gives several.
        distinct.of_first_rows = 600;
        for id in 1_000..1_500 {
            distinct.ids.code(&format!("{id:04}"));
        }
        assert!((distinct.count(20_000.0, 4_000) - 2_500.0).abs() < 1e-6, "{}", distinct.count(20_000.0, 4_000));
    }

    #[test]
    fn it_grows_with_the_rows_that_are_left() {
        let of = |interactions: usize| {
            let source = json!({"synthetic": {"users": 20_000, "items": 5_000, "interactions": interactions}});
            let preparation = serde_json::from_value(json!({"name": "d", "source": source, "split": {"random": {"test": 0.2}}})).unwrap();
            memory_estimate(&preparation, &Limits { threads: 2, memory: None, engine: None, scratch: None }).unwrap().bytes
        };
        let (one, ten) = (of(100_000), of(1_000_000));
        assert!(one > 28 * 100_000 && ten > 28 * 1_000_000 && ten < 10 * one, "{one} {ten}");
    }

    #[test]
    fn the_sizes_are_those_of_the_source_and_of_no_machine() {
        let source = json!({"synthetic": {"users": 300, "items": 200, "interactions": 10_000}});
        let preparation = serde_json::from_value(json!({"name": "d", "source": source, "split": {"random": {"test": 0.2}}})).unwrap();
        let found = size_estimate(&preparation).unwrap();
        // Fewer rows than are looked at: they are counted.
        assert!((9_000..=10_000).contains(&found.interactions) && found.users <= 300 && found.items <= 200, "{found:?}");
        let [one, many] = [1, 64].map(|threads| sampled(&preparation, threads).unwrap());
        assert_eq!((one.rated, one.users.count, one.items.count), (many.rated, many.users.count, many.items.count));
    }

    #[test]
    fn threads_hold_codes_and_chunks_of_their_own() {
        let ids = |length: f64| IdEstimate { count: 1_000.0, seen: 800.0, length };
        let read = |length: f64| Read { rated: 1e6, users: ids(length), items: ids(0.0) };
        let of = |length: f64, readers: f64| read(length).reading(readers, 0.0);
        // 800 ids: of at most 8 bytes, 2,048 slots of 16 bytes; of 20, text, ends and codes, and 1,024 slots of 9 bytes.
        let chunks = 256.0 * 8_192.0;
        assert_eq!(of(8.0, 3.0) - of(8.0, 2.0), chunks + 2.0 * 32_768.0);
        assert_eq!(of(20.0, 3.0) - of(20.0, 2.0), chunks + 32_768.0 + 800.0 * 32.0 + 9_216.0);
        assert_eq!(read(8.0).numbering(3.0) - read(8.0).numbering(2.0), 2.0 * 32_768.0);
    }

    #[test]
    fn the_limit_decides_unless_an_engine_was_asked_for() {
        let source = json!({"synthetic": {"users": 20_000, "items": 5_000, "interactions": 500_000}});
        let preparation = serde_json::from_value(json!({"name": "d", "source": source, "split": {"random": {"test": 0.2}}})).unwrap();
        let of = |memory, engine| memory_estimate(&preparation, &Limits { threads: 2, memory, engine, scratch: None }).unwrap();
        let free = of(None, None);
        assert_eq!((free.engine, free.bytes), (Engine::Memory, free.in_memory));
        let (enough, less) = (free.in_memory as usize, free.in_memory as usize - 1);
        assert_eq!([of(Some(enough), None).engine, of(Some(less), None).engine], [Engine::Memory, Engine::Datafusion]);
        assert_eq!((of(Some(less), None).in_memory, of(Some(less), Some(Engine::Memory)).bytes), (free.in_memory, free.in_memory));
        assert_eq!(of(None, Some(Engine::Datafusion)).engine, Engine::Datafusion);
    }

    #[test]
    fn relations_hold_what_the_limit_says() {
        let read = Read { rated: 1e7, users: IdEstimate::default(), items: IdEstimate::default() };
        assert_eq!(read.reading(1.0, 5.0) - read.reading(1.0, 0.0), 5.0);
        let of = |limit| read.by_relations(limit) - SOME;
        assert_eq!((read.numbering(1.0), of(None), of(Some(100_000_000)), of(Some(1))), (280e6, 640e6, 100e6, LEAST_MEMORY as f64));
    }

    #[test]
    fn a_string_takes_a_block() {
        let strings = |length: f64| IdEstimate { count: 1.0, seen: 1.0, length }.strings();
        assert_eq!([5.0, 24.0, 25.0, 40.0].map(strings), [64.0, 64.0, 80.0, 80.0]);
    }
}
