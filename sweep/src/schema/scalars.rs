//! Values as YAML has them: a text may look like a number, and what is no text may name a variable of the environment.

use super::{DEFINITIONS, each};
use serde_json::{Map, Value, json};

/// The definition of a variable.
const VARIABLE: &str = "Variable";

/// Takes numbers and truth values for texts, where nothing but a text is asked for.
pub(super) fn allow_texts(definition: &mut Value) {
    allow_text(definition);
    each(definition, &mut |schema| {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.values_mut().for_each(allow_text);
        }
        schema.get_mut("items").into_iter().for_each(allow_text);
    });
}

fn allow_text(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    let is_free = ["enum", "const", "pattern"].iter().all(|key| !fields.contains_key(*key));
    let is_text = fields.get("type").is_some_and(|kind| *kind == json!("string") || *kind == json!(["string", "null"]));
    if is_free && is_text {
        let is_optional = fields["type"].is_array();
        fields["type"] = if is_optional { json!(["string", "number", "boolean", "null"]) } else { json!(["string", "number", "boolean"]) };
    }
}

/// Takes `${NAME}` for every number and truth value.
pub(super) fn allow_variables(schema: &mut Value) {
    each(schema, &mut |schema| {
        let is_plain = |kind: &Value| ["number", "integer", "boolean", "null"].iter().any(|plain| kind == plain);
        let of_plain = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().all(is_plain),
            Some(kind) => is_plain(kind) && kind != "null",
            None => false,
        };
        if of_plain && !schema.contains_key("const") {
            let mut value = std::mem::take(schema);
            let words = ["description", "default"].into_iter().filter_map(|word| value.remove_entry(word)).collect::<Vec<_>>();
            let variable = json!({"$ref": format!("{DEFINITIONS}{VARIABLE}")});
            *schema = Map::from_iter(words.into_iter().chain([("anyOf".to_owned(), json!([value, variable]))]));
        }
    });
    // Without words of its own: editors would show them in the place of the key's.
    schema["definitions"][VARIABLE] = json!({"type": "string", "pattern": "\\$\\{[A-Za-z0-9_]+\\}"});
}
