//! From the YAML parser's events to a tree of [`Node`]s.

use super::{
    environment,
    error::{Error, Place, Result},
    node::{Key, Node, Value, Weight, child},
    scalar,
};
use dataset::quote;
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use std::{collections::HashMap, sync::Arc};

/// More values than this are not a sweep file but aliases of aliases.
const MOST_NODES: usize = 100_000;
/// Bytes of all values and of the paths to them, with every alias written out.
const MOST_TEXT: usize = 32 << 20;
/// Bytes of one value or key.
const LONGEST: usize = 64 << 10;
/// Lists and mappings inside of each other.
const DEEPEST: usize = 64;

/// The advice in errors of a line with a variable: between braces or brackets, those of `${NAME}` are taken for theirs.
const UNQUOTED: &str = " (inside `{ }` and `[ ]` a value with `${NAME}` needs quotes: `\"${NAME}/file\"`)";

/// The only document of a YAML text.
pub(super) fn document(text: &str, file: &str) -> Result<Node> {
    Tree { text, events: events(text), file: file.into(), anchors: HashMap::new(), held: Weight::default() }.document()
}

/// The parser's events, without comments: whether they are events at all is decided by what other crates ask of the parser's.
pub(super) fn events(text: &str) -> Parser<'_, StrInput<'_>> {
    Parser::new_from_str_with_options(text, granit_parser::options! { emit_comments: false })
}

/// The parser's events on their way to a tree.
struct Tree<'a> {
    text: &'a str,
    events: Parser<'a, StrInput<'a>>,
    file: Arc<str>,
    anchors: HashMap<usize, Node>,
    held: Weight,
}

impl<'a> Tree<'a> {
    fn document(&mut self) -> Result<Node> {
        let root = loop {
            match self.next("")? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, span) => return Err(self.place(&span, "").error("the file is empty")),
                (event, span) => break self.node(event, &span, "", 0)?,
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
            let line = self.text.lines().nth(mark.line().saturating_sub(1)).unwrap_or_default();
            let advice = if line.contains("${") { UNQUOTED } else { "" };
            place.error(format!("not valid YAML: {}{advice}", error.info()))
        })
    }

    fn place(&self, span: &Span, path: &str) -> Place {
        Place { file: Arc::clone(&self.file), line: span.start.line(), column: span.start.col() + 1, path: path.to_owned() }
    }

    fn node(&mut self, event: Event<'a>, span: &Span, path: &str, depth: usize) -> Result<Node> {
        let place = self.place(span, path);
        if let Some(tag) = event.tag() {
            return Err(place.error(format!("the tag `{}` has no meaning in a sweep file", quote::value(&tag.original()))));
        }
        let anchor = event.anchor_id();
        let value = match event {
            Event::Alias(id) => {
                let anchor = self.anchors.get(&id).ok_or_else(|| place.error("the alias stands inside its own anchor"))?;
                let weight = anchor.weight().under(path, depth);
                hold(&mut self.held, weight, &place)?;
                return Ok(anchor.moved(path));
            }
            Event::Scalar(text, style, ..) => {
                short(&text, &place)?;
                hold(&mut self.held, Weight::of(path.len() + text.len(), depth), &place)?;
                scalar_value(&text, style == ScalarStyle::Plain).map_err(|reason| place.error(reason))?
            }
            Event::SequenceStart(..) => {
                hold(&mut self.held, Weight::of(path.len(), depth), &place)?;
                Value::Sequence(self.items(path, depth + 1)?)
            }
            Event::MappingStart(..) => {
                hold(&mut self.held, Weight::of(path.len(), depth), &place)?;
                Value::Mapping(self.entries(path, depth + 1)?)
            }
            other => return Err(place.error(format!("expected a value, found {other:?}"))),
        };
        let node = Node { place, value };
        if let Some(id) = anchor {
            hold(&mut self.held, node.weight(), &node.place)?;
            self.anchors.insert(id, node.clone());
        }
        Ok(node)
    }

    fn items(&mut self, path: &str, depth: usize) -> Result<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            match self.next(path)? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => {
                    let path = format!("{path}[{}]", items.len());
                    items.push(self.node(event, &span, &path, depth)?);
                }
            }
        }
    }

    fn entries(&mut self, path: &str, depth: usize) -> Result<Vec<(Key, Node)>> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut lines: HashMap<String, usize> = HashMap::new();
        loop {
            let key = match self.next(path)? {
                (Event::MappingEnd, _) => return Ok(entries),
                (Event::Scalar(text, ..), span) => Key { place: self.place(&span, &child(path, &text)), name: text.into_owned() },
                (_, span) => return Err(self.place(&span, path).error("expected a key, a plain word")),
            };
            short(&key.name, &key.place)?;
            if key.name == "<<" {
                return Err(key.place.error("merge keys (`<<`) are not supported; write the keys out"));
            }
            hold(&mut self.held, Weight { values: 0, ..Weight::of(key.name.len() + key.place.path.len(), depth) }, &key.place)?;
            if let Some(first) = lines.insert(key.name.clone(), key.place.line) {
                let message = format!("the key `{}` stands twice, first in line {first}; keep one of them", quote::value(&key.name));
                return Err(key.place.error(message));
            }
            let (event, span) = self.next(path)?;
            let value = self.node(event, &span, &key.place.path, depth)?;
            entries.push((key, value));
        }
    }
}

/// That a value or a key is no longer than one can be.
fn short(text: &str, place: &Place) -> Result<()> {
    match text.len() > LONGEST {
        true => Err(place.error(format!("a text of {} bytes; at most {LONGEST} are taken: `{}`", text.len(), quote::value(text)))),
        false => Ok(()),
    }
}

/// Adds to what a document takes in memory.
///
/// # Errors
/// More than a sweep file can mean.
fn hold(held: &mut Weight, more: Weight, place: &Place) -> Result<()> {
    *held = Weight { values: held.values + more.values, text: held.text.saturating_add(more.text), depth: 0 };
    if more.depth > DEEPEST {
        return Err(place.error(format!("more than {DEEPEST} lists and mappings inside of each other")));
    }
    if held.values > MOST_NODES {
        return Err(place.error(format!("more than {MOST_NODES} values in one sweep file")));
    }
    if held.text > MOST_TEXT {
        return Err(place.error(format!("more than {} MiB of values in one sweep file, with every alias written out", MOST_TEXT >> 20)));
    }
    Ok(())
}

fn scalar_value(text: &str, plain: bool) -> std::result::Result<Value, String> {
    if plain && scalar::is_null(text) {
        return Ok(Value::Null);
    }
    // A variable alone is what its value is, in quotes too: between braces it has to be quoted.
    let plain = plain || environment::is_variable(text);
    let text = environment::substitute(text, |name| std::env::var(name).ok())?;
    Ok(Value::Scalar { text, plain })
}
