//! The users' own ids as dense codes, and their final order.

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::slice::ParallelSliceMut;
use std::hash::BuildHasher;

/// Ids in the order of their first appearance, each with a code: its place in that order.
#[derive(Default)]
pub(crate) struct Dictionary {
    text: String,
    ends: Vec<usize>,
    table: HashTable<Entry>,
    hasher: DefaultHashBuilder,
}

/// The hash stands beside the code, so that the text is looked at for equal ones only.
struct Entry {
    hash: u32,
    code: u32,
}

impl Dictionary {
    /// The id's code; a new id gets the next one.
    pub(crate) fn code(&mut self, id: &str) -> u32 {
        let hash = self.hasher.hash_one(id) as u32;
        if let Some(code) = self.find_hashed(hash, id) {
            return code;
        }
        let code = u32::try_from(self.len()).expect("a catalogue has fewer than 2^32 ids");
        self.text.push_str(id);
        self.ends.push(self.text.len());
        self.table.insert_unique(spread(hash), Entry { hash, code }, |entry| spread(entry.hash));
        code
    }

    /// The id's code, if it has one.
    pub(crate) fn find(&self, id: &str) -> Option<u32> {
        self.find_hashed(self.hasher.hash_one(id) as u32, id)
    }

    fn find_hashed(&self, hash: u32, id: &str) -> Option<u32> {
        self.table.find(spread(hash), |entry| entry.hash == hash && self.id(entry.code) == id).map(|entry| entry.code)
    }

    /// The id of a code.
    pub(crate) fn id(&self, code: u32) -> &str {
        let start = if code == 0 { 0 } else { self.ends[code as usize - 1] };
        &self.text[start..self.ends[code as usize]]
    }

    /// The bytes of all ids.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Bytes that a dictionary of so many ids of this mean length takes: their text, its ends, and at most 7 of 8 slots of a hash table with
    /// a byte for each beside.
    pub(crate) fn memory(ids: f64, length: f64) -> f64 {
        let slots = (ids * 8.0 / 7.0).log2().ceil().exp2();
        ids * (length + size_of::<usize>() as f64) + slots * (1 + size_of::<Entry>()) as f64
    }

    /// The number of ids.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The kept codes in the order of their ids: as numbers when every kept id is a decimal integer without sign or leading zeros,
    /// else by their bytes.
    pub(crate) fn sorted(&self, kept: impl Fn(u32) -> bool) -> Vec<u32> {
        let codes: Vec<u32> = (0..self.len() as u32).filter(|&code| kept(code)).collect();
        if codes.iter().all(|&code| is_integer(self.id(code))) {
            self.sorted_by(codes, |id| (id.len(), leading(id)))
        } else {
            self.sorted_by(codes, leading)
        }
    }

    /// By a key, and by the whole id where keys are equal.
    fn sorted_by<K: Ord + Copy + Send>(&self, codes: Vec<u32>, key: impl Fn(&str) -> K) -> Vec<u32> {
        let mut keyed: Vec<(K, u32)> = codes.into_iter().map(|code| (key(self.id(code)), code)).collect();
        keyed.par_sort_unstable_by(|one, other| one.0.cmp(&other.0).then_with(|| self.id(one.1).cmp(self.id(other.1))));
        keyed.into_iter().map(|(_, code)| code).collect()
    }
}

/// The first eight bytes, as a number of the same order.
fn leading(id: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = id.len().min(8);
    bytes[..length].copy_from_slice(&id.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// The table looks at the highest bits as well as at the lowest.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Whether the id is a canonical decimal integer of any length: such ids are in numeric order when sorted by (length, bytes).
pub(crate) fn is_integer(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_digit()) && (id == "0" || !id.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(ids: &[&str]) -> Vec<String> {
        let mut dictionary = Dictionary::default();
        for id in ids {
            dictionary.code(id);
        }
        dictionary.sorted(|_| true).into_iter().map(|code| dictionary.id(code).to_owned()).collect()
    }

    #[test]
    fn codes_are_stable() {
        let mut dictionary = Dictionary::default();
        let codes: Vec<u32> = ["b", "a", "b", "", "a"].iter().map(|id| dictionary.code(id)).collect();
        assert_eq!(codes, [0, 1, 0, 2, 1]);
        assert_eq!((dictionary.id(0), dictionary.id(1), dictionary.id(2)), ("b", "a", ""));
    }

    #[test]
    fn integers_are_in_numeric_order() {
        assert_eq!(sorted(&["10", "9", "0", "18446744073709551616", "100"]), ["0", "9", "10", "100", "18446744073709551616"]);
    }

    #[test]
    fn one_other_id_makes_it_the_order_of_bytes() {
        assert_eq!(sorted(&["10", "9", "x"]), ["10", "9", "x"]);
        assert_eq!(sorted(&["10", "9", "01"]), ["01", "10", "9"]);
    }

    #[test]
    fn long_ids_with_one_beginning() {
        assert_eq!(
            sorted(&["interaction-b", "interaction-a", "interact", "interac"]),
            ["interac", "interact", "interaction-a", "interaction-b"]
        );
        assert_eq!(sorted(&["1234567892", "1234567891", "99999999"]), ["99999999", "1234567891", "1234567892"]);
    }

    #[test]
    fn only_kept_ids_decide() {
        let mut dictionary = Dictionary::default();
        for id in ["10", "x", "9"] {
            dictionary.code(id);
        }
        assert_eq!(dictionary.sorted(|code| code != 1), [2, 0]);
    }
}
