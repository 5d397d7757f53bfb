//! What stands in the grid in the place of a value: several, which are tuned, or a range that is drawn from.

use super::DEFINITIONS;
use serde_json::{Map, Value, json};

/// What says something of a value and does not restrict it.
const WORDS: [&str; 3] = ["description", "default", "title"];

/// Allows lists and ranges for the values of all definitions. Those of numbers, truth values and texts are definitions of their own, as there are many.
pub(super) fn allow(definitions: &mut Map<String, Value>) {
    let mut plain = Map::new();
    definitions.values_mut().for_each(|definition| allow_in(definition, &mut plain));
    definitions.extend(plain);
}

fn allow_in(definition: &mut Value, plain: &mut Map<String, Value>) {
    let Some(fields) = definition.as_object_mut() else { return };
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        let is_name = |value: &Value| value.get("const").is_some() || value.get("enumDescriptions").is_some();
        properties.values_mut().filter(|value| !is_name(value)).for_each(|value| *value = tunable(value.take(), plain));
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(Value::Array(variants)) = fields.get_mut(choice) {
            variants.iter_mut().for_each(|variant| allow_in(variant, plain));
        }
    }
}

/// A value, several, or a range.
fn tunable(schema: Value, plain: &mut Map<String, Value>) -> Value {
    let Value::Object(mut one) = schema else { return schema };
    let mut words: Map<String, Value> = WORDS.iter().filter_map(|word| one.remove_entry(*word)).collect();
    let name = plain_name(&one);
    let mut choices = vec![Value::Object(one.clone())];
    choices.extend(ranges(&one));
    let is_list = one.get("type").is_some_and(|kind| kind == "array");
    let list = json!({"type": "array", "items": {"anyOf": choices}, "minItems": 1, "uniqueItems": true});
    // A list is a value only within the list of those to tune.
    let all = if is_list { vec![list] } else { [choices, vec![list]].concat() };
    match name {
        Some(name) => {
            words.insert("allOf".to_owned(), json!([{"$ref": format!("{DEFINITIONS}{name}")}]));
            plain.insert(name, json!({"anyOf": all}));
        }
        None => drop(words.insert("anyOf".to_owned(), all.into())),
    }
    words.into()
}

/// The name of values that are restricted by their type alone: `Number`, `IntegerOrNull`, `StringOrNumberOrBoolean`.
fn plain_name(one: &Map<String, Value>) -> Option<String> {
    let known = |(key, value): (&String, &Value)| key == "type" || key == "format" || (key == "minimum" && *value == 0);
    let kinds = match one.get("type")? {
        Value::Array(kinds) => kinds.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?,
        kind => vec![kind.as_str().filter(|kind| !["array", "object"].contains(kind))?],
    };
    let capital = |kind: &str| kind[..1].to_uppercase() + &kind[1..];
    let names: Vec<String> = kinds.into_iter().map(capital).collect();
    one.iter().all(known).then(|| names.join("Or"))
}

/// The ranges that a number may be drawn from.
fn ranges(one: &Map<String, Value>) -> Option<Value> {
    let kinds: Vec<&Value> = match one.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().collect(),
        kind => kind.into_iter().collect(),
    };
    let is = |kind: &str| kinds.iter().any(|known| *known == kind) && !kinds.iter().any(|known| *known == "string");
    let range = |name: &str, end: &str| {
        let ends = json!({"type": "array", "items": {"type": end}, "minItems": 2, "maxItems": 2});
        json!({"type": "object", "properties": {name: ends}, "required": [name], "additionalProperties": false})
    };
    match (is("number"), is("integer")) {
        (true, _) => Some(json!({"oneOf": [range("uniform", "number"), range("log_uniform", "number"), range("integer", "integer")]})),
        (false, true) => Some(range("integer", "integer")),
        (false, false) => None,
    }
}
