//! The keys of a kind with their defaults and choices, asked of serde.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// A key of a kind's settings.
pub(super) struct Key {
    pub(super) name: String,
    pub(super) left_out: LeftOut,
    /// The words or kinds that it takes, with the kinds' own keys, as Markdown.
    pub(super) choices: Vec<String>,
}

/// What holds where a key is left out.
pub(super) enum LeftOut {
    Required,
    None,
    Value(String),
}

/// The keys of a kind, in the order of its settings. `is_possible` is its own check of its values.
pub(super) fn keys<T: DeserializeOwned + Serialize>(kind: &str, example: &Value, is_possible: impl Fn(&T) -> bool) -> Vec<Key> {
    let read = |settings: &Map<String, Value>| serde_json::from_value::<T>(json!({kind: settings}));
    let possible = |settings: &Map<String, Value>| read(settings).is_ok_and(|read| is_possible(&read));
    let mut least = example.as_object().unwrap().clone();
    for key in least.keys().cloned().collect::<Vec<_>>() {
        let less = without(&least, &key);
        if possible(&less) {
            least = less;
        }
    }
    let whole = serde_json::to_value(read(&least).unwrap()).unwrap();
    let with = |name: &str, value: Value| {
        let mut settings = least.clone();
        settings.insert(name.to_owned(), value);
        settings
    };
    let words = |name: &str| match read(&with(name, "?".into())) {
        Err(error) if error.to_string().starts_with("unknown variant") => expected(&error.to_string()),
        _ => Vec::new(),
    };
    let is_left_out =
        |name: &str, value: Value| read(&with(name, value)).is_ok_and(|read| serde_json::to_value(read).unwrap()[kind][name].is_null());
    let is_not_written = |name: &str, word: &str| [word.into(), json!({word: {}})].into_iter().any(|value| is_left_out(name, value));
    let left_out = |name: &str| match &whole[kind][name] {
        _ if least.contains_key(name) => LeftOut::Required,
        Value::Null if possible(&with(name, false.into())) => LeftOut::Value("false".to_owned()), // not written where it is false
        Value::Null if is_left_out(name, 0.into()) => LeftOut::Value("0".to_owned()),
        Value::Null => words(name).into_iter().find(|word| is_not_written(name, word)).map_or(LeftOut::None, |word| {
            LeftOut::Value(if is_left_out(name, word.as_str().into()) { word } else { format!("{{kind: {word}}}") })
        }),
        value => LeftOut::Value(plain(value)),
    };
    let fits = |name: &str, settings: &Map<String, Value>| {
        let fewer = settings.keys().filter(|key| *key != name).any(|key| possible(&without(settings, key)));
        possible(settings) || fewer // the pool `all` stands without `candidates`
    };
    let choice = |name: &str, word: &str| match filled(|inner| read(&with(name, json!({word: inner})))) {
        None => possible(&with(name, word.into())).then(|| format!("`{word}`")),
        Some((inner, found)) if fits(name, &with(name, json!({word: inner}))) => {
            let whole = serde_json::to_value(found).unwrap();
            let keys = whole[kind][name][word].as_object().filter(|_| name != "pool"); // pools have the keys of samplers
            let with_zero = |key: &str| {
                let mut inner = inner.clone();
                inner.insert(key.to_owned(), 0.into());
                read(&with(name, json!({word: inner})))
            };
            let names = with_zero("?").err().map_or(Vec::new(), |error| expected(&error.to_string()));
            let is_zero = |key: &str| with_zero(key).is_ok_and(|read| serde_json::to_value(read).unwrap()[kind][name][word][key].is_null());
            Some(format!("`{word}`{}", keys.map_or(String::new(), |keys| listed(&names, keys, &inner, is_zero))))
        }
        Some(_) => None,
    };
    let choices = |name: &str| words(name).iter().filter_map(|word| choice(name, word)).collect();
    let unknown = serde_json::from_value::<T>(json!({kind: {"?": 0}})).err().unwrap().to_string();
    expected(&unknown).into_iter().map(|name| Key { left_out: left_out(&name), choices: choices(&name), name }).collect()
}

fn without(settings: &Map<String, Value>, key: &str) -> Map<String, Value> {
    let mut settings = settings.clone();
    settings.remove(key);
    settings
}

/// The least settings that can be read, by what serde misses in fewer; `None` where there are none.
fn filled<T>(read: impl Fn(&Map<String, Value>) -> serde_json::Result<T>) -> Option<(Map<String, Value>, T)> {
    let mut settings = Map::new();
    loop {
        let error = match read(&settings) {
            Ok(read) => return Some((settings, read)),
            Err(error) => error.to_string(),
        };
        let missing = error.strip_prefix("missing field `")?.split('`').next()?;
        if settings.insert(missing.to_owned(), 1.into()).is_some() {
            return None;
        }
    }
}

/// The keys of a kind within a setting, in its order, with the defaults of those that are not required. Of those that are not written where they have their default the ones
/// whose default is 0; others, which only some kinds can have, stand in the kind's own section.
fn listed(names: &[String], keys: &Map<String, Value>, required: &Map<String, Value>, is_zero: impl Fn(&str) -> bool) -> String {
    let key = |name: &String| match keys.get(name) {
        _ if required.contains_key(name) => Some(format!("`{name}`")),
        Some(value) => Some(format!("`{name}` [{}]", plain(value))),
        None => is_zero(name).then(|| format!("`{name}` [0]")),
    };
    let keys: Vec<String> = names.iter().filter_map(key).collect();
    if keys.is_empty() { String::new() } else { format!(" {{{}}}", keys.join(", ")) }
}

/// The words that an error of serde expects.
pub(super) fn expected(error: &str) -> Vec<String> {
    error.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

/// A value as a sweep file has it.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        Value::Array(values) => format!("[{}]", values.iter().map(plain).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => match object.iter().next() {
            Some((kind, Value::Object(settings))) => {
                let settings: String = settings.iter().map(|(key, value)| format!(", {key}: {}", plain(value))).collect();
                format!("{{kind: {kind}{settings}}}")
            }
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}
