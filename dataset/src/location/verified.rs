//! Files whose content is known by its checksum: what is damaged on its way is read again before what is stored is blamed.

use super::Location;
use crate::{Error, Result};
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// SHA-256, in hex.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

impl Location {
    /// What was read of the file, where it has the checksum (SHA-256, in hex); otherwise the file is read once more.
    ///
    /// # Errors
    /// [`Error::Content`] with the reason where the stored file has another checksum; [`Error::Store`] where two reads of it differ, or the
    /// second fails.
    pub fn verified(&self, read: Bytes, sha256: &str, reason: &str) -> Result<Bytes> {
        if checksum(&read) == sha256 { Ok(read) } else { self.judged(&read, self.read()?, sha256, reason) }
    }

    /// Of two reads, the first of which was damaged, the second where it is whole.
    fn judged(&self, first: &Bytes, second: Bytes, sha256: &str, reason: &str) -> Result<Bytes> {
        if checksum(&second) == sha256 {
            tracing::warn!(file = %self, "what was read had another checksum than what is stored; read again, it is whole");
            return Ok(second);
        }
        if *first == second {
            return Err(Error::content(self, reason));
        }
        let words = "two reads of it differ, and neither has its checksum: the disk, the network or this machine's memory is at fault";
        Err(Error::Store { action: "read", at: self.to_string(), source: words.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_damaged_read_is_no_damaged_file() {
        let at = Location::parse("memory:///verified").unwrap();
        at.write("whole").unwrap();
        let sum = checksum(b"whole");
        let read = |text: &'static str| Bytes::from_static(text.as_bytes());
        assert_eq!(at.verified(read("whole"), &sum, "delete it").unwrap(), "whole");
        assert_eq!(at.verified(read("whole?"), &sum, "delete it").unwrap(), "whole");
        at.write("other").unwrap();
        let stored = at.verified(read("other"), &sum, "the checksum differs; delete it").unwrap_err();
        assert_eq!(stored.to_string(), "memory:///verified: the checksum differs; delete it");
        let both = at.verified(read("othes"), &sum, "delete it").unwrap_err();
        assert!(std::error::Error::source(&both).unwrap().to_string().starts_with("two reads of it differ"), "{both}");
    }
}
