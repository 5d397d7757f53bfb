//! A mapping whose keys are read one by one, for what serde cannot express: values that keep their place.

use super::{
    error::Result,
    nearest,
    node::{Node, Value},
};
use serde::de::DeserializeOwned;

/// The keys of a mapping, all of them known.
pub(super) struct Fields<'a> {
    node: &'a Node,
}

impl<'a> Fields<'a> {
    /// The mapping at a node.
    ///
    /// # Errors
    /// When it is no mapping, or has a key that is not among the known ones.
    pub(super) fn of(node: &'a Node, known: &[&str]) -> Result<Self> {
        let Value::Mapping(entries) = &node.value else {
            return Err(node.place.error(format!("expected a mapping with the keys {}, found {}", known.join(", "), node.describe())));
        };
        match entries.iter().find(|(key, _)| !known.contains(&key.name.as_str())) {
            Some((key, _)) => Err(key.place.error(nearest::unknown("key", &key.name, known))),
            None => Ok(Self { node }),
        }
    }

    /// A key that may be left out.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key)
    }

    /// A key that must be there.
    pub(super) fn required(&self, key: &str) -> Result<&'a Node> {
        self.get(key).ok_or_else(|| self.node.place.error(format!("the key `{key}` is missing")))
    }

    /// The value of a key, or its default.
    pub(super) fn read_or<T: DeserializeOwned>(&self, key: &str, default: T) -> Result<T> {
        self.get(key).map_or(Ok(default), Node::read)
    }

    /// The items of a list that has at least one.
    pub(super) fn items(&self, key: &str) -> Result<&'a [Node]> {
        let node = self.required(key)?;
        match &node.value {
            Value::Sequence(items) if items.is_empty() => Err(node.place.error("the list is empty; give at least one")),
            Value::Sequence(items) => Ok(items),
            _ => Err(node.place.error(format!("expected a list (`[..]`, or lines that start with `-`), found {}", node.describe()))),
        }
    }
}
