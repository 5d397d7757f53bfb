//! `family`: which pairs of methods are compared, and so how many comparisons are adjusted for.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use std::{borrow::Cow, fmt};

/// Which pairs of a dataset's methods are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Family {
    /// Every method with every other.
    AllPairs,
    /// Every method with one that is named by its key, such as a baseline.
    Against(String),
    /// Every method with the one that has the best mean, of all pairs: which methods may be the best.
    AgainstBest,
}

impl Family {
    /// How many comparisons of so many methods are adjusted for: against the best, which is found in the same data, all pairs.
    pub fn adjusted_for(&self, methods: usize) -> usize {
        match self {
            Self::AllPairs | Self::AgainstBest => Self::AllPairs.comparisons(methods),
            Self::Against(_) => self.comparisons(methods),
        }
    }

    /// How many comparisons of so many methods are shown.
    pub fn comparisons(&self, methods: usize) -> usize {
        match self {
            Self::AllPairs => methods * methods.saturating_sub(1) / 2,
            Self::Against(_) | Self::AgainstBest => methods.saturating_sub(1),
        }
    }

    /// The name in tables: `all-pairs`, `against mf-64 / bpr / uniform-1`, `against-best`.
    pub fn name(&self) -> String {
        match self {
            Self::AllPairs => "all-pairs".to_owned(),
            Self::Against(method) => format!("against {method}"),
            Self::AgainstBest => "against-best".to_owned(),
        }
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Against(method) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("against", method)?;
                map.end()
            }
            Self::AllPairs | Self::AgainstBest => serializer.collect_str(&self.name()),
        }
    }
}

impl JsonSchema for Family {
    fn schema_name() -> Cow<'static, str> {
        "Family".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let method = generator.subschema_for::<String>();
        let against =
            json_schema!({"type": "object", "properties": {"against": method}, "required": ["against"], "additionalProperties": false});
        json_schema!({
            "description": "Which pairs of a dataset's methods are compared.",
            "anyOf": [{"type": "string", "enum": ["all-pairs", "against-best"]}, against]
        })
    }
}

impl<'de> Deserialize<'de> for Family {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FamilyVisitor;
        impl<'de> de::Visitor<'de> for FamilyVisitor {
            type Value = Family;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("all-pairs, against-best or {against: METHOD}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Family, E> {
                match text {
                    "all-pairs" => Ok(Family::AllPairs),
                    "against-best" => Ok(Family::AgainstBest),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Family, A::Error> {
                let Some((key, method)) = map.next_entry::<String, String>()? else {
                    return Err(de::Error::invalid_length(0, &self));
                };
                let more = map.next_entry::<String, de::IgnoredAny>()?;
                match more.map_or(key, |(key, _)| key).as_str() {
                    "against" => Ok(Family::Against(method)),
                    key => Err(de::Error::unknown_field(key, &["against"])),
                }
            }
        }
        deserializer.deserialize_any(FamilyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Family, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_read() {
        for family in [Family::AllPairs, Family::AgainstBest, Family::Against("mf-64 / bpr / uniform-1".into())] {
            assert_eq!(read(&serde_json::to_string(&family).unwrap()), Ok(family));
        }
    }

    #[test]
    fn what_is_no_family_is_refused() {
        for (text, reason) in [
            ("\"pairs\"", "expected all-pairs, against-best or {against: METHOD}"),
            ("{}", "expected all-pairs"),
            (r#"{"best": "x"}"#, "unknown field `best`"),
            (r#"{"against": "x", "and": "y"}"#, "unknown field `and`"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }

    #[test]
    fn comparisons_are_counted() {
        assert_eq!((Family::AllPairs.comparisons(7), Family::AgainstBest.comparisons(7), Family::AllPairs.comparisons(0)), (21, 6, 0));
        assert_eq!((Family::AgainstBest.adjusted_for(7), Family::Against("a".into()).adjusted_for(7)), (21, 6));
    }
}
