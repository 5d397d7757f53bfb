//! Merge patches, and server-side apply as far as one manager needs it.

use serde_json::{Map, Value};

/// RFC 7386.
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in patch {
        match value {
            Value::Null => drop(target.remove(key)),
            _ => merge(target.entry(key.clone()).or_insert(Value::Null), value),
        }
    }
}

/// The field that a change of an object may not touch, if it does.
pub(super) fn immutable(resource: &str, before: &Value, after: &Value) -> Option<&'static str> {
    let frozen: &[&str] = match resource {
        "jobs" => &["completions", "completionMode", "backoffLimitPerIndex", "podFailurePolicy", "successPolicy", "template"],
        _ => &[],
    };
    let is_frozen_map = resource == "configmaps" && before["immutable"] == true && before["data"] != after["data"];
    let changed = frozen.iter().find(|field| before["spec"][**field] != after["spec"][**field]);
    changed.copied().or(is_frozen_map.then_some("data"))
}
