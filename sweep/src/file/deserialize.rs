//! Any serde type from a [`Node`], with errors that name the line and the key.
//!
//! An enum is written as a mapping whose `kind` (for sources: `format`) names the variant and whose other keys are the variant's
//! content: `{kind: softmax, temperature: 0.1}` is `Loss::Softmax(Softmax { temperature: 0.1 })`. A variant without content is its
//! bare name: `train-only`. Nothing is buffered on the way, so an error anywhere keeps its place.

use super::{
    access::{Entries, Items, Variant, VariantContent},
    error::{Error, Result},
    nearest,
    node::{Key, Node, Value},
    scalar,
};
use dataset::quote;
use serde::de::{DeserializeOwned, Deserializer, Visitor};

impl Node {
    /// Reads a value of any type.
    ///
    /// # Errors
    /// The place that does not fit the type, and why: unknown and missing keys, wrong types, numbers out of range.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        let reader = NodeDeserializer { node: self, without: None };
        T::deserialize(reader).map_err(|error| error.or_at(&self.place))
    }
}

/// The key that names the variant of an enum.
pub(crate) fn tag_of(enumeration: &str) -> &'static str {
    if enumeration == "Source" { "format" } else { "kind" }
}

/// A node as a deserializer; `without` hides the key that named the variant.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'a> {
    pub(super) node: &'a Node,
    pub(super) without: Option<&'static str>,
}

impl<'a> NodeDeserializer<'a> {
    pub(super) fn of(node: &'a Node) -> Self {
        Self { node, without: None }
    }

    fn expected<T>(self, what: &str) -> Result<T> {
        Err(self.node.place.error(format!("expected {what}, found {}", self.node.describe())))
    }

    fn text(self, what: &str) -> Result<&'a str> {
        match &self.node.value {
            Value::Scalar { text, .. } => Ok(text),
            _ => self.expected(what),
        }
    }

    fn plain(self) -> Option<&'a str> {
        match &self.node.value {
            Value::Scalar { text, plain: true } => Some(text),
            _ => None,
        }
    }

    fn entries(self) -> Result<&'a [(Key, Node)]> {
        match &self.node.value {
            Value::Mapping(entries) => Ok(entries),
            _ => self.expected("a mapping of keys and values"),
        }
    }

    fn integer<T: TryFrom<i128>>(self, least: impl std::fmt::Display, most: impl std::fmt::Display) -> Result<T> {
        let what = || format!("a whole number from {least} to {most}");
        let value = self.plain().and_then(scalar::integer).and_then(|value| T::try_from(value).ok());
        value.map_or_else(|| self.expected(&what()), Ok)
    }

    fn number(self) -> Result<f64> {
        self.plain().and_then(scalar::number).map_or_else(|| self.expected("a number"), Ok)
    }
}

/// `deserialize_u32` and its kin.
macro_rules! integers {
    ($($method:ident $visit:ident $type:ty,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            visitor.$visit(self.integer::<$type>(<$type>::MIN, <$type>::MAX)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Sequence(_) => self.deserialize_seq(visitor),
            Value::Mapping(_) => self.deserialize_map(visitor),
            Value::Scalar { text, plain: false } => visitor.visit_str(text),
            Value::Scalar { text, .. } => {
                let whole = scalar::integer(text);
                if let Some(value) = whole.and_then(|value| u64::try_from(value).ok()) {
                    visitor.visit_u64(value)
                } else if let Some(value) = whole.and_then(|value| i64::try_from(value).ok()) {
                    visitor.visit_i64(value)
                } else if let Some(value) = scalar::number(text) {
                    visitor.visit_f64(value)
                } else if let Some(value) = scalar::boolean(text) {
                    visitor.visit_bool(value)
                } else {
                    visitor.visit_str(text)
                }
            }
        }
    }

    integers! {
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_f64(self.number()?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_f64(self.number()?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.plain().and_then(scalar::boolean) {
            Some(value) => visitor.visit_bool(value),
            None => self.expected("true or false"),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_str(self.text("one character")?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_str(self.text("a text")?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        self.expected("bytes, which YAML does not have")
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.node.value == Value::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.node.value == Value::Null { visitor.visit_unit() } else { self.expected("nothing") }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.node.value {
            Value::Sequence(items) => visitor.visit_seq(Items { items: items.iter() }),
            // An item of a list that was meant as one value.
            _ if self.node.place.path.ends_with(']') => {
                self.expected("a list, as the values of a list are tuned over: one of several values stands in it as `[[a, b]]`")
            }
            _ => self.expected("a list (`[a, b]`)"),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _: &'static str, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let entries = self.entries()?.iter();
        visitor.visit_map(Entries { entries, without: self.without, value: None }).map_err(|error| error.or_at(&self.node.place))
    }

    fn deserialize_struct<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, name: &'static str, variants: &'static [&'static str], visitor: V) -> Result<V::Value> {
        let tag = tag_of(name);
        let (named, content) = match &self.node.value {
            Value::Scalar { .. } => (self.node, VariantContent::Bare(self.node)),
            Value::Mapping(_) => match self.node.get(tag) {
                Some(named) => (named, VariantContent::Rest(self.node, tag)),
                None => {
                    let runs_on = self.node.keys().find(|(key, _)| key.name.strip_prefix(tag).is_some_and(|rest| rest.starts_with(':')));
                    let hint = runs_on
                        .map_or_else(String::new, |(key, _)| format!("; `{}` lacks a blank behind its colon", quote::value(&key.name)));
                    return Err(self.node.place.error(format!("the key `{tag}` is missing (one of {}){hint}", variants.join(", "))));
                }
            },
            _ => return self.expected(&format!("one of {}", variants.join(", "))),
        };
        let variant = NodeDeserializer::of(named).text("a name")?;
        if !variants.contains(&variant) {
            return Err(named.place.error(nearest::unknown(
                if matches!(content, VariantContent::Bare(_)) { "name" } else { tag },
                variant,
                variants,
            )));
        }
        visitor.visit_enum(Variant { name: variant, content }).map_err(|error| error.or_at(&self.node.place))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }
}

#[cfg(test)]
mod tests;
