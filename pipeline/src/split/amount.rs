//! How many of a user's interactions are held out: so many, or a share of them.

use super::ratio::Ratio;
use crate::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// `2`, or `0.2`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Amount {
    /// So many, of users who have more.
    Count(usize),
    /// A share below 1, rounded down.
    Share(f64),
}

impl Default for Amount {
    /// Nothing.
    fn default() -> Self {
        Self::Count(0)
    }
}

impl Amount {
    /// Whether nothing is held out.
    pub(super) fn is_nothing(self) -> bool {
        matches!(self, Self::Count(0) | Self::Share(0.0))
    }

    /// Whether the value can be used.
    ///
    /// # Errors
    /// [`Error::Setting`] for a share that is none.
    pub(super) fn check(self, key: &'static str) -> Result<()> {
        match self {
            Self::Count(_) => Ok(()),
            Self::Share(share) => Ratio::new(key, share).map(|_| ()).map_err(|_| {
                Error::setting(
                    key,
                    format!("{share:?} is neither a whole number of a user's interactions, as 2, nor a share of them, as 0.2"),
                )
            }),
        }
    }

    /// How many of so many interactions these are; none where that would leave nothing, or fewer than there are to hold out.
    pub(super) fn of(self, interactions: usize) -> Option<usize> {
        match self {
            Self::Count(count) => (interactions > count).then_some(count),
            Self::Share(share) => Ratio::new("split.test", share).ok().map(|share| share.of(interactions)),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct AmountVisitor;
        impl de::Visitor<'_> for AmountVisitor {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of a user's interactions, such as 2, or a share of them, such as 0.2")
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> std::result::Result<Amount, E> {
                usize::try_from(count).map(Amount::Count).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(count), &self))
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> std::result::Result<Amount, E> {
                u64::try_from(count)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(count), &self))
                    .and_then(|count| self.visit_u64(count))
            }

            fn visit_f64<E: de::Error>(self, share: f64) -> std::result::Result<Amount, E> {
                Ok(Amount::Share(share))
            }
        }
        deserializer.deserialize_any(AmountVisitor)
    }
}
