//! The examples beside the base are objects that others' controllers take, and fit what is rendered.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod kueue;
mod prometheus;
#[path = "../support/mod.rs"]
mod support;

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// The documents of a file of the repository.
fn documents(path: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    serde_yaml::from_multiple(&fs::read_to_string(path).unwrap()).unwrap()
}

/// An object whose other fields than these are refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Object<S> {
    api_version: String,
    kind: String,
    metadata: Metadata,
    spec: S,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: Name,
    namespace: Option<Name>,
}

/// A DNS subdomain, as names of objects are.
#[derive(Clone, Debug, PartialEq)]
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_label = |label: &str| !label.is_empty() && label.chars().all(is_inner) && !label.starts_with('-') && !label.ends_with('-');
        match text.len() <= 253 && text.split('.').all(is_label) {
            true => Ok(Self(text)),
            false => Err(D::Error::custom(format!("`{text}` is no DNS subdomain"))),
        }
    }
}
