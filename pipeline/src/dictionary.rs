//! The users' own ids as dense codes, and their final order.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Ids in the order of their first appearance, each with a code: its place in that order.
#[derive(Default)]
pub(crate) struct Dictionary {
    text: String,
    ends: Vec<usize>,
    codes: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Dictionary {
    /// The id's code; a new id gets the next one.
    pub(crate) fn code(&mut self, id: &str) -> u32 {
        let Self { text, ends, codes, hasher } = self;
        let hash = hasher.hash_one(id);
        let known = codes.find(hash, |&code| slice(text, ends, code) == id);
        if let Some(&code) = known {
            return code;
        }
        let code = u32::try_from(ends.len()).expect("a catalogue has fewer than 2^32 ids");
        text.push_str(id);
        ends.push(text.len());
        codes.insert_unique(hash, code, |&code| hasher.hash_one(slice(text, ends, code)));
        code
    }

    /// The id of a code.
    pub(crate) fn id(&self, code: u32) -> &str {
        slice(&self.text, &self.ends, code)
    }

    /// The number of ids.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The kept codes in the order of their ids: as numbers when every kept id is a decimal integer without sign or leading zeros,
    /// else by their bytes.
    pub(crate) fn sorted(&self, kept: &[bool]) -> Vec<u32> {
        let mut codes: Vec<u32> = (0..self.len() as u32).filter(|&code| kept[code as usize]).collect();
        if codes.iter().all(|&code| is_integer(self.id(code))) {
            codes.sort_unstable_by_key(|&code| (self.id(code).len(), self.id(code)));
        } else {
            codes.sort_unstable_by_key(|&code| self.id(code));
        }
        codes
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], code: u32) -> &'a str {
    let start = if code == 0 { 0 } else { ends[code as usize - 1] };
    &text[start..ends[code as usize]]
}

/// Whether the id is a canonical decimal integer of any length: such ids are in numeric order when sorted by (length, bytes).
fn is_integer(id: &str) -> bool {
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
        dictionary.sorted(&vec![true; dictionary.len()]).into_iter().map(|code| dictionary.id(code).to_owned()).collect()
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
    fn only_kept_ids_decide() {
        let mut dictionary = Dictionary::default();
        for id in ["10", "x", "9"] {
            dictionary.code(id);
        }
        assert_eq!(dictionary.sorted(&[true, false, true]), [2, 0]);
    }
}
