//! How much is held out as the last of all interactions: a share of them, or what happens from a moment on.

use super::ratio::Ratio;
use crate::{Error, Result, source::time};
use dataset::quote;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// `0.2`, or `2024-05-01`.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Last {
    /// A share of the interactions.
    Share(f64),
    /// All interactions from a moment on: a date of ISO 8601, which is that many seconds since 1970, or a number in the source's own unit.
    From(String),
}

impl Default for Last {
    /// Nothing.
    fn default() -> Self {
        Self::Share(0.0)
    }
}

impl Last {
    /// Whether nothing is held out for sure.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the value can be used.
    pub(super) fn check(&self, key: &'static str) -> Result<()> {
        match self {
            Self::Share(share) => Ratio::new(key, *share).map(|_| ()),
            Self::From(_) => self.moment(key).map(|_| ()),
        }
    }

    /// The moment, where it is one.
    pub(super) fn moment(&self, key: &'static str) -> Result<Option<f64>> {
        let Self::From(text) = self else { return Ok(None) };
        match time::parse(text).filter(|moment| moment.is_finite()) {
            Some(moment) => Ok(Some(moment)),
            None => {
                let reason = format!("`{}` is no moment (expected a date such as 2024-05-01 or 2024-05-01T12:30:00Z)", quote::value(text));
                Err(Error::setting(key, reason))
            }
        }
    }

    fn is_date(&self) -> bool {
        matches!(self, Self::From(text) if text.trim_ascii().parse::<f64>().is_err())
    }

    /// Another moment in the way in which this one is written: as a date, or as a number in the source's own unit.
    fn written(&self, moment: f64) -> String {
        self.is_date().then(|| time::date(moment)).flatten().unwrap_or_else(|| moment.to_string())
    }

    /// What is said where a date is set beside times that are hardly in seconds: those before 1973, and of the year 5138 and later.
    fn unit(&self, moment: f64) -> &'static str {
        match moment.abs() {
            _ if !self.is_date() => "",
            1e8..=1e11 => "",
            1e11.. => "; the source's times look like milliseconds: give the moment as such a number",
            _ => "; the source's times do not look like seconds since 1970: give the moment as a number like theirs",
        }
    }

    /// The error of a moment at which a part begins, and before which no interaction is.
    pub(super) fn too_early(&self, key: &'static str, first: f64) -> Error {
        let (first, unit) = (self.written(first), self.unit(first));
        let reason = format!("no interaction is before `{self}`, the first is at {first} (expected a later moment, or a share{unit})");
        Error::setting(key, reason)
    }

    /// The error of a moment at which a part begins, and from which on no interaction is.
    pub(super) fn too_late(&self, key: &'static str, last: f64) -> Error {
        let (last, unit) = (self.written(last), self.unit(last));
        let reason = format!("no interaction is from `{self}` on, the last is at {last} (expected an earlier moment, or a share{unit})");
        Error::setting(key, reason)
    }
}

impl fmt::Display for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(f, "{share}"),
            Self::From(text) => f.write_str(&quote::value(text)),
        }
    }
}

impl<'de> Deserialize<'de> for Last {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct LastVisitor;
        impl de::Visitor<'_> for LastVisitor {
            type Value = Last;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share such as 0.2, or a date such as 2024-05-01")
            }

            /// A number that is no slip for a share is a moment in the source's own unit: of 2 and more, and of -2 and less.
            fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Last, E> {
                Ok(if number.abs() < 2.0 { Last::Share(number) } else { Last::From(number.to_string()) })
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Last, E> {
                if number < 2 { self.visit_f64(number as f64) } else { Ok(Last::From(number.to_string())) }
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Last, E> {
                if number > -2 { self.visit_f64(number as f64) } else { Ok(Last::From(number.to_string())) }
            }

            fn visit_str<E: de::Error>(self, moment: &str) -> std::result::Result<Last, E> {
                Ok(Last::From(moment.to_owned()))
            }
        }
        deserializer.deserialize_any(LastVisitor)
    }
}
