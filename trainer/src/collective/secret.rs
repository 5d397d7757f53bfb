//! What the processes of a training know and nobody else does: by it they know each other.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

/// Characters below which a secret can be guessed.
const SHORTEST: usize = 16;

/// Bytes of a tag.
pub(super) const TAG: usize = 32;

/// A secret that the processes of a training share. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes a text as a secret, without the white space around it.
    ///
    /// # Errors
    /// In words, without the text: one of fewer than 16 characters.
    pub fn new(text: &str) -> Result<Self, String> {
        match text.trim() {
            text if text.chars().count() >= SHORTEST => Ok(Self(text.as_bytes().to_vec())),
            text => Err(format!("a secret of {} characters can be guessed: expected at least {SHORTEST}", text.chars().count())),
        }
    }

    /// HMAC-SHA256 (RFC 2104) of parts, one after the other.
    pub(super) fn tag(&self, parts: &[&[u8]]) -> [u8; TAG] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Whether a tag is that of the parts, in a time that does not tell how much of it is right.
    pub(super) fn verifies(&self, parts: &[&[u8]], tag: &[u8]) -> bool {
        self.mac(parts).verify_slice(tag).is_ok()
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let empty = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        parts.iter().fold(empty, |mac, part| mac.chain_update(part))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 2 of RFC 4231, whose key is shorter than ours may be.
    #[test]
    fn the_tag_is_that_of_the_rfc() {
        let found = Secret(b"Jefe".to_vec()).tag(&[b"what do ya want ", b"for nothing?"]);
        assert_eq!(hex::encode(found), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_tag_is_of_its_secret_and_its_parts_alone() {
        let [one, other] = ["0123456789abcdef", "0123456789abcdeg"].map(|text| Secret::new(text).unwrap());
        let tag = one.tag(&[b"a", b"b"]);
        assert!(one.verifies(&[b"ab"], &tag));
        assert!(!one.verifies(&[b"ac"], &tag) && !other.verifies(&[b"ab"], &tag) && !one.verifies(&[b"ab"], &tag[..TAG - 1]));
    }

    #[test]
    fn a_secret_is_long_enough_and_not_shown() {
        assert_eq!(Secret::new(" 0123456789abcdef\n"), Secret::new("0123456789abcdef"));
        let refused = Secret::new("  hunter2hunter2 ").unwrap_err();
        assert_eq!(refused, "a secret of 14 characters can be guessed: expected at least 16");
        assert_eq!(format!("{:?}", Secret::new("0123456789abcdef").unwrap()), "Secret(..)");
    }
}
