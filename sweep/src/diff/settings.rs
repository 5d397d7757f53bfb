//! What differs in the settings of two plans, value by value.

use crate::plan::{Method, Plan, Titles};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What differs between two plans.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settings {
    /// Datasets that one plan alone has: of the first, of the second.
    pub(super) datasets_alone: [Vec<String>; 2],
    /// Methods that one plan alone has, on datasets that both have: `key on dataset`.
    pub(super) methods_alone: [Vec<String>; 2],
    /// Values that differ.
    pub(super) changes: Vec<Change>,
}

/// A value that differs.
#[derive(Debug, PartialEq)]
pub(crate) struct Change {
    /// What it is a value of: `evaluation`, `search`, `dataset books`, a method, or `all methods`.
    pub(super) of: String,
    /// Its name: `learning.training.epochs`.
    pub(super) name: String,
    /// In the first plan and in the second; none where it does not stand.
    pub(super) values: [Option<String>; 2],
}

/// What a value is of that changes in the same way for all methods that have it.
const ALL: &str = "all methods";

/// Values by the names of the keys that lead to them.
type Flat = BTreeMap<String, BTreeSet<String>>;

impl Settings {
    /// Compares two plans: methods by key, datasets by name.
    pub(super) fn of(first: &Plan, second: &Plan) -> Self {
        let plans = [first, second];
        let datasets = plans.map(|plan| plan.dataset_names().into_iter().map(str::to_owned).collect::<Vec<_>>());
        let both: Vec<&String> = datasets[0].iter().filter(|name| datasets[1].contains(name)).collect();
        let methods = plans.map(|plan| {
            let of_both = plan.methods.iter().filter(|method| both.contains(&&method.dataset));
            of_both.map(|method| ((method.dataset.clone(), method.label.clone()), method)).collect::<BTreeMap<_, _>>()
        });
        let mut changes = changes("evaluation", &flat_of(&first.evaluation), &flat_of(&second.evaluation));
        changes.extend(self::changes("search", &flat_of(&first.search), &flat_of(&second.search)));
        for name in &both {
            let of = |plan: &Plan| {
                let splits = plan.datasets.iter().filter(|planned| planned.name() == *name);
                splits.map(|planned| serde_json::to_value(&planned.preparation).unwrap_or_default()).fold(Flat::new(), add)
            };
            let dataset = format!("dataset {name}");
            let mut found = self::changes(&dataset, &of(first), &of(second));
            // With the same settings another fingerprint is of other source files, or of another build's preparation.
            let content = |plan: &Plan| {
                let splits = plan.datasets.iter().filter(|planned| planned.name() == *name);
                Flat::from([("fingerprint".to_owned(), splits.map(|planned| planned.fingerprint.clone()).collect())])
            };
            if found.is_empty() {
                found = self::changes(&dataset, &content(first), &content(second));
            }
            changes.extend(found);
        }
        changes.extend(of_methods(plans, &methods));
        let alone = |side: usize| {
            let (other, titles) = (&methods[1 - side], Titles::of_both(plans));
            let titled = |(key, _): (&(String, String), _)| format!("{} on {}", titles.by_key(&key.0, &key.1), key.0);
            methods[side].iter().filter(|(key, _)| !other.contains_key(*key)).map(titled).collect()
        };
        let methods_alone = [alone(0), alone(1)];
        let only = |side: usize| datasets[side].iter().filter(|name| !datasets[1 - side].contains(name)).cloned().collect();
        Self { datasets_alone: [only(0), only(1)], methods_alone, changes }
    }
}

/// The values of trials that differ between the methods of both plans; said once where it is the same for all methods that have the value.
fn of_methods(plans: [&Plan; 2], methods: &[BTreeMap<(String, String), &Method>; 2]) -> Vec<Change> {
    let titles = Titles::of_both(plans);
    let both: Vec<_> =
        methods[0].iter().filter_map(|(key, first)| Some((key, of_trials(first), of_trials(methods[1].get(key)?)))).collect();
    let mut found: BTreeMap<(String, [Option<String>; 2]), Vec<String>> = BTreeMap::new();
    for (key, first, second) in &both {
        let title = format!("{} on {}", titles.by_key(&key.0, &key.1), key.0);
        for change in changes("", first, second) {
            found.entry((change.name, change.values)).or_default().push(title.clone());
        }
    }
    let having = |name: &str| both.iter().filter(|(_, first, second)| first.contains_key(name) || second.contains_key(name)).count();
    let mut all = Vec::new();
    for ((name, values), titles) in found {
        if titles.len() > 1 && titles.len() == having(&name) {
            all.push(Change { of: ALL.to_owned(), name, values });
        } else {
            all.extend(titles.into_iter().map(|of| Change { of, name: name.clone(), values: values.clone() }));
        }
    }
    all.sort_by(|a, b| (a.of != ALL, &a.of, &a.name).cmp(&(b.of != ALL, &b.of, &b.name)));
    all
}

/// The values of all trials of a method, without its dataset, which is said by itself.
fn of_trials(method: &Method) -> Flat {
    let trials = method.configurations.iter().flat_map(|configuration| &configuration.trials);
    let mut flat = trials.map(|planned| serde_json::to_value(&planned.trial).unwrap_or_default()).fold(Flat::new(), add);
    flat.remove("dataset");
    flat
}

fn flat_of(value: &impl serde::Serialize) -> Flat {
    add(Flat::new(), serde_json::to_value(value).unwrap_or_default())
}

fn add(mut flat: Flat, value: Value) -> Flat {
    spread("", &value, &mut flat);
    flat
}

/// Puts the values below a JSON value under their names; lists are values.
fn spread(name: &str, value: &Value, flat: &mut Flat) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                spread(&name, value, flat);
            }
        }
        Value::Null => {}
        Value::String(text) => drop(flat.entry(name.to_owned()).or_default().insert(text.clone())),
        other => drop(flat.entry(name.to_owned()).or_default().insert(other.to_string())),
    }
}

fn changes(of: &str, first: &Flat, second: &Flat) -> Vec<Change> {
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let shown = |flat: &Flat, name: &str| flat.get(name).map(|values| values.iter().cloned().collect::<Vec<_>>().join(" | "));
    let change = |name: &String| Change { of: of.to_owned(), name: name.clone(), values: [shown(first, name), shown(second, name)] };
    names.into_iter().map(change).filter(|change| change.values[0] != change.values[1]).collect()
}
