//! A source in a sweep file, and in words.

use anyhow::Result;
use pipeline::Source;
use serde_json::Value;

/// A source as YAML in one line.
pub(super) fn flow(source: &Source) -> Result<String> {
    let value = serde_json::to_value(source)?;
    let (format, settings) = value.as_object().and_then(|kind| kind.iter().next()).expect("a source is an object of its kind");
    let settings = settings.as_object().expect("a kind has settings");
    let is_said = |key: &str, value: &Value| !(value.is_null() || key == "on_bad_row" && value == "error");
    let entries = settings.iter().filter(|(key, value)| is_said(key, value)).map(|(key, value)| format!("{key}: {}", inline(value)));
    Ok(format!("{{{}}}", std::iter::once(format!("format: {format}")).chain(entries).collect::<Vec<_>>().join(", ")))
}

/// A value as YAML: JSON, with plain keys and without nulls.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            format!("{{{}}}", entries.map(|(key, value)| format!("{key}: {}", inline(value))).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The format in words.
pub fn words(source: &Source) -> String {
    let value = serde_json::to_value(source).unwrap_or_default();
    let (format, settings) = value.as_object().and_then(|kind| kind.iter().next()).expect("a source is an object of its kind");
    match (settings.get("separator").and_then(Value::as_str), settings.get("header").and_then(Value::as_bool)) {
        (Some(separator), header) => {
            let header = if header == Some(true) { " with names in its first line" } else { " without names" };
            format!("text separated by `{}`{header}", separator.escape_default())
        }
        (None, _) => format!("`{format}`"),
    }
}
