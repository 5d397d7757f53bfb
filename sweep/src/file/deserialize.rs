//! Any serde type from a [`Node`], with errors that name the line and the key.
//!
//! An enum is written as a mapping whose `kind` (for sources: `format`) names the variant and whose other keys are the variant's
//! content: `{kind: softmax, temperature: 0.1}` is `Loss::Softmax(Softmax { temperature: 0.1 })`. A variant without content is its
//! bare name: `train-only`. Nothing is buffered on the way, so an error anywhere keeps its place.

use super::{
    error::{Error, Result},
    nearest,
    node::{Key, Node, Value},
    scalar,
};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, Visitor};

impl Node {
    /// Reads a value of any type.
    ///
    /// # Errors
    /// What does not fit the type, with its place: unknown and missing keys, wrong types, numbers out of range.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        let reader = Reader { node: self, without: None };
        T::deserialize(reader).map_err(|error| error.or_at(&self.place))
    }
}

/// The key that names the variant of an enum.
pub(super) fn tag_of(enumeration: &str) -> &'static str {
    if enumeration == "Source" { "format" } else { "kind" }
}

/// A node as a deserializer; `without` hides the key that named the variant.
#[derive(Clone, Copy)]
struct Reader<'a> {
    node: &'a Node,
    without: Option<&'static str>,
}

impl<'a> Reader<'a> {
    fn of(node: &'a Node) -> Self {
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

impl<'de> Deserializer<'de> for Reader<'_> {
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
            Value::Scalar { .. } => (self.node, Content::Bare(self.node)),
            Value::Mapping(_) => match self.node.get(tag) {
                Some(named) => (named, Content::Rest(self.node, tag)),
                None => return Err(self.node.place.error(format!("the key `{tag}` is missing (one of {})", variants.join(", ")))),
            },
            _ => return self.expected(&format!("one of {}", variants.join(", "))),
        };
        let variant = Reader::of(named).text("a name")?;
        if !variants.contains(&variant) {
            return Err(named.place.error(nearest::unknown(
                if matches!(content, Content::Bare(_)) { "name" } else { tag },
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

/// The items of a list.
struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let read = |item: &Node| seed.deserialize(Reader::of(item)).map_err(|error| error.or_at(&item.place));
        self.items.next().map(read).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The keys and values of a mapping.
struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Node)>,
    without: Option<&'static str>,
    value: Option<&'a Node>,
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
        seed.deserialize(Reader::of(value)).map_err(|error| error.or_at(&value.place))
    }
}

/// What comes with a variant's name.
#[derive(Clone, Copy)]
enum Content<'a> {
    /// Nothing: the node is the bare name.
    Bare(&'a Node),
    /// The other keys of the node.
    Rest(&'a Node, &'static str),
}

/// A variant of an enum.
struct Variant<'a> {
    name: &'a str,
    content: Content<'a>,
}

impl<'de> de::EnumAccess<'de> for Variant<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        Ok((seed.deserialize(de::value::StrDeserializer::<Error>::new(self.name))?, self))
    }
}

impl<'a> Variant<'a> {
    fn rest(&self) -> Result<Reader<'a>> {
        match self.content {
            Content::Rest(node, tag) => Ok(Reader { node, without: Some(tag) }),
            Content::Bare(node) => Err(node.place.error(format!("expected a mapping, found `{0}`: write `{{kind: {0}}}`", self.name))),
        }
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.content {
            Content::Bare(_) => Ok(()),
            Content::Rest(node, _) => Err(node.place.error(format!("expected a name, found a mapping: write `{}`", self.name))),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Loss {
        Bpr(Bpr),
        Softmax(Softmax),
        SoftmaxAtK(Softmax),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Bpr {}

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Softmax {
        temperature: f64,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Model {
        dim: u32,
        inner: Option<Loss>,
    }

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
        Node::parse(text, "s.yaml").unwrap().read().map_err(|error| error.to_string())
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Block {
        losses: Vec<Loss>,
        model: Option<Model>,
    }

    #[test]
    fn kinds_and_their_values_are_read() {
        let block: Block = read("losses:\n  - {kind: bpr}\n  - kind: softmax\n    temperature: 1\nmodel: ~\n").unwrap();
        assert_eq!(block.losses, [Loss::Bpr(Bpr {}), Loss::Softmax(Softmax { temperature: 1.0 })]);
        assert_eq!(block.model, None);
        let model: Model = read("{dim: 8, inner: {kind: softmax-at-k, temperature: 1e-1}}").unwrap();
        assert_eq!(model, Model { dim: 8, inner: Some(Loss::SoftmaxAtK(Softmax { temperature: 0.1 })) });
    }

    #[test]
    fn a_wrong_key_inside_a_loss_names_its_line_and_the_nearest() {
        assert_eq!(
            read::<Block>("losses:\n  - {kind: bpr}\n  - kind: softmax\n    tempratur: 0.1\n").unwrap_err(),
            "s.yaml:4:5: losses[1].tempratur: unknown key `tempratur`: did you mean `temperature`? (expected `temperature`)"
        );
        assert_eq!(
            read::<Block>("losses:\n  - {kind: bpr, temperature: 0.1}\n").unwrap_err(),
            "s.yaml:2:17: losses[0].temperature: unknown key `temperature`: no key is expected here"
        );
    }

    #[test]
    fn unknown_and_missing_kinds_are_named() {
        assert_eq!(
            read::<Block>("losses: [{kind: sofmax, temperature: 0.1}]").unwrap_err(),
            "s.yaml:1:17: losses[0].kind: unknown kind `sofmax`: did you mean `softmax`? (expected one of `bpr`, `softmax`, `softmax-at-k`)"
        );
        assert_eq!(
            read::<Block>("losses: [{temperature: 0.1}]").unwrap_err(),
            "s.yaml:1:10: losses[0]: the key `kind` is missing (one of bpr, softmax, softmax-at-k)"
        );
        assert_eq!(
            read::<Block>("losses: [bpr]").unwrap_err(),
            "s.yaml:1:10: losses[0]: expected a mapping, found `bpr`: write `{kind: bpr}`"
        );
    }

    #[test]
    fn a_wrong_type_names_the_value_and_what_was_expected() {
        let wrong = |value: &str| read::<Model>(&format!("inner: ~\ndim: {value}\n")).unwrap_err();
        assert_eq!(wrong("wide"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found `wide`");
        assert_eq!(wrong("64.0"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found `64.0`");
        assert_eq!(wrong("-1"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found `-1`");
        assert_eq!(wrong("'64'"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found the text \"64\"");
        assert_eq!(wrong("{a: 1}"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found a mapping");
        assert_eq!(
            read::<Loss>("{kind: softmax, temperature: hot}").unwrap_err(),
            "s.yaml:1:30: temperature: expected a number, found `hot`"
        );
        assert_eq!(
            read::<Loss>("{kind: softmax, temperature: }").unwrap_err(),
            "s.yaml:1:28: temperature: expected a number, found nothing"
        );
        assert_eq!(read::<Loss>("{kind: softmax}").unwrap_err(), "s.yaml:1:1: the key `temperature` is missing");
    }

    #[test]
    fn names_without_content_are_bare_words() {
        let mask: evaluator::settings::Mask = read("train-only").unwrap();
        assert_eq!(mask, evaluator::settings::Mask::TrainOnly);
        assert_eq!(
            read::<evaluator::settings::Mask>("train_only").unwrap_err(),
            "s.yaml:1:1: unknown name `train_only`: did you mean `train-only`? (expected one of `train-and-validation`, `train-only`)"
        );
    }
}
