//! How ranksweep knows what it wrote: by marks that are in what it wrote, and that nobody else's files have.

use dataset::{Error, Location, Result, marker};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The file in a storage that says that ranksweep stores there.
const FILE: &str = "ranksweep.json";

/// The content of a storage's mark.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    storage_of: String,
}

/// Marks a storage, if it is not marked yet.
///
/// # Errors
/// When the store fails.
pub(crate) fn mark(storage: &Location) -> Result<()> {
    let at = storage.join(FILE);
    if at.exists()? { Ok(()) } else { at.write(marker::text(&Mark { storage_of: "ranksweep".to_owned() })) }
}

/// Whether a storage is marked.
pub(crate) fn is_marked(storage: &Location) -> Result<bool> {
    match marker::read::<Mark>(&storage.join(FILE), "run `ranksweep prepare` after deleting it") {
        Ok(mark) => Ok(mark.storage_of == "ranksweep"),
        Err(Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a folder is a trial's: its name is the checksum of its `trial.json`, without the spaces that make that readable.
pub(crate) fn is_trial(folder: &Location) -> Result<bool> {
    let Some(text) = optional(folder.join("trial.json").read())? else { return Ok(false) };
    Ok(hex::encode(&Sha256::digest(compact(&text))[..8]) == folder.name())
}

/// Whether a file is a table that ranksweep wrote, by the table's own word.
pub(crate) fn is_table(at: &Location) -> Result<bool> {
    let Some(content) = optional(at.read())? else { return Ok(false) };
    let table = ParquetRecordBatchReaderBuilder::try_new(content);
    Ok(table.is_ok_and(|table| table.metadata().file_metadata().created_by() == Some("ranksweep")))
}

/// Whether a file is what the test of a storage writes.
pub(crate) fn is_probe(at: &Location) -> Result<bool> {
    Ok(optional(at.read())?.is_some_and(|content| &content[..] == b"first" || &content[..] == b"second"))
}

/// Whether a folder is that of a preparation's relations on a cluster.
pub(crate) fn is_scratch(folder: &Location) -> Result<bool> {
    #[derive(Deserialize)]
    struct Scratch {
        scratch_of: String,
    }
    let Some(text) = optional(folder.join("scratch.json").read())? else { return Ok(false) };
    Ok(serde_json::from_slice::<Scratch>(&text).is_ok_and(|scratch| scratch.scratch_of == "ranksweep"))
}

/// Whether a folder holds the tables of a sweep of its name.
pub(crate) fn is_sweep(folder: &Location) -> Result<bool> {
    #[derive(Deserialize)]
    struct PlanName {
        name: String,
    }
    let Some(text) = optional(folder.join("plan.json").read())? else { return Ok(false) };
    Ok(serde_json::from_slice::<PlanName>(&text).is_ok_and(|plan| plan.name == folder.name()))
}

fn optional<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// JSON without the space between its parts.
fn compact(json: &[u8]) -> Vec<u8> {
    let (mut is_text, mut is_escaped) = (false, false);
    let keep = |byte: &u8| {
        let keep = is_text || !byte.is_ascii_whitespace();
        is_text ^= *byte == b'"' && !is_escaped;
        is_escaped = is_text && *byte == b'\\' && !is_escaped;
        keep
    };
    json.iter().copied().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_within_texts_stays() {
        let text = "{\n  \"a b\": [1, 2],\n  \"q\\\" \\\\\": \"x \\\" y\"\n}";
        assert_eq!(compact(text.as_bytes()), br#"{"a b":[1,2],"q\" \\":"x \" y"}"#);
    }

    #[test]
    fn a_storage_is_marked_once() {
        let storage = Location::parse("memory:///gc/mark").unwrap();
        assert!(!is_marked(&storage).unwrap());
        mark(&storage).unwrap();
        mark(&storage).unwrap();
        assert!(is_marked(&storage).unwrap());
    }
}
