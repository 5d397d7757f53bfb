//! What determines a prepared dataset, and its hash.
//!
//! Covered are the settings, the source files' names and bytes, and the schema version; not the dataset's name, nor the folders in
//! which the files stand. The same data in another place is the same dataset.

use crate::{Error, Preparation, Result};
use dataset::{Location, SCHEMA_VERSION};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::io::Read;

/// Raised whenever the same settings and bytes would give another dataset than before.
const PIPELINE_VERSION: u32 = 1;

/// The fingerprint of a prepared dataset, 16 hexadecimal digits. Reads the source files once.
///
/// # Errors
/// [`Error::Setting`] for a value that cannot be used, [`Error::Absent`] for a file that is not there, or the storage's error for one that
/// cannot be read.
pub fn fingerprint(preparation: &Preparation) -> Result<String> {
    Ok(of(&settings(preparation)?))
}

/// All that the fingerprint covers.
pub(crate) fn settings(preparation: &Preparation) -> Result<Value> {
    preparation.check()?;
    let mut settings = serde_json::to_value(preparation).expect("a preparation is plain data");
    settings["k_core"] = json!(preparation.k_core.map(crate::KCore::bounds));
    settings["schema_version"] = SCHEMA_VERSION.into();
    settings["pipeline_version"] = PIPELINE_VERSION.into();
    if let Some(entry) = settings.as_object_mut() {
        entry.remove("name");
    }
    let source = settings["source"].as_object_mut().and_then(|source| source.values_mut().next());
    let source = source.expect("a source is written as {format: settings}");
    for (key, path) in preparation.source.files() {
        let at = Location::parse(path)?;
        source[key.trim_start_matches("source.")] =
            json!({"name": at.name(), "sha256": checksum(&at).map_err(|error| absent(error, key, &at))?});
    }
    Ok(sorted(settings))
}

/// The hash of settings.
pub(crate) fn of(settings: &Value) -> String {
    hex::encode(&Sha256::digest(settings.to_string())[..8])
}

/// Keys in order, whichever map serde_json was built with.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect::<Map<String, Value>>())
        }
        other => other,
    }
}

/// A file that is not there is the sweep file's matter.
fn absent(error: Error, key: &'static str, at: &Location) -> Error {
    let is_folder = || at.local_path().is_some_and(|path| path.is_dir());
    match error {
        Error::Storage(dataset::Error::NotFound { at: text }) => {
            Error::Absent { key, at: text, found: if is_folder() { "is a folder, expected a file" } else { "does not exist" } }
        }
        other => other,
    }
}

fn checksum(at: &Location) -> Result<String> {
    let mut content = at.open()?;
    let (mut hash, mut block) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match content.read(&mut block) {
            Ok(0) => return Ok(hex::encode(hash.finalize())),
            Ok(length) => hash.update(&block[..length]),
            Err(error) => {
                return Err(dataset::Error::Store { action: "read", at: at.to_string(), source: Box::new(error) }.into());
            }
        }
    }
}
