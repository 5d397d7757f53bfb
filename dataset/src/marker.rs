//! Markers: the JSON files that say that what stands beside them is whole. The last key of each is a checksum of all that stands before it.
//!
//! ```text
//! {
//!   "files": {"train.parquet": {"bytes": 812, "sha256": "5d41.."}},
//!   "sha256": "9f86.."
//! }
//! ```

use crate::{Location, Result, file_entry::checksum, location::checked};
use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

/// What stands between the content of a marker and its checksum.
const KEY: &str = ",\n  \"sha256\": \"";
/// What stands after the checksum.
const END: &str = "\"\n}\n";

/// The text of a marker that holds this.
///
/// # Panics
/// When it is no object with keys.
pub fn text<T: Serialize>(content: &T) -> String {
    let text = serde_json::to_string_pretty(content).expect("a marker is plain data");
    let open = text.strip_suffix("\n}").expect("a marker is an object with keys");
    format!("{open}{KEY}{}{END}", checksum(text.as_bytes()))
}

/// The part of a marker's text that its checksum covers.
///
/// # Errors
/// In words: a text that has no checksum, or another one.
pub fn covered(text: &[u8]) -> Result<String, String> {
    let text = std::str::from_utf8(text).map_err(|_| "it is no text".to_owned())?;
    let parts = text.strip_suffix(END).and_then(|text| text.rsplit_once(KEY));
    let (open, expected) = parts.ok_or("its own checksum is missing at its end")?;
    let content = format!("{open}\n}}");
    if checksum(content.as_bytes()) == expected { Ok(content) } else { Err("its own checksum differs".to_owned()) }
}

/// Reads a marker. `remedy` says what to do where it is damaged.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound), [`Error::Store`](crate::Error::Store), or [`Error::Damaged`](crate::Error::Damaged) where it does not hold what [`text`] wrote.
pub fn read<T: DeserializeOwned>(at: &Location, remedy: &str) -> Result<T> {
    let parsed = |text: Bytes| serde_json::from_str(&covered(&text)?).map_err(|error| error.to_string());
    checked(at, || at.read(), parsed, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use serde_json::{Value, json};

    fn at(name: &str) -> Location {
        Location::parse("memory:///marker").unwrap().join(name)
    }

    #[test]
    fn what_is_written_is_read_and_is_plain_json() {
        let (at, content) = (at("whole"), json!({"files": {"a": [1, 2]}, "sha256": "of something else"}));
        at.write(text(&content)).unwrap();
        assert_eq!(read::<Value>(&at, "").unwrap(), content);
        let plain: Value = serde_json::from_slice(&at.read().unwrap()).unwrap();
        assert_eq!(plain["files"], content["files"]);
    }

    #[test]
    fn one_damaged_read_is_no_damaged_file() {
        let at = at("reads");
        let check = |content: Bytes| if content == "whole" { Ok(content) } else { Err("it is not whole".to_owned()) };
        let read = |reads: [&'static str; 2]| {
            let mut next = reads.into_iter();
            let next = std::cell::RefCell::new(&mut next);
            checked(&at, || Ok(Bytes::from_static(next.borrow_mut().next().expect("two reads at most").as_bytes())), check, "make it again")
        };
        assert_eq!(read(["whole", "none"]).unwrap(), "whole");
        assert_eq!(read(["whole?", "whole"]).unwrap(), "whole");
        assert_eq!(read(["other", "other"]).unwrap_err().to_string(), "memory:///marker/reads: it is not whole; make it again");
        let both = read(["other", "othes"]).unwrap_err();
        assert!(std::error::Error::source(&both).unwrap().to_string().starts_with("two reads of it differ"), "{both}");
    }

    #[test]
    fn any_bit_that_changed_and_any_cut_is_damage() {
        let (at, whole) = (at("damaged"), text(&json!({"epochs": 12, "value": 0.25})).into_bytes());
        let refused = |bytes: &[u8]| {
            at.write(bytes.to_vec()).unwrap();
            let error = read::<Value>(&at, "make it again").unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }) && error.to_string().ends_with("; make it again"), "{error}");
        };
        for place in 0..whole.len() {
            refused(&whole[..place]);
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[place] ^= 1 << bit;
                refused(&flipped);
            }
        }
    }
}
