//! Which ids have been written, by their hashes, so that each is written about once.

use hashbrown::HashTable;
use std::{mem, sync::Mutex};

/// Tables that threads lock one at a time.
pub(super) const TABLES: usize = 64;
/// The part of the memory limit that the hashes of one side may take.
const SHARE: usize = 6;
/// Bytes of a slot, and of half of one while a table doubles.
const SLOT: usize = 20;
/// Slots of the smallest table.
const SLOTS: usize = 1 << 10;
/// Hashes that a thread keeps for itself; a power of two.
const RECENT: usize = 1 << 15;

/// An id: the hash that stands for it in relations, and 32 bits more, by which two ids of one hash are told apart, and both written. That these agree too
/// happens once in 10^11 times to a billion ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) code: u64,
    pub(super) check: u32,
}

/// A fingerprint in 12 bytes.
type Slot = [u32; 3];

impl From<Fingerprint> for Slot {
    fn from(Fingerprint { code, check }: Fingerprint) -> Self {
        [(code >> 32) as u32, code as u32, check]
    }
}

/// The hash of a slot.
fn code(slot: &Slot) -> u64 {
    u64::from(slot[0]) << 32 | u64::from(slot[1])
}

/// What all threads have written. With more than memory is for, a table begins anew, and some ids are written once more.
pub(super) struct Known {
    tables: Vec<Mutex<HashTable<Slot>>>,
    /// Hashes of one table, at most.
    most: usize,
}

impl Known {
    /// Knows nothing yet, and takes at most a sixth of the memory limit, or of 4 GiB where there is none.
    pub(super) fn new(memory: Option<usize>) -> Self {
        let slots = (memory.unwrap_or(4 << 30) / SHARE / TABLES / SLOT).max(SLOTS);
        let slots = 1 << slots.ilog2();
        Self { tables: (0..TABLES).map(|_| Mutex::default()).collect(), most: slots / 8 * 7 }
    }

    /// The table that an id is in.
    pub(super) fn table(id: Fingerprint) -> usize {
        (id.code >> 32) as usize % TABLES
    }

    /// Notes ids of one table; gives those that are not known to have been. That one lock is for many lets the processor look for several at once: each
    /// is somewhere else in memory.
    pub(super) fn note(&self, table: usize, ids: impl Iterator<Item = Fingerprint>, mut give: impl FnMut(usize)) {
        let mut table = self.tables[table].lock().expect("no holder of this lock panics");
        for (place, id) in ids.enumerate() {
            let slot = Slot::from(id);
            if table.find(id.code, |other| *other == slot).is_none() {
                if table.len() == self.most {
                    table.clear();
                }
                table.insert_unique(id.code, slot, code);
                give(place);
            }
        }
    }
}

/// What one thread has met of late, without a lock: most rows are of few users and items.
pub(super) struct Recent(Vec<Slot>);

impl Default for Recent {
    fn default() -> Self {
        let mut met = vec![[0; 3]; RECENT];
        // What stands elsewhere, so that 0 is new here once.
        met[0] = [0, 1, 0];
        Self(met)
    }
}

impl Recent {
    /// Notes an id; whether it is not among those of late.
    pub(super) fn is_new(&mut self, id: Fingerprint) -> bool {
        let slot = id.into();
        mem::replace(&mut self.0[id.code as usize % RECENT], slot) != slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Ids of which some stand in one place, in one table, and some have one hash.
    fn ids() -> impl Iterator<Item = Fingerprint> {
        let hash = |n: u64| (n % 1_700).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (n % 3 * 20);
        let drawn = (0..5_000).map(move |n| Fingerprint { code: hash(n), check: (n % 7 / 6) as u32 });
        drawn.chain([0, 0, 1].map(|code| Fingerprint { code, check: 0 }))
    }

    /// The ids that are new, noted one after the other.
    fn new_ones(known: &Known, ids: impl Iterator<Item = Fingerprint>) -> Vec<Fingerprint> {
        let mut new = Vec::new();
        ids.for_each(|id| known.note(Known::table(id), [id].into_iter(), |_| new.push(id)));
        new
    }

    #[test]
    fn each_id_is_new_once() {
        let (known, mut recent, mut found) = (Known::new(None), Recent::default(), HashSet::new());
        for id in ids() {
            let is_new = recent.is_new(id) && !new_ones(&known, [id].into_iter()).is_empty();
            assert_eq!(is_new, found.insert((id.code, id.check)), "{id:?}");
        }
        assert!(found.iter().any(|&(code, check)| check == 0 && found.contains(&(code, 1))));
    }

    #[test]
    fn many_of_one_table_are_as_one_after_the_other() {
        let (together, known) = (Known::new(None), Known::new(None));
        let of_table: Vec<Fingerprint> = ids().filter(|&id| Known::table(id) == 0).collect();
        let mut new = Vec::new();
        together.note(0, of_table.iter().copied(), |place| new.push(of_table[place]));
        assert_eq!(new, new_ones(&known, of_table.iter().copied()));
        assert!(new.len() > 100 && new.len() < of_table.len());
    }

    #[test]
    fn a_table_that_is_full_begins_anew() {
        let known = Known::new(Some(1));
        assert_eq!(known.most, SLOTS / 8 * 7);
        // All in the first table.
        let ids = || (0..2 * known.most as u64).map(|code| Fingerprint { code, check: 0 });
        assert_eq!(new_ones(&known, ids().flat_map(|id| [id, id])), ids().collect::<Vec<_>>());
        assert_eq!(new_ones(&known, ids().take(1)).len(), 1);
    }
}
