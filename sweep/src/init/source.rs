//! A source in a sweep file.

use anyhow::Result;
use pipeline::Source;
use serde_json::{Map, Value};

/// Keys in the order in which people name them.
const ORDER: [&str; 9] = ["path", "train", "test", "separator", "header", "columns", "user", "item", "rating"];

/// A source as YAML in one line.
pub(super) fn flow(source: &Source) -> Result<String> {
    let value = serde_json::to_value(source)?;
    let (format, settings) = value.as_object().and_then(|kind| kind.iter().next()).expect("a source is an object of its kind");
    let settings = settings.as_object().expect("a kind has settings");
    Ok(format!("{{format: {format}, {}}}", entries(settings)))
}

/// The entries of an object as YAML, but for those that are left out or say what holds anyway.
fn entries(object: &Map<String, Value>) -> String {
    let is_said = |key: &str, value: &Value| !(value.is_null() || key == "on_bad_row" && value == "error");
    let mut said: Vec<(&String, &Value)> = object.iter().filter(|(key, value)| is_said(key, value)).collect();
    said.sort_by_key(|(key, _)| ORDER.iter().position(|known| known == key).unwrap_or(ORDER.len()));
    said.iter().map(|(key, value)| format!("{key}: {}", inline(value))).collect::<Vec<_>>().join(", ")
}

/// A value as YAML: JSON with plain keys, in which `${` stands for itself.
fn inline(value: &Value) -> String {
    value.as_object().map_or_else(|| value.to_string().replace("${", "$${"), |object| format!("{{{}}}", entries(object)))
}
