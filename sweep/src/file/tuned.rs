//! A list of values where one value is expected is tuned: one kind becomes every combination of its listed values.
//!
//! Where the value is itself a list, it stands within the list of those to tune: `cutoffs: [[1, 5, 20]]` is one. A range stays as it is, one
//! value that is not known yet.

use super::{
    error::Result,
    node::{Key, Node, Value},
    range::Range,
};
use std::collections::HashSet;

/// More combinations of one kind are taken for a slip.
const MOST_COMBINATIONS: usize = 10_000;
/// More of all kinds of a sweep file are too.
const MOST_IN_ALL: usize = 100_000;
/// Values of all combinations of one kind together.
const MOST_VALUES: usize = 1_000_000;
/// Bytes of all combinations of one kind together.
const MOST_TEXT: usize = 256 << 20;
/// Keys that no kind has: what has more is read as it stands, and refused for those that are not known.
const MOST_KEYS: usize = 64;

/// That all the kinds below these nodes have no more combinations than a sweep can mean.
///
/// # Errors
/// The first kind that is one too many.
pub(super) fn check_count<'a>(nodes: impl Iterator<Item = &'a Node>) -> Result<()> {
    let mut all = 0usize;
    for node in nodes {
        all = all.saturating_add(count(node));
        if all > MOST_IN_ALL {
            return Err(node.place.error(format!("more than {MOST_IN_ALL} combinations of listed values in one sweep file; list fewer")));
        }
    }
    Ok(())
}

/// How many combinations a kind has.
fn count(node: &Node) -> usize {
    let of_value = |value: &Node| match &value.value {
        Value::Sequence(items) => items.iter().map(count).fold(0, usize::saturating_add),
        _ => count(value),
    };
    match Range::of(node) {
        Ok(None) => node.keys().map(|(_, value)| of_value(value)).fold(1, usize::saturating_mul),
        _ => 1,
    }
}

/// Every combination of the values listed in a kind, in written order: the last key changes fastest.
///
/// # Errors
/// An empty list, a value that stands twice in its list, or too many combinations.
pub(super) fn combinations(node: &Node) -> Result<Vec<Node>> {
    let all = match &node.value {
        Value::Mapping(entries) if entries.len() <= MOST_KEYS => of_mapping(node, entries)?,
        _ => vec![node.clone()],
    };
    if all.len() > MOST_COMBINATIONS {
        return Err(node.place.error(format!("{} combinations of listed values; at most {MOST_COMBINATIONS} are taken", all.len())));
    }
    Ok(all)
}

fn of_mapping(node: &Node, entries: &[(Key, Node)]) -> Result<Vec<Node>> {
    let mut rows: Vec<Vec<(Key, Node)>> = vec![Vec::new()];
    let (mut values, mut text) = (0, 0);
    for (key, value) in entries {
        if key.name == "kind" && matches!(value.value, Value::Sequence(_)) {
            return Err(value.place.error("a list of kinds: kinds are compared, not tuned; write one entry for each"));
        }
        let choices = choices(value)?;
        values += choices.iter().map(|choice| choice.weight().values).max().unwrap_or_default();
        text += choices.iter().map(|choice| choice.weight().text).max().unwrap_or_default();
        let count = rows.len() * choices.len();
        if count > MOST_COMBINATIONS || count * values > MOST_VALUES || count * text > MOST_TEXT {
            let message = format!("more than {MOST_COMBINATIONS} combinations of listed values; list fewer");
            return Err(value.place.error(message));
        }
        let extended = rows.iter().flat_map(|row| choices.iter().map(|choice| [row.clone(), vec![(key.clone(), choice.clone())]].concat()));
        rows = extended.collect();
    }
    Ok(rows.into_iter().map(|row| Node { place: node.place.clone(), value: Value::Mapping(row) }).collect())
}

/// The values a key may take: those of its list, or its only one.
fn choices(value: &Node) -> Result<Vec<Node>> {
    let Value::Sequence(items) = &value.value else { return of_one(value) };
    if items.is_empty() {
        return Err(value.place.error("an empty list: give one value, or several to tune"));
    }
    let mut seen = HashSet::new();
    for item in items {
        if !seen.insert(format!("{:?}", item.value)) {
            return Err(item.place.error(format!("{} stands twice in the list", item.describe())));
        }
    }
    Ok(items.iter().map(of_one).collect::<Result<Vec<_>>>()?.concat())
}

/// The values that one value stands for.
fn of_one(value: &Node) -> Result<Vec<Node>> {
    match Range::of(value)? {
        Some(_) => Ok(vec![value.clone()]),
        None => combinations(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainer::{Backbone, Loss};

    fn of(text: &str) -> Result<Vec<Node>> {
        combinations(&Node::parse(text, "s.yaml").unwrap())
    }

    #[test]
    fn the_last_key_changes_fastest() {
        let nodes = of("{kind: softmax-at-k, cutoff: 20, temperature: [0.2, 0.1], weight_temperature: [1, 2], quantile_every: 5}").unwrap();
        let pairs: Vec<(f64, f64)> = nodes
            .iter()
            .map(|node| match node.read().unwrap() {
                Loss::SoftmaxAtK(loss) => (loss.temperature, loss.weight_temperature),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(pairs, [(0.2, 1.0), (0.2, 2.0), (0.1, 1.0), (0.1, 2.0)]);
    }

    #[test]
    fn lists_inside_a_value_and_lists_of_kinds_are_tuned_too() {
        let nodes = of("{kind: mf, dim: 8, init: [{kind: xavier-normal}, {kind: normal, std: [0.1, 1]}]}").unwrap();
        let texts: Vec<String> = nodes.iter().map(|node| serde_json::to_string(&node.read::<Backbone>().unwrap()).unwrap()).collect();
        assert_eq!(
            texts,
            [
                r#"{"mf":{"dim":8,"init":{"xavier-normal":{}}}}"#,
                r#"{"mf":{"dim":8,"init":{"normal":{"std":0.1}}}}"#,
                r#"{"mf":{"dim":8,"init":{"normal":{"std":1.0}}}}"#
            ]
        );
    }

    #[test]
    fn a_value_that_is_a_list_stands_within_the_list_of_those_to_tune() {
        let nodes = of("{kind: smooth-recall, temperature: 1, cutoffs: [[1, 5], [20]]}").unwrap();
        let cutoffs = nodes.iter().map(|node| match node.read().unwrap() {
            Loss::SmoothRecall(loss) => loss.cutoffs,
            other => panic!("{other:?}"),
        });
        assert_eq!(cutoffs.collect::<Vec<_>>(), [vec![1, 5], vec![20]]);
        let bare = of("{kind: smooth-recall, temperature: 1, cutoffs: [1, 5]}").unwrap();
        let message = bare[0].read::<Loss>().unwrap_err().to_string();
        let expected = "s.yaml:1:49: cutoffs[0]: expected a list, as the values of a list are tuned over: one of several values stands in it as `[[a, b]]`, found `1`";
        assert_eq!(message, expected);
        let nodes = of("{kind: softmax, temperature: [[0.1, 0.2]]}").unwrap();
        let message = nodes[0].read::<Loss>().unwrap_err().to_string();
        assert_eq!(message, "s.yaml:1:31: temperature[0]: expected a number, found a list");
    }

    #[test]
    fn a_range_is_one_value_and_may_stand_in_a_list() {
        let nodes = of("{kind: adam, learning_rate: {log_uniform: [0.001, 0.1]}, weight_decay: [0, {uniform: [1, 2]}]}").unwrap();
        let texts = |node: &Node| node.keys().map(|(key, value)| format!("{} {}", key.name, value.describe())).collect::<Vec<_>>();
        assert_eq!(texts(&nodes[0])[1..], ["learning_rate a mapping", "weight_decay `0`"]);
        assert_eq!(texts(&nodes[1])[1..], ["learning_rate a mapping", "weight_decay a mapping"]);
        assert_eq!(nodes.len(), 2);
    }

    #[test]
    fn a_wrong_value_in_a_list_keeps_its_place() {
        let nodes = of("kind: softmax\ntemperature: [0.1, hot]\n").unwrap();
        let message = nodes[1].read::<Loss>().unwrap_err().to_string();
        assert_eq!(message, "s.yaml:2:20: temperature[1]: expected a number, found `hot`");
    }

    #[test]
    fn empty_lists_repeats_and_explosions_are_refused() {
        assert!(of("{kind: softmax, temperature: []}").unwrap_err().to_string().contains("s.yaml:1:30: temperature: an empty list"));
        assert!(of("{kind: [bpr, bce]}").unwrap_err().to_string().contains("s.yaml:1:8: kind: a list of kinds"));
        assert!(of("{kind: softmax, temperature: [1, 1]}").unwrap_err().to_string().contains("temperature[1]: `1` stands twice"));
        let long = format!("{{a: [{0}], b: [{0}]}}", (0..200).map(|i| i.to_string()).collect::<Vec<_>>().join(", "));
        assert!(of(&long).unwrap_err().to_string().contains("more than 10000 combinations"));
        let large =
            format!("{{a: [{}], b: {{c: [[{}]]}}}}", (0..9_000).map(|i| i.to_string()).collect::<Vec<_>>().join(", "), "1, ".repeat(200));
        assert!(of(&large).unwrap_err().to_string().contains("combinations of listed values; list fewer"));
    }

    #[test]
    fn combinations_are_counted_before_they_are_made() {
        let node = |text: &str| Node::parse(text, "s.yaml").unwrap();
        assert_eq!(count(&node("{kind: mf, dim: [8, 16], init: {kind: normal, std: [1, {uniform: [1, 2]}, 3]}}")), 6);
        let wide = node(&format!("{{a: [{0}], b: [{0}], c: [{0}]}}", (0..100).map(|i| i.to_string()).collect::<Vec<_>>().join(", ")));
        assert_eq!(count(&wide), 1_000_000);
        assert!(check_count([&wide].into_iter()).unwrap_err().to_string().contains("more than 100000 combinations"));
    }
}
