//! One thread's way from ids to codes.
//!
//! A thread keeps the codes of all ids that it has seen, and asks the dictionary that all share only for new ones. So nearly all lookups
//! take no lock. Short ids stand in the table itself, and are compared without a look elsewhere.

use crate::dictionary::Dictionary;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::{hash::BuildHasher, sync::Mutex};

/// The bytes of a short id, with zeros behind, and their number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Short {
    bytes: u64,
    length: u32,
}

/// A short id and its code, in 16 bytes.
struct Known {
    bytes: u64,
    length: u32,
    code: u32,
}

/// The codes of the ids that one thread has seen.
pub(crate) struct Coder<'a> {
    shared: &'a Mutex<Dictionary>,
    short: HashTable<Known>,
    hasher: DefaultHashBuilder,
    /// Longer ids; the code of each is at its place in `codes`.
    long: Dictionary,
    codes: Vec<u32>,
    /// The places of ids that are new in a batch.
    new: Vec<usize>,
}

impl<'a> Coder<'a> {
    /// Of a dictionary that all threads share.
    pub(crate) fn new(shared: &'a Mutex<Dictionary>) -> Self {
        let (short, hasher) = (HashTable::new(), DefaultHashBuilder::default());
        Self { shared, short, hasher, long: Dictionary::default(), codes: Vec::new(), new: Vec::new() }
    }

    /// Puts the ids' codes into `codes`, in their order.
    pub(crate) fn code(&mut self, ids: &[&str], codes: &mut Vec<u32>) {
        codes.clear();
        for (place, id) in ids.iter().enumerate() {
            codes.push(self.find(id).unwrap_or_else(|| {
                self.new.push(place);
                0
            }));
        }
        if self.new.is_empty() {
            return;
        }
        let mut shared = self.shared.lock().expect("no holder of this lock panics");
        for &place in &self.new {
            codes[place] = shared.code(ids[place]);
        }
        drop(shared);
        for at in 0..self.new.len() {
            self.keep(ids[self.new[at]], codes[self.new[at]]);
        }
        self.new.clear();
    }

    fn find(&self, id: &str) -> Option<u32> {
        match Short::new(id.as_bytes()) {
            Some(short) => self.short.find(short.hash(&self.hasher), |known| known.id() == short).map(|known| known.code),
            None => self.long.find(id).map(|place| self.codes[place as usize]),
        }
    }

    /// Keeps a code, unless the id was twice among the new ones.
    fn keep(&mut self, id: &str, code: u32) {
        if self.find(id).is_some() {
            return;
        }
        match Short::new(id.as_bytes()) {
            Some(short @ Short { bytes, length }) => {
                let known = Known { bytes, length, code };
                self.short.insert_unique(short.hash(&self.hasher), known, |known| known.id().hash(&self.hasher));
            }
            None => {
                self.long.code(id);
                self.codes.push(code);
            }
        }
    }
}

impl Known {
    fn id(&self) -> Short {
        Short { bytes: self.bytes, length: self.length }
    }
}

impl Short {
    /// `None` for more than eight bytes.
    fn new(id: &[u8]) -> Option<Self> {
        let bytes = match (id, id.first_chunk(), id.last_chunk()) {
            ([_, _, _, _, _, _, _, _, _, ..], ..) => return None,
            (_, Some(&first), Some(&last)) => {
                u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << (8 * (id.len() - 4))
            }
            _ => id.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte)),
        };
        Some(Self { bytes, length: id.len() as u32 })
    }

    fn hash(self, hasher: &DefaultHashBuilder) -> u64 {
        hasher.hash_one(self.bytes ^ u64::from(self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_are_those_of_the_dictionary(batches in prop::collection::vec(prop::collection::vec("[ab\u{0}ü]{0,12}", 0..20), 1..12)) {
            let shared = Mutex::new(Dictionary::default());
            let mut coders = [Coder::new(&shared), Coder::new(&shared)];
            let mut codes = Vec::new();
            for (turn, batch) in batches.iter().enumerate() {
                let ids: Vec<&str> = batch.iter().map(String::as_str).collect();
                coders[turn % 2].code(&ids, &mut codes);
                let expected: Vec<u32> = ids.iter().map(|id| shared.lock().unwrap().find(id).unwrap()).collect();
                prop_assert_eq!(&codes, &expected);
            }
        }
    }

    #[test]
    fn short_ids_differ_by_bytes_and_length() {
        let ids: Vec<Vec<u8>> = (0..=8).flat_map(|length| [vec![0; length], vec![b'a'; length], (0..length as u8).collect()]).collect();
        for (one, other) in ids.iter().flat_map(|one| ids.iter().map(move |other| (one, other))) {
            assert_eq!(Short::new(one) == Short::new(other), one == other, "{one:?} {other:?}");
        }
        assert!(Short::new(&[0; 9]).is_none());
    }
}
