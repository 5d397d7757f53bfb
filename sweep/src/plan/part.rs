//! One kind with its values, whatever its type: the flat view that labels, tables and plans need.

use crate::file::{Entry, Range, node::Node};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use trainer::Training;

/// The values of a kind by name, sorted; a nested kind is one text such as `normal(std=0.1)`, and so are nested settings: `every=5, factor=0.95`.
pub(super) type Values = Map<String, Value>;

/// A kind of a grid and the values it takes in each of its combinations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Part {
    /// `mf`, `softmax-at-k`, `adam`.
    pub(super) kind: String,
    /// The values of each combination of tuned values; ranges at their ends.
    pub(super) combinations: Vec<Values>,
    /// The values of tuned names that a combination without them has: defaults that are not written.
    pub(super) defaults: Values,
    /// The ranges that a name's values are drawn from, as a reader writes them: `uniform(0.1, 1)`.
    pub(super) ranges: BTreeMap<String, Vec<String>>,
}

impl Part {
    /// The part that an entry of a grid makes, all of whose values are of one kind.
    pub(super) fn of<T: Serialize>(entry: &Entry<T>) -> Self {
        let flat: Vec<(String, Values)> = entry.values.iter().map(flat).collect();
        let kind = flat.first().map(|(kind, _)| kind.clone()).unwrap_or_default();
        let part = Self { kind, combinations: flat.into_iter().map(|(_, values)| values).collect(), ..Self::default() };
        let ranges_of = |name: &String| entry.ranges_of(name).iter().map(Range::to_string).collect::<Vec<_>>();
        let ranges = part.names().map(|name| (name.clone(), ranges_of(name))).filter(|(_, ranges)| !ranges.is_empty()).collect();
        Self { ranges, ..part }.with_defaults(entry)
    }

    /// With the defaults among its tuned values, which are not written, as they are typed.
    fn with_defaults<T: Serialize>(mut self, entry: &Entry<T>) -> Self {
        let names: Vec<String> = self.names().cloned().collect();
        let with_fractions: HashSet<&String> = names.iter().filter(|name| self.choices(name).iter().any(|value| value.is_f64())).collect();
        let like_others = |name, value: Value| match value.as_f64().filter(|_| with_fractions.contains(name)) {
            Some(number) => json!(number),
            None => value,
        };
        for (node, values) in entry.typed().zip(&mut self.combinations) {
            let unwritten = names.iter().filter(|name| !values.contains_key(*name));
            let typed = unwritten.filter_map(|name| Some((name.clone(), like_others(name, as_typed(node.get(name)?)?))));
            let defaults: Values = typed.collect();
            values.extend(defaults.clone());
            self.defaults.extend(defaults);
        }
        self
    }

    /// How the trials of a method are trained.
    pub(super) fn of_training(training: &Training) -> Self {
        Self { kind: "training".to_owned(), combinations: vec![Self::settings(training)], ..Self::default() }
    }

    /// Epochs, batches and stopping as values.
    pub(super) fn settings(training: &Training) -> Values {
        flat(&json!({ "training": training })).1
    }

    /// The names of all values, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.combinations.iter().flat_map(Map::keys).collect::<BTreeSet<_>>().into_iter()
    }

    /// Whether combinations differ in the value of a name.
    pub(super) fn varies(&self, name: &str) -> bool {
        self.combinations.iter().any(|values| values.get(name) != self.combinations[0].get(name))
    }

    /// The different values that a name takes, in order.
    pub(super) fn choices(&self, name: &str) -> Vec<&Value> {
        let mut seen = HashSet::new();
        self.combinations.iter().filter_map(|values| values.get(name)).filter(|value| seen.insert(*value)).collect()
    }

    /// The different values that a name takes as a reader writes them, ranges in the place of their ends.
    pub(super) fn written(&self, name: &str) -> Vec<String> {
        match self.ranges.get(name) {
            Some(ranges) => ranges.clone(),
            None => self.choices(name).into_iter().map(plain).collect(),
        }
    }

    /// The value of a name that is not tuned.
    pub(super) fn fixed(&self, name: &str) -> Option<&Value> {
        match self.choices(name)[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// A kind's name and its values: `Loss::Softmax { temperature: 0.1 }` is `softmax` and `temperature: 0.1`.
pub(super) fn flat<T: Serialize>(kind: &T) -> (String, Values) {
    let (name, values) = tagged(serde_json::to_value(kind).expect("a kind is plain data"));
    let text = |value: Value| if value.is_object() { Value::String(nested(value)) } else { value };
    (name, values.into_iter().map(|(name, value)| (name, text(value))).collect())
}

/// A default as it is typed in a sweep file; `None` where it is the end of a range.
fn as_typed(node: &Node) -> Option<Value> {
    match (Range::of(node), node.read().ok()?) {
        (Ok(Some(_)), _) => None,
        (_, Value::Object(mut settings)) => {
            let kind = settings.remove("kind").map(|kind| plain(&kind));
            Some(Value::String(nested(kind.map_or(json!(settings), |kind| json!({ kind: settings })))))
        }
        (_, value) => Some(value),
    }
}

/// The only key of a serialised enum, and the mapping below it.
fn tagged(value: Value) -> (String, Values) {
    match value {
        Value::Object(variant) => match variant.into_iter().next() {
            Some((name, Value::Object(values))) => (name, values),
            Some((name, _)) => (name, Map::new()),
            None => (String::new(), Map::new()),
        },
        other => (plain(&other), Map::new()),
    }
}

fn nested(value: Value) -> String {
    match value {
        Value::Object(settings) if !is_kind(&settings) => listed(&settings, ", "),
        kind => {
            let (name, values) = tagged(kind);
            if values.is_empty() { name } else { format!("{name}({})", listed(&values, ", ")) }
        }
    }
}

/// Whether a mapping is a kind with its settings.
fn is_kind(settings: &Values) -> bool {
    settings.len() == 1 && settings.values().all(Value::is_object)
}

/// Values with their names, `temperature=0.1`, and so much between them.
pub(super) fn listed(values: &Values, between: &str) -> String {
    let list: Vec<String> = values.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    list.join(between)
}

/// A value as a reader writes it: texts without quotes, whole numbers without `.0`.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainer::{Backbone, Optimizer};

    #[test]
    fn a_nested_kind_is_one_text() {
        let backbone: Backbone = Node::parse("{kind: mf, dim: 8, init: {kind: normal, std: 1}}", "s").unwrap().read().unwrap();
        let (kind, values) = flat(&backbone);
        assert_eq!(kind, "mf");
        assert_eq!(serde_json::to_string(&values).unwrap(), r#"{"dim":8,"init":"normal(std=1)"}"#);
    }

    #[test]
    fn nested_settings_are_one_text() {
        let text = "{kind: adam, learning_rate: 0.1, learning_rate_decay: {every: 5, factor: 0.95}}";
        let optimizer: Optimizer = Node::parse(text, "s").unwrap().read().unwrap();
        assert_eq!(flat(&optimizer).1["learning_rate_decay"], "every=5, factor=0.95");
    }
}
