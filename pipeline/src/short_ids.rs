//! Codes of short ids, in a table that is fast for many ids at once.
//!
//! Open addressing: an id stands in the slot of its hash, or in the next free one. At most half of the slots are taken, so nearly all ids
//! stand where they are looked for first, and looking up many takes one access to memory for each, none of which waits for another.

use hashbrown::DefaultHashBuilder;
use std::hash::BuildHasher;

/// The longest short id.
pub(crate) const BYTES: u32 = 8;
/// Slots of a new table; a power of two.
const SLOTS: usize = 1 << 10;

/// An id: its bytes with zeros behind, and their number. Of a long id, only that it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    bytes: u64,
    length: u32,
}

/// The codes of short ids.
pub(crate) struct ShortIds {
    slots: Vec<Slot>,
    taken: usize,
    hasher: DefaultHashBuilder,
}

/// An id and its code, in 16 bytes.
#[derive(Clone, Copy)]
struct Slot {
    bytes: u64,
    length: u32,
    code: u32,
}

impl Slot {
    const FREE: Self = Self { bytes: 0, length: u32::MAX, code: 0 };

    fn id(self) -> Short {
        Short { bytes: self.bytes, length: self.length }
    }

    fn is_free(self) -> bool {
        self.length == Self::FREE.length
    }
}

impl Short {
    const LONG: Self = Self { bytes: 0, length: BYTES + 1 };

    pub(crate) fn new(id: &[u8]) -> Self {
        let bytes = match (id, id.first_chunk(), id.last_chunk()) {
            ([_, _, _, _, _, _, _, _, _, ..], ..) => return Self::LONG,
            (_, Some(&first), Some(&last)) => {
                u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << (8 * (id.len() - 4))
            }
            _ => id.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte)),
        };
        Self { bytes, length: id.len() as u32 }
    }

    pub(crate) fn is_long(self) -> bool {
        self == Self::LONG
    }
}

impl Default for ShortIds {
    fn default() -> Self {
        Self { slots: vec![Slot::FREE; SLOTS], taken: 0, hasher: DefaultHashBuilder::default() }
    }
}

impl ShortIds {
    /// Bytes that the table takes for so many ids.
    pub(crate) fn memory(ids: f64) -> f64 {
        (2.0 * ids).log2().ceil().exp2() * size_of::<Slot>() as f64
    }

    /// The slot of an id's hash, for [`first`](Self::first), until the next insertion.
    pub(crate) fn home(&self, id: Short) -> usize {
        self.hasher.hash_one(id.bytes ^ u64::from(id.length)) as usize & (self.slots.len() - 1)
    }

    /// The code of an id that stands in its first slot.
    pub(crate) fn first(&self, id: Short, home: usize) -> Option<u32> {
        let slot = self.slots[home];
        (slot.id() == id).then_some(slot.code)
    }

    /// The code of an id.
    pub(crate) fn find(&self, id: Short) -> Option<u32> {
        let slot = self.slots[self.place(id)];
        (slot.id() == id).then_some(slot.code)
    }

    /// Puts an id that is not there.
    pub(crate) fn insert(&mut self, id: Short, code: u32) {
        self.taken += 1;
        if 2 * self.taken > self.slots.len() {
            let free = vec![Slot::FREE; 2 * self.slots.len()];
            for slot in std::mem::replace(&mut self.slots, free).into_iter().filter(|slot| !slot.is_free()) {
                let place = self.place(slot.id());
                self.slots[place] = slot;
            }
        }
        let place = self.place(id);
        self.slots[place] = Slot { bytes: id.bytes, length: id.length, code };
    }

    /// Where the id stands, or else the free slot that it would take.
    fn place(&self, id: Short) -> usize {
        let mut place = self.home(id);
        while self.slots[place].id() != id && !self.slots[place].is_free() {
            place = (place + 1) & (self.slots.len() - 1);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_differ_by_bytes_and_length() {
        let ids: Vec<Vec<u8>> = (0..=8).flat_map(|length| [vec![0; length], vec![b'a'; length], (0..length as u8).collect()]).collect();
        for (one, other) in ids.iter().flat_map(|one| ids.iter().map(move |other| (one, other))) {
            assert_eq!(Short::new(one) == Short::new(other), one == other, "{one:?} {other:?}");
        }
        assert!(Short::new(&[0; 9]).is_long() && !Short::new(&[0; 8]).is_long());
    }

    #[test]
    fn what_was_put_is_found_and_nothing_else() {
        let mut ids = ShortIds::default();
        let id = |number: u32| Short::new(number.to_string().as_bytes());
        (0..20_000).for_each(|number| ids.insert(id(number), number));
        assert!((0..20_000).all(|number| ids.find(id(number)) == Some(number)));
        assert!((20_000..40_000).all(|number| ids.find(id(number)).is_none() && ids.first(id(number), ids.home(id(number))).is_none()));
        let first = (0..20_000).filter(|&number| ids.first(id(number), ids.home(id(number))) == Some(number)).count();
        assert!(first > 10_000, "{first}");
        assert_eq!(ids.find(Short::LONG), None);
    }
}
