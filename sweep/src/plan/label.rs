//! Short names for methods: `mf-64 / softmax-at-k(20) / uniform-1000`.
//!
//! A part's name is its kind and the value that a reader looks for first. Where two parts of a sweep would read the same, the values
//! in which they differ are added: `softmax(temperature=0.1)`.

use super::part::{Part, plain};

/// The role of a part in a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Backbone,
    Loss,
    Sampler,
    Optimizer,
    Training,
}

impl Role {
    /// The prefix of the part's values in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Backbone => "backbone",
            Self::Loss => "loss",
            Self::Sampler => "sampler",
            Self::Optimizer => "optimizer",
            Self::Training => "training",
        }
    }
}

/// The names of all parts of a role in the sweep, in their order.
pub(super) fn labels(role: Role, parts: &[Part]) -> Vec<String> {
    let shorts: Vec<(String, Option<String>)> = parts.iter().map(|part| short(role, part)).collect();
    let rivals = |part: &Part, own: &(String, Option<String>)| -> Vec<&Part> {
        shorts.iter().zip(parts).filter(|(short, other)| *short == own && *other != part).map(|(_, other)| other).collect()
    };
    parts.iter().zip(&shorts).map(|(part, own)| label(part, &own.0, own.1.as_deref(), &rivals(part, own))).collect()
}

/// The name of a part among those that would read the same: the head, and in brackets the first value and those that differ.
fn label(part: &Part, head: &str, first: Option<&str>, rivals: &[&Part]) -> String {
    let differs = |name: &str| rivals.iter().any(|rival| rival.written(name) != part.written(name));
    let mut inside: Vec<String> = first.map(str::to_owned).into_iter().collect();
    for name in part.names().filter(|name| differs(name)) {
        let choices: Vec<String> = part.written(name).into_iter().map(in_braces).collect();
        inside.push(format!("{name}={}", choices.join("|")));
    }
    if inside.is_empty() { head.to_owned() } else { format!("{head}({})", inside.join(", ")) }
}

/// Settings within a value as one word: `{every=5, factor=0.95}`.
fn in_braces(value: String) -> String {
    if value.contains('=') && !value.ends_with(')') { format!("{{{value}}}") } else { value }
}

/// The kind with the value that a reader looks for first, and what comes first in brackets.
fn short(role: Role, part: &Part) -> (String, Option<String>) {
    let fixed = |name: &str| part.fixed(name).filter(|value| !value.is_null()).map(plain);
    match role {
        Role::Backbone => match (fixed("dim"), fixed("layers")) {
            (Some(dim), Some(layers)) => (format!("{}-{dim}x{layers}", part.kind), None),
            (Some(dim), None) => (format!("{}-{dim}", part.kind), None),
            (None, _) => (part.kind.clone(), fixed("name")),
        },
        Role::Loss => (part.kind.clone(), fixed("cutoff")),
        Role::Sampler => match fixed("negatives") {
            Some(negatives) => (format!("{}-{negatives}", part.kind), None),
            None => (part.kind.clone(), None),
        },
        Role::Optimizer | Role::Training => (part.kind.clone(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn part(kind: &str, combinations: &[serde_json::Value]) -> Part {
        let combinations = combinations.iter().map(|values| values.as_object().unwrap().clone()).collect();
        Part { kind: kind.to_owned(), combinations, ..Part::default() }
    }

    #[test]
    fn a_part_is_named_by_its_kind_and_first_value() {
        let alone = |role, part: Part| labels(role, &[part]).remove(0);
        assert_eq!(alone(Role::Backbone, part("light-gcn", &[json!({"dim": 64, "init": "xavier-normal", "layers": 2})])), "light-gcn-64x2");
        assert_eq!(alone(Role::Backbone, part("mf", &[json!({"dim": 32}), json!({"dim": 64})])), "mf");
        assert_eq!(alone(Role::Sampler, part("uniform", &[json!({"negatives": 1000, "replacement": true})])), "uniform-1000");
        let tuned = part("softmax-at-k", &[json!({"cutoff": 20, "temperature": 0.1}), json!({"cutoff": 20, "temperature": 0.2})]);
        assert_eq!(alone(Role::Loss, tuned), "softmax-at-k(20)");
        assert_eq!(alone(Role::Loss, part("neural-ndcg", &[json!({"cutoff": null, "temperature": 1})])), "neural-ndcg");
        assert_eq!(alone(Role::Sampler, part("in-batch", &[json!({"negatives": null})])), "in-batch");
    }

    #[test]
    fn settings_within_a_value_are_one_word() {
        let decay = |text: &str| part("sgd", &[json!({"learning_rate": 1, "learning_rate_decay": text})]);
        let all = [decay("every=5, factor=0.95"), decay("every=1, factor=0.5")];
        let expected = ["sgd(learning_rate_decay={every=5, factor=0.95})", "sgd(learning_rate_decay={every=1, factor=0.5})"];
        assert_eq!(labels(Role::Optimizer, &all), expected);
    }

    #[test]
    fn what_another_program_trained_is_called_by_its_name() {
        let external = |name: &str, users: &str| part("external", &[json!({"name": name, "users": users})]);
        let all = [external("implicit als", "a.npy"), external("mine", "a.npy"), external("mine", "b.npy")];
        assert_eq!(labels(Role::Backbone, &all), ["external(implicit als)", "external(mine, users=a.npy)", "external(mine, users=b.npy)"]);
    }

    #[test]
    fn parts_that_would_read_the_same_show_their_differences() {
        let fixed = part("softmax-at-k", &[json!({"cutoff": 20, "quantile_every": 5, "temperature": 0.1})]);
        let tuned = part(
            "softmax-at-k",
            &[
                json!({"cutoff": 20, "quantile_every": 5, "temperature": 0.1}),
                json!({"cutoff": 20, "quantile_every": 5, "temperature": 1.0}),
            ],
        );
        let other = part("softmax-at-k", &[json!({"cutoff": 5, "quantile_every": 5, "temperature": 0.1})]);
        let all = [fixed, tuned, other];
        assert_eq!(
            labels(Role::Loss, &all),
            ["softmax-at-k(20, temperature=0.1)", "softmax-at-k(20, temperature=0.1|1)", "softmax-at-k(5)"]
        );
    }
}
