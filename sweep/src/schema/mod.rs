//! The JSON Schema of a sweep file, by which editors complete it and check it while it is written.
//!
//! It is made of the types that the file is read into. Their own form is that of serde; the file differs in that a kind stands beside its settings
//! (`kinds.rs`), that a listed value is tuned and a range is drawn from (`tuned.rs`), and that a text may look like a number and any value name a variable of the
//! environment (`scalars.rs`). What values mean together is left to `ranksweep plan`.

mod keys;
mod kinds;
mod scalars;
mod tuned;

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// Where a schema keeps the parts that it refers to.
const DEFINITIONS: &str = "#/definitions/";

/// The schema, as JSON Schema draft 7, which all editors know.
pub fn schema() -> Value {
    let mut parts = Parts::default();
    let keys = keys::all(&mut parts);
    let properties: Map<String, Value> = keys.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    let mut whole = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A sweep file of ranksweep",
        "type": "object",
        "properties": properties,
        "required": ["name", "datasets", "grid"],
        "additionalProperties": false,
    });
    whole["definitions"] = Value::Object(parts.definitions);
    scalars::allow_variables(&mut whole);
    whole
}

/// The parts of a schema that others refer to, by their names.
#[derive(Default)]
struct Parts {
    definitions: Map<String, Value>,
}

impl Parts {
    /// Schemas of types, as the file has them; the parts that they refer to are called `PREFIXName`, so that the same type may be tuned in one place
    /// and not in another.
    fn of<const N: usize>(&mut self, prefix: &str, tuned: bool, types: impl FnOnce(&mut SchemaGenerator) -> [Value; N]) -> [Value; N] {
        let mut generator = SchemaSettings::draft07().into_generator();
        let mut wanted = types(&mut generator);
        let mut definitions = generator.take_definitions(true);
        kinds::beside_settings(&mut definitions);
        definitions.values_mut().chain(&mut wanted).for_each(scalars::allow_texts);
        if tuned {
            tuned::allow(&mut definitions);
        }
        let named = |name: &str| format!("{prefix}{name}");
        let rename = |schema: &mut Value| {
            each(schema, &mut |schema| {
                let Some(Value::String(to)) = schema.get_mut("$ref") else { return };
                if let Some(name) = to.strip_prefix(DEFINITIONS) {
                    *to = format!("{DEFINITIONS}{}", named(name));
                }
            });
        };
        wanted.iter_mut().for_each(rename);
        definitions.values_mut().for_each(rename);
        let mut missing: Vec<String> = wanted.iter().flat_map(references).collect();
        while let Some(name) = missing.pop() {
            if let Some(found) = name.strip_prefix(prefix).and_then(|plain| definitions.remove(plain)) {
                missing.extend(references(&found));
                self.definitions.insert(name, found);
            }
        }
        wanted
    }
}

/// The names of the parts that a schema refers to.
fn references(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut schema = schema.clone();
    each(&mut schema, &mut |schema| {
        let to = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(DEFINITIONS));
        names.extend(to.map(str::to_owned));
    });
    names
}

/// Does something to a schema and to all below it: those below first.
fn each(schema: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| each(value, change));
            change(fields);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file, kinds};

    #[test]
    fn the_keys_are_those_of_the_file() {
        let schema = schema();
        let keys: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = file::KEYS;
        expected.sort_unstable();
        let mut found = keys;
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_kind_has_its_name_its_equation_and_its_keys() {
        let schema = schema();
        let mut kinds_found = 0;
        let parts = [("TunedLoss", "loss"), ("TunedSampler", "sampler"), ("TunedBackbone", "backbone"), ("TunedOptimizer", "optimizer")];
        for (part, role) in parts {
            for kind in schema["definitions"][part]["oneOf"].as_array().unwrap() {
                let name = kind["properties"]["kind"]["const"].as_str().unwrap();
                let words = kind["properties"]["kind"]["markdownDescription"].as_str();
                assert!(kinds::equation(role, name).is_none_or(|equation| words.unwrap().contains(equation)), "{role} {name}");
                assert_eq!((&kind["additionalProperties"], &kind["required"][0]), (&json!(false), &json!("kind")), "{role} {name}");
                kinds_found += 1;
            }
        }
        assert_eq!(kinds_found, kinds::count());
    }

    #[test]
    fn all_that_is_referred_to_is_there_and_nothing_else() {
        let schema = schema();
        let mut found = references(&schema);
        found.sort_unstable();
        found.dedup();
        let mut there: Vec<String> = schema["definitions"].as_object().unwrap().keys().cloned().collect();
        there.sort_unstable();
        assert_eq!(found, there);
    }
}
