//! Which columns of a table hold what.

use crate::{Error, Result};
use dataset::quote;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// A column by its name, or by its index from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum ColumnRef {
    /// The place in the row, from 0.
    Index(usize),
    /// The name in the header.
    Name(String),
}

/// Columns of interactions with optional ratings and timestamps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The user's id.
    pub user: ColumnRef,
    /// The item's id.
    pub item: ColumnRef,
    /// A number.
    #[serde(default)]
    pub rating: Option<ColumnRef>,
    /// A number that grows with time, in any unit, or a date such as 2024-05-01T12:30:00Z, 2024/05/01 12:30 or Wed May 01 12:30:00 +0000 2024.
    #[serde(default)]
    pub timestamp: Option<ColumnRef>,
}

/// Columns of interactions, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedColumns {
    /// The user's id.
    pub user: String,
    /// The item's id.
    pub item: String,
    /// A number.
    #[serde(default)]
    pub rating: Option<String>,
    /// A number, a timestamp or a date.
    #[serde(default)]
    pub timestamp: Option<String>,
}

/// Columns of interactions of which nothing but the ids is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdColumns {
    /// The user's id.
    pub user: ColumnRef,
    /// The item's id.
    pub item: ColumnRef,
}

impl Default for IdColumns {
    /// The first two.
    fn default() -> Self {
        Self { user: ColumnRef::Index(0), item: ColumnRef::Index(1) }
    }
}

impl From<NamedColumns> for Columns {
    fn from(NamedColumns { user, item, rating, timestamp }: NamedColumns) -> Self {
        Self::named(&user, &item, rating.as_deref(), timestamp.as_deref())
    }
}

impl From<IdColumns> for Columns {
    fn from(columns: IdColumns) -> Self {
        Self { user: columns.user, item: columns.item, rating: None, timestamp: None }
    }
}

impl Columns {
    /// Columns with these names.
    pub(crate) fn named(user: &str, item: &str, rating: Option<&str>, timestamp: Option<&str>) -> Self {
        let name = |name: &str| ColumnRef::Name(name.to_owned());
        Self { user: name(user), item: name(item), rating: rating.map(name), timestamp: timestamp.map(name) }
    }

    /// The columns by their names; by their indices as text where they have none.
    pub(crate) fn into_named(self) -> NamedColumns {
        let name = |column: ColumnRef| match column {
            ColumnRef::Name(name) => name,
            ColumnRef::Index(index) => index.to_string(),
        };
        let Self { user, item, rating, timestamp } = self;
        NamedColumns { user: name(user), item: name(item), rating: rating.map(name), timestamp: timestamp.map(name) }
    }

    /// Columns at these indices: user, item, rating, timestamp.
    pub(crate) fn first_four() -> Self {
        let [user, item, rating, timestamp] = [0, 1, 2, 3].map(ColumnRef::Index);
        Self { user, item, rating: Some(rating), timestamp: Some(timestamp) }
    }

    /// Names need a header, and no column serves twice.
    pub(crate) fn check(&self, header: bool) -> Result<()> {
        let all = [Some(&self.user), Some(&self.item), self.rating.as_ref(), self.timestamp.as_ref()];
        for (at, column) in all.iter().enumerate().filter_map(|(at, column)| Some((at, (*column)?))) {
            if let (ColumnRef::Name(name), false) = (column, header) {
                let name = quote::value(name);
                let reason = format!("`{name}` is a name, and `header` is false (expected indices from 0, or `header: true`)");
                return Err(Error::setting("source.columns", reason));
            }
            if all[..at].contains(&Some(column)) {
                return Err(Error::setting("source.columns", format!("{column} is given twice (expected one column for each)")));
            }
        }
        Ok(())
    }
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "column {index}"),
            Self::Name(name) => write!(f, "column `{}`", quote::value(name)),
        }
    }
}

impl<'de> Deserialize<'de> for ColumnRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ColumnRefVisitor;
        impl de::Visitor<'_> for ColumnRefVisitor {
            type Value = ColumnRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a column's name, or its index from 0")
            }

            fn visit_u64<E: de::Error>(self, index: u64) -> std::result::Result<ColumnRef, E> {
                usize::try_from(index).map(ColumnRef::Index).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(index), &self))
            }

            fn visit_i64<E: de::Error>(self, index: i64) -> std::result::Result<ColumnRef, E> {
                usize::try_from(index).map(ColumnRef::Index).map_err(|_| E::invalid_value(de::Unexpected::Signed(index), &self))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<ColumnRef, E> {
                Ok(ColumnRef::Name(name.to_owned()))
            }
        }
        deserializer.deserialize_any(ColumnRefVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_indices_are_read_and_written() {
        let text = r#"{"user":"u","item":1,"rating":null,"timestamp":"t"}"#;
        let columns: Columns = serde_json::from_str(text).unwrap();
        assert_eq!(columns, Columns { item: ColumnRef::Index(1), ..Columns::named("u", "", None, Some("t")) });
        assert_eq!(serde_json::to_string(&columns).unwrap(), text);
        let message = serde_json::from_str::<Columns>(r#"{"user": true, "item": 1}"#).unwrap_err().to_string();
        assert!(message.contains("a column's name, or its index from 0"), "{message}");
        assert!(serde_json::from_str::<Columns>(r#"{"user": 0, "item": 1, "ratings": 2}"#).unwrap_err().to_string().contains("ratings"));
    }

    #[test]
    fn impossible_columns() {
        let message = Columns::named("u", "i", None, None).check(false).unwrap_err().to_string();
        assert!(message.starts_with("`source.columns`: `u` is a name"), "{message}");
        let twice = Columns::named("u", "i", Some("i"), None).check(true).unwrap_err().to_string();
        assert!(twice.contains("column `i` is given twice"), "{twice}");
        Columns::first_four().check(false).unwrap();
    }
}
