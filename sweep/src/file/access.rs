//! The parts of lists, mappings and enums, as serde asks for them one by one.

use super::{
    deserialize::NodeDeserializer,
    error::{Error, Result},
    node::{Key, Node},
};
use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

/// The items of a list.
pub(super) struct Items<'a> {
    pub(super) items: std::slice::Iter<'a, Node>,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let read = |item: &Node| seed.deserialize(NodeDeserializer::of(item)).map_err(|error| error.or_at(&item.place));
        self.items.next().map(read).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The keys and values of a mapping.
pub(super) struct Entries<'a> {
    pub(super) entries: std::slice::Iter<'a, (Key, Node)>,
    pub(super) without: Option<&'static str>,
    pub(super) value: Option<&'a Node>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let without = self.without;
        let Some((key, value)) = self.entries.find(|(key, _)| Some(key.name.as_str()) != without) else { return Ok(None) };
        self.value = Some(value);
        let name = de::value::StrDeserializer::<Error>::new(&key.name);
        seed.deserialize(name).map(Some).map_err(|error| error.or_at(&key.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let value = self.value.take().expect("serde asks for a key before its value");
        seed.deserialize(NodeDeserializer::of(value)).map_err(|error| error.or_at(&value.place))
    }
}

/// The content that comes with a variant's name.
#[derive(Clone, Copy)]
pub(super) enum VariantContent<'a> {
    /// No content: the node is the bare name.
    Bare(&'a Node),
    /// The other keys of the node.
    Rest(&'a Node, &'static str),
}

/// A variant of an enum.
pub(super) struct Variant<'a> {
    pub(super) name: &'a str,
    pub(super) content: VariantContent<'a>,
}

impl<'de> de::EnumAccess<'de> for Variant<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        Ok((seed.deserialize(de::value::StrDeserializer::<Error>::new(self.name))?, self))
    }
}

impl<'a> Variant<'a> {
    fn rest(&self) -> Result<NodeDeserializer<'a>> {
        match self.content {
            VariantContent::Rest(node, tag) => Ok(NodeDeserializer { node, without: Some(tag) }),
            VariantContent::Bare(node) => {
                Err(node.place.error(format!("expected a mapping, found `{0}`: write `{{kind: {0}}}`", self.name)))
            }
        }
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.content {
            VariantContent::Bare(_) => Ok(()),
            VariantContent::Rest(node, _) => Err(node.place.error(format!("expected a name, found a mapping: write `{}`", self.name))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.rest()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.rest()?.deserialize_map(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        self.rest()?.deserialize_map(visitor)
    }
}
