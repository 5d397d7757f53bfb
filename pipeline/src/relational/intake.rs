//! The rows of a source on their way into scratch: ids become hashes, rows below the threshold are left out.

use super::{
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
use hashbrown::{HashTable, hash_table::Entry};
use siphasher::sip::SipHasher13;
use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// Rows, or ids, that are written at a time.
const BATCH: usize = 1 << 16;
/// Ids that a thread knows to have written; with more it begins anew, and writes some once more.
const KNOWN: usize = 1 << 21;

/// Reads all parts of a source into scratch.
pub(super) struct Intake<'a> {
    preparation: &'a Preparation,
    workspace: &'a Workspace,
    limits: &'a Limits,
    hash: Hash,
    rejected: Mutex<&'a mut RejectedRows>,
    part: Split,
    files: AtomicUsize,
    read: AtomicUsize,
    rated: AtomicUsize,
    timed: AtomicBool,
}

impl<'a> Intake<'a> {
    /// Prepares to read a source, with the hash of this key.
    pub(super) fn new(
        preparation: &'a Preparation,
        workspace: &'a Workspace,
        rejected: &'a mut RejectedRows,
        limits: &'a Limits,
        hash: Hash,
    ) -> Self {
        let count = AtomicUsize::default;
        let (rejected, part, timed) = (Mutex::new(rejected), Split::Train, AtomicBool::new(false));
        Self { preparation, workspace, limits, hash, rejected, part, files: count(), read: count(), rated: count(), timed }
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
            out: ScratchFile::new(Relation::Rows, file),
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
    fn of(self, id: &str) -> u64 {
        SipHasher13::new_with_keys(self.key, 0).hash(id.as_bytes()) >> (64 - self.bits)
    }
}

/// The rows that one thread reads.
struct Thread<'a, 'b> {
    intake: &'a Intake<'b>,
    users: Ids,
    items: Ids,
    times: Vec<f64>,
    out: ScratchFile,
    read: usize,
    rated: usize,
    timed: bool,
}

impl Thread<'_, '_> {
    fn write(&mut self) -> Result<()> {
        let part = UInt8Array::from_value(self.intake.part as u8, self.times.len());
        let [users, items] =
            [&mut self.users, &mut self.items].map(|side| Arc::new(UInt64Array::from(mem::take(&mut side.codes))) as ArrayRef);
        let times = Float64Array::from(mem::take(&mut self.times));
        self.out.write(self.intake.workspace, vec![users, items, Arc::new(part), Arc::new(times)])
    }
}

impl Sink for Thread<'_, '_> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        let reaches = rows.reaching(self.intake.preparation.min_rating)?;
        self.read += rows.users.len();
        self.timed = rows.times.is_some();
        for place in 0..rows.users.len() {
            let (user, item) = (self.users.code(rows.users[place], self.intake.hash), self.items.code(rows.items[place], self.intake.hash));
            if reaches(place) {
                self.users.codes.push(user);
                self.items.codes.push(item);
                self.times.push(rows.times.map_or(0.0, |times| times[place]));
                self.rated += 1;
            }
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
        self.out.finish(self.intake.workspace)?;
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

/// One side of the rows: the hashes of a batch, and the ids that are new.
struct Ids {
    codes: Vec<u64>,
    /// By themselves, as they are hashes.
    known: HashTable<u64>,
    new: Vec<(u64, String)>,
    out: ScratchFile,
}

impl Ids {
    fn new(side: Side, file: usize) -> Self {
        Self { codes: Vec::new(), known: HashTable::new(), new: Vec::new(), out: ScratchFile::new(side.raw_ids(), file) }
    }

    /// The hash of an id, which is noted when it is not known to have been.
    fn code(&mut self, id: &str, hash: Hash) -> u64 {
        let code = hash.of(id);
        if let Entry::Vacant(place) = self.known.entry(code, |&other| other == code, |&known| known) {
            place.insert(code);
            self.new.push((code, id.to_owned()));
        }
        code
    }

    fn write(&mut self, workspace: &Workspace) -> Result<()> {
        let new = mem::take(&mut self.new);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(new.iter().map(|(code, _)| *code))),
            Arc::new(StringArray::from_iter_values(new.iter().map(|(_, id)| id))),
            Arc::new(UInt32Array::from_iter_values(new.iter().map(|(_, id)| id.len() as u32))),
            Arc::new(BooleanArray::from_iter(new.iter().map(|(_, id)| Some(is_integer(id))))),
        ];
        if self.known.len() > KNOWN {
            self.known = HashTable::new();
        }
        self.out.write(workspace, columns)
    }
}
