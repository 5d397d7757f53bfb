//! A YAML document as a tree in which every value knows its line, its column and the path of keys that leads to it.
//!
//! Stricter than YAML: one document, text keys, no key twice, no tags, no merge keys. Anchors and aliases work: an alias is a copy.

use super::{
    error::{Place, Result},
    parse,
};
use dataset::quote;

/// One value of a sweep file.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The place of the node in its file.
    pub place: Place,
    /// The value.
    pub value: Value,
}

/// The value of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `~`, `null`, or nothing at all.
    Null,
    /// A word or a text; `plain` when it has no quotes, so that `1` can be a number.
    Scalar {
        /// The text, with environment variables replaced.
        text: String,
        /// Whether it was written without quotes.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in written order; no key twice.
    Mapping(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key's text.
    pub name: String,
    /// The place of the key in its file.
    pub place: Place,
}

impl Node {
    /// Parses a sweep file. `file` names it in errors.
    ///
    /// # Errors
    /// Text that is no YAML, a key that stands twice, an environment variable that is not set, and what the module's head excludes.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        parse::document(text, file)
    }

    /// The value, without where it stands.
    pub(super) fn meaning(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Scalar { text, plain: true } => text.clone(),
            Value::Scalar { text, plain: false } => format!("{text:?}"),
            Value::Sequence(items) => format!("[{}]", items.iter().map(Self::meaning).collect::<Vec<_>>().join(", ")),
            Value::Mapping(entries) => {
                let entry = |(key, value): &(Key, Self)| format!("{:?}: {}", key.name, value.meaning());
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The value of a key, where this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.keys().find(|(name, _)| name.name == key).map(|(_, node)| node)
    }

    /// The node at a path of keys such as `split.test`, or the last on the way to it that is there.
    pub fn at(&self, path: &str) -> &Node {
        path.split('.').try_fold(self, |node, key| node.get(key).ok_or(node)).unwrap_or_else(|last| last)
    }

    /// The keys and values, where this is a mapping.
    pub fn keys(&self) -> impl Iterator<Item = &(Key, Node)> {
        let entries = if let Value::Mapping(entries) = &self.value { entries.as_slice() } else { &[] };
        entries.iter()
    }

    /// The first word of a text that is a key here or below: where in the text, and where the key's value stands.
    pub fn named_in(&self, text: &str) -> Option<(usize, &Place)> {
        let own = |key: &Key| word_in(text, &key.name);
        let here = self.keys().filter_map(|(key, value)| own(key).map(|at| (at, &value.place)));
        let below = self.keys().filter_map(|(_, value)| value.named_in(text));
        here.chain(below).min_by_key(|(at, _)| *at)
    }

    /// The `kind` of an entry.
    pub fn kind(&self) -> Option<&str> {
        match &self.get("kind")?.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The value in words, for `expected .., found ..`.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Scalar { text, plain: true } => format!("`{}`", quote::value(text)),
            Value::Scalar { text, plain: false } => format!("the text \"{}\"", quote::value(text)),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
        }
    }

    /// The node under another path; lines and columns stay those of the original.
    pub(super) fn moved(&self, path: &str) -> Self {
        let place = |place: &Place, path: &str| Place { path: path.to_owned(), ..place.clone() };
        let value = match &self.value {
            Value::Sequence(items) => {
                Value::Sequence(items.iter().enumerate().map(|(index, item)| item.moved(&format!("{path}[{index}]"))).collect())
            }
            Value::Mapping(entries) => Value::Mapping(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let path = child(path, &key.name);
                        (Key { name: key.name.clone(), place: place(&key.place, &path) }, value.moved(&path))
                    })
                    .collect(),
            ),
            other => other.clone(),
        };
        Self { place: place(&self.place, path), value }
    }

    /// A copy in which another value stands at a path of keys such as `split.seed`; the same where the path leads to nothing.
    pub(super) fn with(&self, path: &str, value: &Node) -> Self {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let replaced = |(key, old): &(Key, Node)| {
            let new = match rest {
                _ if key.name != first => old.clone(),
                Some(rest) => old.with(rest, value),
                None => value.clone(),
            };
            (key.clone(), new)
        };
        match &self.value {
            Value::Mapping(entries) => Self { place: self.place.clone(), value: Value::Mapping(entries.iter().map(replaced).collect()) },
            _ => self.clone(),
        }
    }

    /// The weight of the node and all below it.
    pub(super) fn weight(&self) -> Weight {
        let own = |text: usize| Weight::of(self.place.path.len() + text, 0);
        match &self.value {
            Value::Null => own(0),
            Value::Scalar { text, .. } => own(text.len()),
            Value::Sequence(items) => items.iter().map(Self::weight).fold(own(0), Weight::around),
            Value::Mapping(entries) => {
                let of_entry = |(key, value): &(Key, Self)| {
                    let below = value.weight();
                    Weight { text: below.text + key.name.len() + key.place.path.len(), ..below }
                };
                entries.iter().map(of_entry).fold(own(0), Weight::around)
            }
        }
    }
}

/// The room that a part of a document takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    pub(super) values: usize,
    /// Bytes of texts, keys and paths.
    pub(super) text: usize,
    /// Lists and mappings inside of each other.
    pub(super) depth: usize,
}

impl Weight {
    /// The weight of one value.
    pub(super) fn of(text: usize, depth: usize) -> Self {
        Self { values: 1, text, depth }
    }

    /// The weight of a list or mapping, with one more of what is in it.
    fn around(self, inner: Self) -> Self {
        Self { values: self.values + inner.values, text: self.text + inner.text, depth: self.depth.max(inner.depth + 1) }
    }

    /// The most that the same part weighs under another path, so many levels down.
    pub(super) fn under(self, path: &str, depth: usize) -> Self {
        Self { text: self.text.saturating_add(2 * self.values * path.len()), depth: self.depth + depth, ..self }
    }
}

/// Where a whole word stands in a text.
fn word_in(text: &str, word: &str) -> Option<usize> {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let whole = |at: &usize| !text[..*at].ends_with(inside) && !text[*at + word.len()..].starts_with(inside);
    text.match_indices(word).map(|(at, _)| at).find(whole)
}

/// The path of a key under a path.
pub(super) fn child(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Node::parse(text, "s.yaml").unwrap_err().to_string()
    }

    #[test]
    fn places_are_lines_columns_and_paths() {
        let node =
            Node::parse("a: 1\ngrid:\n  - losses:\n      - {kind: bpr}\n      - kind: softmax\n        temperature: '0.1'\n", "s.yaml")
                .unwrap();
        let Value::Sequence(blocks) = &node.get("grid").unwrap().value else { panic!("a list") };
        let Value::Sequence(losses) = &blocks[0].get("losses").unwrap().value else { panic!("a list") };
        let temperature = losses[1].get("temperature").unwrap();
        assert_eq!(temperature.place.position(), "s.yaml:6:22");
        assert_eq!(temperature.place.path, "grid[0].losses[1].temperature");
        assert_eq!(temperature.value, Value::Scalar { text: "0.1".to_owned(), plain: false });
        assert_eq!(losses[0].place.position(), "s.yaml:4:9");
    }

    #[test]
    fn a_key_that_stands_twice_names_both_lines() {
        assert_eq!(
            message("training:\n  epochs: 1\n  batch_size: 2\n  epochs: 3\n"),
            "s.yaml:4:3: training.epochs: the key `epochs` stands twice, first in line 2; keep one of them"
        );
    }

    #[test]
    fn an_alias_is_a_copy_under_its_own_path() {
        let node = Node::parse("first: &adam {rate: 0.1}\nsecond: *adam\n", "s.yaml").unwrap();
        let rate = node.get("second").unwrap().get("rate").unwrap();
        assert_eq!((rate.place.line, rate.place.path.as_str()), (1, "second.rate"));
    }

    #[test]
    fn what_a_sweep_file_cannot_hold_is_refused() {
        assert!(message("a: &x\n  b: 1\nc:\n  <<: *x\n").starts_with("s.yaml:4:3: c.<<: merge keys"));
        assert!(message("a: !path x\n").ends_with("a: the tag `!path` has no meaning in a sweep file"));
        assert!(message("a: 1\n---\nb: 2\n").starts_with("s.yaml:2:1: a second document"));
        assert!(message("").contains("the file is empty"));
        assert!(message("a: [1, 2\nb: 3\n").contains("not valid YAML"));
        assert!(
            message("a: ${RANKSWEEP_NOT_SET}/x\n").starts_with("s.yaml:1:4: a: the environment variable `RANKSWEEP_NOT_SET` is not set")
        );
    }

    #[test]
    fn aliases_of_aliases_do_not_fill_the_memory() {
        let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for level in 1..9 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            text += &format!("a{level}: &a{level} [{below}]\n");
        }
        assert!(message(&text).contains("more than 100000 values"));
    }

    #[test]
    fn what_would_fill_the_memory_is_refused_before_it_does() {
        let aliases = format!("a: &a {}\nb: [{}1]\n", "x".repeat(60_000), "*a, ".repeat(2_000));
        assert!(message(&aliases).contains("more than 32 MiB of values in one sweep file"), "{}", message(&aliases));
        let keys = format!("a: &a {{{}: 1}}\nb: [{}1]\n", "k".repeat(1 << 10), "*a, ".repeat(20_000));
        assert!(message(&keys).contains("more than 32 MiB of values"), "{}", message(&keys));
        let anchors = format!("a: {}1{}\n", (0..60).map(|n| format!("&n{n} [")).collect::<String>(), "]".repeat(60));
        assert!(Node::parse(&anchors, "s.yaml").is_ok());
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", "")] {
            let deep = format!("{}1{}\n", open.repeat(65), close.repeat(65));
            assert!(message(&deep).contains("more than 64 lists and mappings inside of each other"), "{}", message(&deep));
        }
        let chain: String = (1..70).map(|n| format!("a{n}: &a{n} [*a{}]\n", n - 1)).collect();
        assert!(message(&format!("a0: &a0 [1]\n{chain}")).contains("more than 64 lists"));
    }

    #[test]
    fn many_keys_are_no_square_of_work() {
        let text: String = (0..99_000).map(|n| format!("k{n}: 1\n")).collect();
        assert_eq!(Node::parse(&text, "s.yaml").unwrap().keys().count(), 99_000);
    }

    #[test]
    fn what_is_quoted_is_visible_and_short() {
        let text = message("\"k\\e[31m\": {a: 1, a: 2}\n");
        assert!(text.starts_with("s.yaml:1:19: k\\u{1b}[31m.a: the key `a` stands twice"), "{text}");
        let node = Node::parse(&format!("a: {}", "x".repeat(60_000)), "s.yaml").unwrap();
        let error = node.get("a").unwrap().read::<f64>().unwrap_err().to_string();
        assert!(error.ends_with("x… (60000 characters)`") && error.len() < 300, "{error}");
        for long in [format!("a: {}", "x".repeat(1 << 20)), format!("\"{}\": 1", "x".repeat(1 << 20))] {
            let error = message(&long);
            assert!(error.contains("a text of 1048576 bytes; at most 65536 are taken") && error.len() < 500, "{error}");
        }
    }
}
