//! Checksums of source files, each of which is read once for all who ask. BLAKE3 reads several times as fast as SHA-256.

use crate::Result;
use dataset::Location;
use std::{
    collections::BTreeMap,
    io::Read,
    sync::{Mutex, MutexGuard},
};

/// Bytes that are hashed at a time.
const BLOCK: usize = 1 << 20;

/// Checksums by file and tag: a command asks for the fingerprint before it prepares, and reads a large file once for both.
static KNOWN: Mutex<BTreeMap<(String, String), String>> = Mutex::new(BTreeMap::new());

/// The BLAKE3 checksum that a fingerprint has of a file in its present state, by the store's tag; `None` for one that no fingerprint was asked of, or
/// whose store gives no tag.
///
/// # Errors
/// When the store cannot tell.
pub(crate) fn known(at: &Location) -> Result<Option<String>> {
    Ok(key(at)?.and_then(|key| sums().get(&key).cloned()))
}

/// A file and its tag; `None` where its store gives none.
fn key(at: &Location) -> Result<Option<(String, String)>> {
    Ok(at.tag()?.map(|tag| (at.to_string(), tag)))
}

fn sums() -> MutexGuard<'static, BTreeMap<(String, String), String>> {
    KNOWN.lock().expect("no holder of this lock panics")
}

/// The BLAKE3 checksum of a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn of(at: &Location) -> Result<String> {
    let before = key(at)?;
    if let Some(sum) = before.as_ref().and_then(|key| sums().get(key).cloned()) {
        return Ok(sum);
    }
    let sum = read(at)?;
    // Not when the file changed meanwhile.
    if let Some(key) = before.filter(|before| key(at).is_ok_and(|now| now.as_ref() == Some(before))) {
        sums().insert(key, sum.clone());
    }
    Ok(sum)
}

fn read(at: &Location) -> Result<String> {
    let mut content = at.open()?;
    let (mut hash, mut block) = (blake3::Hasher::new(), vec![0; BLOCK]);
    loop {
        match content.read(&mut block) {
            Ok(0) => return Ok(hash.finalize().to_string()),
            Ok(length) => {
                hash.update(&block[..length]);
            }
            Err(error) => {
                return Err(dataset::Error::Store { action: "read", at: at.to_string(), source: Box::new(error) }.into());
            }
        }
    }
}
