//! Stored files by their sizes and checksums.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A stored file, as its marker describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256, in hex.
    pub sha256: String,
}

/// The files that a marker covers, by their paths below its folder.
pub type Files = BTreeMap<String, FileEntry>;

impl FileEntry {
    /// The description of a content.
    pub fn of(content: &[u8]) -> Self {
        Self::of_pieces(&[content])
    }

    /// The description of a content of these pieces, one after the other.
    pub fn of_pieces(pieces: &[&[u8]]) -> Self {
        let hash = pieces.iter().fold(Sha256::new(), |hash, piece| hash.chain_update(piece));
        Self { bytes: pieces.iter().map(|piece| piece.len() as u64).sum(), sha256: hex::encode(hash.finalize()) }
    }

    /// Whether this is what a content is.
    pub fn describes(&self, content: &[u8]) -> bool {
        self.bytes == content.len() as u64 && self.sha256 == checksum(content)
    }
}

/// SHA-256, in hex.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
