//! One thread's way from ids to codes.
//!
//! A thread keeps the codes of all ids that it has seen, and asks the dictionary that all share only for new ones. So nearly all lookups
//! take no lock.

use crate::{
    dictionary::Dictionary,
    short_ids::{BYTES, Short, ShortIds},
};
use std::sync::Mutex;

/// The codes of the ids that one thread has seen.
pub(crate) struct Coder<'a> {
    shared: &'a Mutex<Dictionary>,
    short: ShortIds,
    /// Longer ids; the code of each is at its place in `codes`.
    long: Dictionary,
    codes: Vec<u32>,
    batch: Vec<(Short, usize)>,
    /// The places in a batch that take more than one look, and then those that are new.
    other: Vec<usize>,
}

impl<'a> Coder<'a> {
    /// Makes a coder of a dictionary that all threads share.
    pub(crate) fn new(shared: &'a Mutex<Dictionary>) -> Self {
        let (short, long) = (ShortIds::default(), Dictionary::default());
        Self { shared, short, long, codes: Vec::new(), batch: Vec::new(), other: Vec::new() }
    }

    /// Bytes that a thread's own codes take, of so many ids of this mean length.
    pub(crate) fn memory(ids: f64, length: f64) -> f64 {
        if length <= f64::from(BYTES) { ShortIds::memory(ids) } else { Dictionary::memory(ids, length) + ids * size_of::<u32>() as f64 }
    }

    /// Puts the ids' codes into `codes`, in their order.
    pub(crate) fn code(&mut self, ids: &[&str], codes: &mut Vec<u32>) {
        let short = ids.iter().map(|id| Short::new(id.as_bytes()));
        self.batch.clear();
        self.batch.extend(short.map(|short| (short, self.short.home(short))));
        codes.clear();
        for (place, &(short, home)) in self.batch.iter().enumerate() {
            codes.push(self.short.first(short, home).unwrap_or_else(|| {
                self.other.push(place);
                0
            }));
        }
        let mut other = std::mem::take(&mut self.other);
        other.retain(|&place| match self.find(ids[place], self.batch[place].0) {
            Some(code) => {
                codes[place] = code;
                false
            }
            None => true,
        });
        if !other.is_empty() {
            self.learn(ids, &other, codes);
        }
        other.clear();
        self.other = other;
    }

    fn find(&self, id: &str, short: Short) -> Option<u32> {
        if short.is_long() { self.long.find(id).map(|place| self.codes[place as usize]) } else { self.short.find(short) }
    }

    /// Asks for the codes of new ids, and keeps them.
    fn learn(&mut self, ids: &[&str], new: &[usize], codes: &mut [u32]) {
        let mut shared = self.shared.lock().expect("no holder of this lock panics");
        for &place in new {
            codes[place] = shared.code(ids[place]);
        }
        drop(shared);
        for &place in new {
            let (id, short) = (ids[place], self.batch[place].0);
            // An id may be new twice in a batch.
            if self.find(id, short).is_some() {
                continue;
            }
            if short.is_long() {
                self.long.code(id);
                self.codes.push(codes[place]);
            } else {
                self.short.insert(short, codes[place]);
            }
        }
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
                let shared = shared.lock().unwrap();
                let found: Vec<&str> = codes.iter().map(|&code| shared.id(code)).collect();
                prop_assert_eq!(found, ids);
            }
        }
    }
}
