//! A YAML document as a tree in which every value knows its line, its column and the path of keys that leads to it.
//!
//! Stricter than YAML: one document, text keys, no key twice, no tags, no merge keys. Anchors and aliases work: an alias is a copy.

use super::{
    environment,
    error::{Error, Place, Result},
    scalar,
};
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use std::{collections::HashMap, sync::Arc};

/// More values than this are not a sweep file but aliases of aliases.
const MOST_NODES: usize = 100_000;

/// One value of a sweep file.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What a [`Node`] is.
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
    /// Where it stands.
    pub place: Place,
}

impl Node {
    /// Parses a sweep file. `file` names it in errors.
    ///
    /// # Errors
    /// Text that is no YAML, a key that stands twice, an environment variable that is not set, and what the module's head excludes.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let mut tree = Tree { events: Parser::new_from_str(text), file: file.into(), anchors: HashMap::new(), nodes: 0 };
        tree.document()
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

    /// What stands here, in words, for `expected .., found ..`.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Scalar { text, plain: true } => format!("`{text}`"),
            Value::Scalar { text, plain: false } => format!("the text {text:?}"),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
        }
    }

    /// The same value under another path; lines and columns stay those of the original.
    fn moved(&self, path: &str) -> Self {
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

    fn size(&self) -> usize {
        match &self.value {
            Value::Sequence(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Value::Mapping(entries) => 1 + entries.iter().map(|(_, value)| value.size()).sum::<usize>(),
            _ => 1,
        }
    }
}

/// Where a whole word stands in a text.
fn word_in(text: &str, word: &str) -> Option<usize> {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let whole = |at: &usize| !text[..*at].ends_with(inside) && !text[*at + word.len()..].starts_with(inside);
    text.match_indices(word).map(|(at, _)| at).find(whole)
}

/// The path of a key under a path.
fn child(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The parser's events on their way to a tree.
struct Tree<'a> {
    events: Parser<'a, StrInput<'a>>,
    file: Arc<str>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl<'a> Tree<'a> {
    fn document(&mut self) -> Result<Node> {
        let root = loop {
            match self.next("")? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, span) => return Err(self.place(&span, "").error("the file is empty")),
                (event, span) => break self.node(event, &span, "")?,
            }
        };
        loop {
            match self.next("")? {
                (Event::StreamEnd, _) => return Ok(root),
                (Event::DocumentStart(..), span) => {
                    return Err(self.place(&span, "").error("a second document starts here; a sweep file holds one"));
                }
                _ => {}
            }
        }
    }

    fn next(&mut self, path: &str) -> Result<(Event<'a>, Span)> {
        let ended = || Error::new("the file ends early");
        self.events.next().ok_or_else(ended)?.map_err(|error| {
            let mark = error.marker();
            let place = Place { file: Arc::clone(&self.file), line: mark.line(), column: mark.col() + 1, path: path.to_owned() };
            place.error(format!("not valid YAML: {}", error.info()))
        })
    }

    fn place(&self, span: &Span, path: &str) -> Place {
        Place { file: Arc::clone(&self.file), line: span.start.line(), column: span.start.col() + 1, path: path.to_owned() }
    }

    fn node(&mut self, event: Event<'a>, span: &Span, path: &str) -> Result<Node> {
        let place = self.place(span, path);
        if let Some(tag) = event.tag() {
            return Err(place.error(format!("the tag `{}` has no meaning in a sweep file", tag.original())));
        }
        self.count(1, &place)?;
        let anchor = event.anchor_id();
        let value = match event {
            Event::Alias(id) => {
                let node = self.anchors.get(&id).ok_or_else(|| place.error("the alias stands inside its own anchor"))?.moved(path);
                self.count(node.size(), &place)?;
                return Ok(node);
            }
            Event::Scalar(text, style, ..) => scalar_value(&text, style == ScalarStyle::Plain).map_err(|reason| place.error(reason))?,
            Event::SequenceStart(..) => Value::Sequence(self.items(path)?),
            Event::MappingStart(..) => Value::Mapping(self.entries(path)?),
            other => return Err(place.error(format!("expected a value, found {other:?}"))),
        };
        let node = Node { place, value };
        if let Some(id) = anchor {
            self.anchors.insert(id, node.clone());
        }
        Ok(node)
    }

    fn count(&mut self, nodes: usize, place: &Place) -> Result<()> {
        self.nodes += nodes;
        if self.nodes > MOST_NODES { Err(place.error(format!("more than {MOST_NODES} values in one sweep file"))) } else { Ok(()) }
    }

    fn items(&mut self, path: &str) -> Result<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            match self.next(path)? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => {
                    let path = format!("{path}[{}]", items.len());
                    items.push(self.node(event, &span, &path)?);
                }
            }
        }
    }

    fn entries(&mut self, path: &str) -> Result<Vec<(Key, Node)>> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        loop {
            let key = match self.next(path)? {
                (Event::MappingEnd, _) => return Ok(entries),
                (Event::Scalar(text, ..), span) => Key { place: self.place(&span, &child(path, &text)), name: text.into_owned() },
                (_, span) => return Err(self.place(&span, path).error("expected a key, a plain word")),
            };
            if key.name == "<<" {
                return Err(key.place.error("merge keys (`<<`) are not supported; write the keys out"));
            }
            if let Some((first, _)) = entries.iter().find(|(other, _)| other.name == key.name) {
                let message = format!("the key `{}` stands twice, first in line {}; keep one of them", key.name, first.place.line);
                return Err(key.place.error(message));
            }
            let (event, span) = self.next(path)?;
            let value = self.node(event, &span, &key.place.path)?;
            entries.push((key, value));
        }
    }
}

fn scalar_value(text: &str, plain: bool) -> std::result::Result<Value, String> {
    if plain && scalar::is_null(text) {
        return Ok(Value::Null);
    }
    let text = environment::substitute(text, |name| std::env::var(name).ok())?;
    Ok(Value::Scalar { text, plain })
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
}
