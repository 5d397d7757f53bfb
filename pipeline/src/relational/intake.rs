//! The rows of a source on their way into scratch: ids become hashes, rows below the threshold are left out, and what is left is parted by users' hashes, so
//! that what becomes of one bucket fits in memory.

use super::{
    known::{Fingerprint, Known},
    relations::Side,
    scratch_file::ScratchFile,
    workspace::{Relation, Workspace},
};
use crate::{
    Limits, Preparation, Result,
    dictionary::is_integer,
    gather::Reading,
    rejected::RejectedRows,
    source::{Rejected, Rows, Sink, Sinks},
};
use arrow::array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt8Array, UInt32Array, UInt64Array};
use dataset::Split;
use siphasher::sip128::SipHasher13;
use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// Rows, or ids, that are written at a time.
const BATCH: usize = 1 << 16;

/// Reads all parts of a source into scratch.
pub(super) struct Intake<'a> {
    preparation: &'a Preparation,
    workspace: &'a Workspace,
    limits: &'a Limits,
    hash: Hash,
    known: [Known; 2],
    rejected: Mutex<&'a mut RejectedRows>,
    part: Split,
    files: AtomicUsize,
    read: AtomicUsize,
    rated: AtomicUsize,
    timed: AtomicBool,
}

impl<'a> Intake<'a> {
    /// Prepares to read about so many rows, with the hash of this key.
    pub(super) fn new(
        preparation: &'a Preparation,
        workspace: &'a Workspace,
        rejected: &'a mut RejectedRows,
        limits: &'a Limits,
        rows: u64,
        hash: Hash,
    ) -> Self {
        let count = AtomicUsize::default;
        let (rejected, part, timed) = (Mutex::new(rejected), Split::Train, AtomicBool::new(false));
        let known = [(); 2].map(|()| Known::new(rows, limits.memory));
        Self { preparation, workspace, limits, hash, known, rejected, part, files: count(), read: count(), rated: count(), timed }
    }

    /// Reads all rows; how many there were. The ids are not counted yet.
    pub(super) fn read(mut self) -> Result<Reading> {
        let mut parts = Vec::new();
        for part in self.preparation.source.parts() {
            self.part = part;
            self.preparation.read(part, &self)?;
            parts.push((part, mem::take(self.read.get_mut())));
        }
        Ok(Reading { parts, rated: self.rated.into_inner(), timed: self.timed.into_inner(), users: 0, items: 0 })
    }
}

impl Sinks for Intake<'_> {
    fn threads(&self) -> usize {
        self.limits.threads.max(1)
    }

    fn sink(&self) -> Box<dyn Sink + '_> {
        let file = self.files.fetch_add(1, Ordering::Relaxed);
        Box::new(Thread {
            intake: self,
            users: Ids::new(Side::Users, file),
            items: Ids::new(Side::Items, file),
            times: Vec::new(),
            out: (0..self.workspace.buckets()).map(|bucket| ScratchFile::new(Relation::Rows(bucket), file)).collect(),
            read: 0,
            rated: 0,
            timed: false,
        })
    }

    fn reject(&self, rejected: Rejected<'_>) -> Result<()> {
        self.rejected.lock().expect("no holder of this lock panics").add(rejected)
    }
}

/// A keyed hash of ids. Keys are tried from 0 on until no two ids have the same hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash {
    pub(super) key: u64,
    /// The bits that are used: 64, and fewer where tests want ids to collide.
    pub(super) bits: u32,
}

impl Hash {
    fn of(self, id: &str) -> Fingerprint {
        let hash = SipHasher13::new_with_keys(self.key, 0).hash(id.as_bytes());
        Fingerprint { code: hash.h1 >> (64 - self.bits), check: hash.h2 }
    }

    /// Which of so many buckets, a power of two, has a hash.
    fn bucket(self, code: u64, buckets: usize) -> usize {
        code.checked_shr(self.bits.saturating_sub(buckets.ilog2())).unwrap_or(0) as usize % buckets
    }
}

/// The rows that one thread reads.
struct Thread<'a, 'b> {
    intake: &'a Intake<'b>,
    users: Ids,
    items: Ids,
    times: Vec<f64>,
    /// A file for each bucket.
    out: Vec<ScratchFile>,
    read: usize,
    rated: usize,
    timed: bool,
}

impl Thread<'_, '_> {
    fn write(&mut self) -> Result<()> {
        let [users, items] = [&mut self.users, &mut self.items].map(|side| mem::take(&mut side.codes));
        let times = mem::take(&mut self.times);
        if self.out.len() == 1 {
            return self.write_bucket(0, users, items, times);
        }
        let mut places = vec![Vec::new(); self.out.len()];
        for (place, user) in users.iter().enumerate() {
            places[self.intake.hash.bucket(*user, self.out.len())].push(place);
        }
        for (bucket, places) in places.into_iter().enumerate().filter(|(_, places)| !places.is_empty()) {
            let of = |codes: &[u64]| places.iter().map(|&place| codes[place]).collect();
            self.write_bucket(bucket, of(&users), of(&items), places.iter().map(|&place| times[place]).collect())?;
        }
        Ok(())
    }

    fn write_bucket(&mut self, bucket: usize, users: Vec<u64>, items: Vec<u64>, times: Vec<f64>) -> Result<()> {
        let part = UInt8Array::from_value(self.intake.part as u8, times.len());
        let [users, items] = [users, items].map(|codes| Arc::new(UInt64Array::from(codes)) as ArrayRef);
        self.out[bucket].write(self.intake.workspace, vec![users, items, Arc::new(part), Arc::new(Float64Array::from(times))])
    }
}

impl Sink for Thread<'_, '_> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        let reaches = rows.reaching(self.intake.preparation.min_rating)?;
        self.read += rows.users.len();
        self.timed = rows.times.is_some();
        let [users, items] = &self.intake.known;
        self.users.note(rows.users, self.intake.hash, users);
        self.items.note(rows.items, self.intake.hash, items);
        for place in (0..rows.users.len()).filter(|&place| reaches(place)) {
            self.users.codes.push(self.users.hashes[place].code);
            self.items.codes.push(self.items.hashes[place].code);
            self.times.push(rows.time(place));
            self.rated += 1;
        }
        if self.times.len() >= BATCH {
            self.write()?;
        }
        [&mut self.users, &mut self.items]
            .into_iter()
            .filter(|side| side.new.len() >= BATCH)
            .try_for_each(|side| side.write(self.intake.workspace))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.write()?;
        self.out.into_iter().try_for_each(|file| file.finish(self.intake.workspace))?;
        for mut side in [self.users, self.items] {
            side.write(self.intake.workspace)?;
            side.out.finish(self.intake.workspace)?;
        }
        self.intake.read.fetch_add(self.read, Ordering::Relaxed);
        self.intake.rated.fetch_add(self.rated, Ordering::Relaxed);
        self.intake.timed.fetch_or(self.timed, Ordering::Relaxed);
        Ok(())
    }
}

/// One side of the rows: the hashes of those that are kept, and the ids that are new.
struct Ids {
    codes: Vec<u64>,
    /// Of the rows that came last.
    hashes: Vec<Fingerprint>,
    new: Vec<(u64, String)>,
    out: ScratchFile,
}

impl Ids {
    fn new(side: Side, file: usize) -> Self {
        Self { codes: Vec::new(), hashes: Vec::new(), new: Vec::new(), out: ScratchFile::new(side.raw_ids(), file) }
    }

    /// Hashes ids, and notes those that are not known to have been.
    fn note(&mut self, ids: &[&str], hash: Hash, known: &Known) {
        self.hashes.clear();
        self.hashes.extend(ids.iter().map(|id| hash.of(id)));
        known.fetch(&self.hashes);
        for (&hash, id) in self.hashes.iter().zip(ids) {
            if known.is_new(hash) {
                self.new.push((hash.code, (*id).to_owned()));
            }
        }
    }

    fn write(&mut self, workspace: &Workspace) -> Result<()> {
        let new = mem::take(&mut self.new);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(new.iter().map(|(code, _)| *code))),
            Arc::new(StringArray::from_iter_values(new.iter().map(|(_, id)| id))),
            Arc::new(UInt32Array::from_iter_values(new.iter().map(|(_, id)| id.len() as u32))),
            Arc::new(BooleanArray::from_iter(new.iter().map(|(_, id)| Some(is_integer(id))))),
        ];
        self.out.write(workspace, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_the_first_bits_of_a_hash() {
        let hash = |bits| Hash { key: 0, bits };
        assert_eq!([0, 1 << 61, u64::MAX].map(|code| hash(64).bucket(code, 8)), [0, 1, 7]);
        assert_eq!([0, u64::MAX].map(|code| hash(64).bucket(code, 1)), [0, 0]);
        // Hashes of fewer bits than buckets have.
        assert_eq!((0..8).map(|code| hash(3).bucket(code, 16)).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
        let mut counts = [0; 16];
        (0..16_000).for_each(|id: u32| counts[hash(64).bucket(hash(64).of(&id.to_string()).code, 16)] += 1);
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }
}
