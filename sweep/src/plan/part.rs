//! One kind with its values, whatever its type: the flat view that labels, tables and plans need.

use crate::file::{Entry, Range};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use trainer::Training;

/// The values of a kind by name, sorted; a nested kind is one text such as `normal(std=0.1)`, and so are nested settings: `every=5, factor=0.95`.
pub(super) type Values = Map<String, Value>;

/// A kind of a grid and the values it takes in each of its combinations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// `mf`, `softmax-at-k`, `adam`.
    pub(super) kind: String,
    /// The values of each combination of tuned values; ranges at their ends.
    pub(super) combinations: Vec<Values>,
    /// The ranges that a name's values are drawn from, as a reader writes them: `uniform(0.1, 1)`.
    pub(super) ranges: BTreeMap<String, Vec<String>>,
}

impl Part {
    /// The part that the values of one entry of a grid make; all are of one kind.
    pub(super) fn of<T: Serialize>(values: &[T]) -> Self {
        let flat: Vec<(String, Values)> = values.iter().map(flat).collect();
        let kind = flat.first().map(|(kind, _)| kind.clone()).unwrap_or_default();
        Self { kind, combinations: flat.into_iter().map(|(_, values)| values).collect(), ranges: BTreeMap::new() }
    }

    /// The part that an entry of a grid makes, with its ranges.
    pub(super) fn of_entry<T: Serialize>(entry: &Entry<T>) -> Self {
        let part = Self::of(&entry.values);
        let ranges_of = |name: &String| entry.ranges_of(name).iter().map(Range::to_string).collect::<Vec<_>>();
        let ranges = part.names().map(|name| (name.clone(), ranges_of(name))).filter(|(_, ranges)| !ranges.is_empty()).collect();
        Self { ranges, ..part }
    }

    /// How the trials of a method are trained.
    pub(super) fn of_training(training: &Training) -> Self {
        Self { kind: "training".to_owned(), combinations: vec![Self::settings(training)], ranges: BTreeMap::new() }
    }

    /// Epochs, batches and stopping as values.
    pub(super) fn settings(training: &Training) -> Values {
        flat(&json!({ "training": training })).1
    }

    /// The names of all values, sorted. A default that is not written is left out of some combinations.
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
    use crate::file::node::Node;
    use trainer::{Backbone, Optimizer, Sampler};

    #[test]
    fn a_nested_kind_is_one_text() {
        let backbone: Backbone = Node::parse("{kind: mf, dim: 8, init: {kind: normal, std: 1}}", "s").unwrap().read().unwrap();
        let (kind, values) = flat(&backbone);
        assert_eq!(kind, "mf");
        assert_eq!(serde_json::to_string(&values).unwrap(), r#"{"dim":8,"init":"normal(std=1)"}"#);
    }

    #[test]
    fn a_default_that_is_not_written_differs_from_what_is() {
        let read = |text: &str| Node::parse(text, "s").unwrap().read::<Sampler>().unwrap();
        let part = Part::of(&["{kind: all, exclude: train}", "{kind: all, exclude: row}"].map(read));
        assert_eq!(part.names().collect::<Vec<_>>(), ["exclude"]);
        assert!(part.varies("exclude") && !Part::of(&[read("{kind: all, exclude: row}")]).varies("exclude"));
    }

    #[test]
    fn nested_settings_are_one_text() {
        let text = "{kind: adam, learning_rate: 0.1, learning_rate_decay: {every: 5, factor: 0.95}}";
        let optimizer: Optimizer = Node::parse(text, "s").unwrap().read().unwrap();
        assert_eq!(flat(&optimizer).1["learning_rate_decay"], "every=5, factor=0.95");
    }
}
