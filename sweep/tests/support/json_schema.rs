//! As much of JSON Schema's draft 7 as schemas of sweep files use. A word that is not known here fails, so that none is passed over.

use serde_json::Value;

/// Whether a schema accepts a value.
pub(crate) fn accepts(schema: &Value, value: &Value) -> bool {
    is_valid(schema, schema, value)
}

fn is_valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let fields = match schema {
        Value::Bool(any) => return *any,
        Value::Object(fields) => fields,
        other => panic!("{other} is no schema"),
    };
    if let Some(to) = fields.get("$ref") {
        // Draft 7: what stands beside a reference is not looked at.
        let target = root.pointer(to.as_str().unwrap().strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{to} leads nowhere"));
        return is_valid(root, target, value);
    }
    fields.iter().all(|(word, rule)| holds(root, schema, word, rule, value))
}

fn holds(root: &Value, schema: &Value, word: &str, rule: &Value, value: &Value) -> bool {
    let valid = |schema: &Value, value: &Value| is_valid(root, schema, value);
    let (number, list, text) = (value.as_f64(), value.as_array(), value.as_str());
    let most = |count: usize| count as u64 <= rule.as_u64().unwrap();
    let least = |count: usize| count as u64 >= rule.as_u64().unwrap();
    match word {
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
            kind => is_of(kind, value),
        },
        "enum" => rule.as_array().unwrap().contains(value),
        "const" => rule == value,
        "anyOf" => rule.as_array().unwrap().iter().any(|schema| valid(schema, value)),
        "oneOf" => rule.as_array().unwrap().iter().filter(|schema| valid(schema, value)).count() == 1,
        "allOf" => rule.as_array().unwrap().iter().all(|schema| valid(schema, value)),
        "minimum" => number.is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => number.is_none_or(|number| number <= rule.as_f64().unwrap()),
        "exclusiveMinimum" => number.is_none_or(|number| number > rule.as_f64().unwrap()),
        "exclusiveMaximum" => number.is_none_or(|number| number < rule.as_f64().unwrap()),
        "minItems" => list.is_none_or(|items| least(items.len())),
        "maxItems" => list.is_none_or(|items| most(items.len())),
        "uniqueItems" => list.is_none_or(|items| (0..items.len()).all(|place| !items[..place].contains(&items[place]))),
        "items" => list.is_none_or(|items| match rule {
            Value::Array(rules) => rules.iter().zip(items).all(|(rule, item)| valid(rule, item)),
            rule => items.iter().all(|item| valid(rule, item)),
        }),
        "pattern" => text.is_none_or(|text| regex::Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
        "properties" => fields(value).all(|(key, value)| rule.get(key).is_none_or(|schema| valid(schema, value))),
        "additionalProperties" => {
            fields(value).filter(|(key, _)| schema["properties"].get(*key).is_none()).all(|(_, value)| valid(rule, value))
        }
        "required" => !value.is_object() || rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
        "dependencies" => rule.as_object().unwrap().iter().all(|(key, keys)| {
            value.get(key).is_none() || keys.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some())
        }),
        "$schema" | "title" | "description" | "markdownDescription" | "enumDescriptions" | "default" | "definitions" | "format" => true,
        other => panic!("`{other}` is not known to this test"),
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("`{other}` is no type"),
    }
}
