//! Which ids have been written, by their hashes, so that each is written about once.

use hashbrown::HashTable;
use std::{mem, sync::Mutex};

/// Tables that threads lock one at a time; a power of two.
const TABLES: usize = 64;
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

    /// Notes an id; whether it is not known to have been.
    pub(super) fn is_new(&self, id: Fingerprint) -> bool {
        let slot = Slot::from(id);
        let mut table = self.tables[slot[0] as usize % TABLES].lock().expect("no holder of this lock panics");
        if table.find(id.code, |other| *other == slot).is_some() {
            return false;
        }
        if table.len() == self.most {
            table.clear();
        }
        table.insert_unique(id.code, slot, code);
        true
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

    #[test]
    fn each_id_is_new_once() {
        let (known, mut recent, mut found) = (Known::new(None), Recent::default(), HashSet::new());
        for id in ids() {
            assert_eq!(recent.is_new(id) && known.is_new(id), found.insert((id.code, id.check)), "{id:?}");
        }
        assert!(found.iter().any(|&(code, check)| check == 0 && found.contains(&(code, 1))));
    }

    #[test]
    fn a_table_that_is_full_begins_anew() {
        let known = Known::new(Some(1));
        assert_eq!(known.most, SLOTS / 8 * 7);
        // All in the first table.
        let id = |code| Fingerprint { code, check: 0 };
        for code in 0..2 * known.most as u64 {
            assert!(known.is_new(id(code)) && !known.is_new(id(code)), "{code}");
        }
        assert!(known.is_new(id(0)));
    }
}
