//! What determines a prepared dataset, and its hash.
//!
//! Covered are the settings, the source files' names and bytes, and the schema version; not the dataset's name, nor the folders in
//! which the files stand. The same data in another place is the same dataset.

use crate::{
    Error, Noise, Preparation, Result, TrainShare, checksum,
    source::{self, Has},
};
use dataset::{Location, SCHEMA_VERSION};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Raised whenever the same settings and bytes would give another dataset than before.
const PIPELINE_VERSION: u32 = 2;

/// Raised whenever the histories of a source with timestamps would be in another order than before. 1: interactions at the same time are in the order of a
/// hash, and no longer of their items.
const HISTORY_VERSION: u32 = 1;

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
    if preparation.source.timestamps() != Has::No {
        settings["history_version"] = HISTORY_VERSION.into();
    }
    if preparation.source.revision() > 0 {
        settings["source_revision"] = preparation.source.revision().into();
    }
    if let Some(entry) = settings.as_object_mut() {
        entry.remove("name");
        if preparation.noise.is_some_and(Noise::is_off) {
            entry.remove("noise");
        }
        if preparation.train_share.is_some_and(TrainShare::is_off) {
            entry.remove("train_share");
        }
    }
    let entry = settings["source"].as_object_mut().and_then(|source| source.values_mut().next());
    let entry = entry.expect("a source is written as {format: settings}");
    for (key, path) in preparation.source.files() {
        entry[key.trim_start_matches("source.")] = files(key, path)?;
    }
    Ok(sorted(settings))
}

/// What the fingerprint covers of the files that a path stands for.
fn files(key: &'static str, path: &str) -> Result<Value> {
    if !source::are_several(path) {
        return file(key, &Location::parse(path)?);
    }
    let each = |(name, at): (String, Location)| {
        let mut covered = file(key, &at)?;
        covered["name"] = name.into();
        Ok(covered)
    };
    source::named_files(key, path)?.into_iter().map(each).collect()
}

/// What the fingerprint covers of a source file.
fn file(key: &'static str, at: &Location) -> Result<Value> {
    source::check_is_file(key, at)?;
    let of = |name: &str, at: &Location| Ok(json!({"name": name, "blake3": checksum::of(at).map_err(|error| error.absent(key, at))?}));
    match source::archive_of(at)? {
        Some((archive, member)) => of(&format!("{}/{member}", archive.name()), &archive),
        None => of(at.name(), at),
    }
}

/// Checks that the source files, which have been read meanwhile, are still those of the settings. A file is read once more only where its store's tag
/// is another one, or there is none. What is read from its beginning to its end is held against [`checksum::known`] besides.
///
/// # Errors
/// [`Error::Changed`] for the first that is not, or the storage's error.
pub(crate) fn check_unchanged(preparation: &Preparation, settings: &Value) -> Result<()> {
    let entry = settings["source"].as_object().and_then(|source| source.values().next());
    let entry = entry.expect("a source is written as {format: settings}");
    for (key, path) in preparation.source.files() {
        if entry[key.trim_start_matches("source.")] != files(key, path)? {
            return Err(Error::Changed { at: Location::parse(path)?.to_string() });
        }
    }
    Ok(())
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
