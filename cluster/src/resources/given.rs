//! Settings that are handed on to Kubernetes as they were given.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::borrow::Cow;

/// A type of Kubernetes, in its own words. What it does not know is refused and not dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value", bound(serialize = "T: Clone + Serialize", deserialize = "T: Serialize + DeserializeOwned"))]
pub struct Given<T>(pub(crate) T);

impl<T> JsonSchema for Given<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Given".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object"})
    }
}

impl<T: Serialize + DeserializeOwned> TryFrom<Value> for Given<T> {
    type Error = String;

    fn try_from(given: Value) -> Result<Self, String> {
        let read: T = serde_json::from_value(given.clone()).map_err(|error| error.to_string())?;
        match lost(&given, &serde_json::to_value(&read).expect("objects are plain data")) {
            Some(path) => Err(format!("Kubernetes knows no `{path}` here; names are written as in a pod (`nodeAffinity`)")),
            None => Ok(Self(read)),
        }
    }
}

impl<T: Serialize> From<Given<T>> for Value {
    fn from(given: Given<T>) -> Self {
        serde_json::to_value(given.0).expect("objects are plain data")
    }
}

/// The first key that was given and not read.
fn lost(given: &Value, read: &Value) -> Option<String> {
    let below = |key: &str, path: String| if path.is_empty() { key.to_owned() } else { format!("{key}.{path}") };
    match given {
        Value::Object(given) => given.iter().find_map(|(key, value)| match read.get(key) {
            None if is_empty(value) => None,
            None => Some(key.clone()),
            Some(read) => lost(value, read).map(|path| below(key, path)),
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(place, item)| lost(item, read.get(place)?)),
        _ => None,
    }
}

/// Whether a value says nothing, so that it may be left out.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::{Affinity, TopologySpreadConstraint};

    #[test]
    fn what_kubernetes_knows_comes_back() {
        let text = "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {}}]}}";
        let given: Given<Affinity> = serde_yaml::from_str(text).unwrap();
        let rules = given.0.pod_anti_affinity.as_ref().unwrap().required_during_scheduling_ignored_during_execution.as_ref().unwrap();
        assert_eq!(rules[0].topology_key, "kubernetes.io/hostname");
        let again: Given<Affinity> = serde_json::from_value(serde_json::to_value(&given).unwrap()).unwrap();
        assert_eq!(again, given);
    }

    #[test]
    fn what_it_does_not_know_is_named() {
        let said = |text: &str| serde_yaml::from_str::<Given<Affinity>>(text).unwrap_err().to_string();
        assert!(
            said("{node_affinity: {a: 1}}").contains("Kubernetes knows no `node_affinity` here"),
            "{}",
            said("{node_affinity: {a: 1}}")
        );
        assert!(said("{nodeAffinity: {required: 1}}").contains("`nodeAffinity.required`"));
        let error = serde_yaml::from_str::<Given<TopologySpreadConstraint>>("{maxSkew: one}").unwrap_err().to_string();
        assert!(error.contains("invalid type"), "{error}");
    }
}
