//! A kind beside its settings: `{kind: softmax, temperature: 0.1}` for serde's `{softmax: {temperature: 0.1}}`.

use super::{DEFINITIONS, each};
use crate::{file::tag_of, kinds};
use serde_json::{Map, Value, json};

/// Writes every choice of kinds as the file has it. The names stand at its top too, where editors look for what may be written.
pub(super) fn beside_settings(definitions: &mut Map<String, Value>) {
    definitions.values_mut().for_each(|definition| each(definition, &mut without_default_of_serde));
    let settings = definitions.clone();
    for (name, definition) in definitions.iter_mut() {
        let Some(variants) = definition.get("oneOf").and_then(Value::as_array) else { continue };
        let Some(flat) = variants.iter().map(|variant| flat(name, variant, &settings)).collect::<Option<Vec<Value>>>() else { continue };
        let tag = tag_of(name);
        let of_all = |key: &str| flat.iter().map(|kind| kind["properties"][tag][key].clone()).collect::<Vec<Value>>();
        let names = json!({"enum": of_all("const"), "enumDescriptions": of_all("description")});
        definition["type"] = "object".into();
        definition["properties"] = json!({tag: names});
        definition["required"] = json!([tag]);
        definition["oneOf"] = flat.into();
    }
}

/// A default that is no plain value is in serde's form.
fn without_default_of_serde(schema: &mut Map<String, Value>) {
    if schema.get("default").is_some_and(Value::is_object) {
        schema.remove("default");
    }
}

/// A kind of an enum with its settings; `None` for what is a bare name.
fn flat(name: &str, variant: &Value, definitions: &Map<String, Value>) -> Option<Value> {
    let properties = variant.get("properties")?.as_object()?;
    let (kind, settings) = properties.iter().next().filter(|_| properties.len() == 1)?;
    let settings = settings.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(DEFINITIONS));
    let mut flat = definitions.get(settings?)?.as_object()?.clone();
    let words = variant.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut named = json!({"const": kind, "description": words});
    if let Some(lines) = kinds::equation(&name.to_lowercase(), kind) {
        named["markdownDescription"] = format!("{words}\n\n```text\n{lines}```").into();
    }
    let tag = tag_of(name);
    let mut keys = Map::from_iter([(tag.to_owned(), named)]);
    keys.extend(flat.remove("properties").and_then(|keys| keys.as_object().cloned()).unwrap_or_default());
    let mut required = vec![json!(tag)];
    required.extend(flat.remove("required").and_then(|keys| keys.as_array().cloned()).unwrap_or_default());
    flat.insert("properties".to_owned(), keys.into());
    flat.insert("required".to_owned(), required.into());
    flat.insert("additionalProperties".to_owned(), false.into());
    Some(flat.into())
}
