//! `margin`: the size of a difference that matters.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt};

/// Differences up to it do not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// A margin in units of the metric: `0.002`.
    Absolute(f64),
    /// A share of the size of the mean of the two methods' means: `1%` is 0.01.
    Relative(f64),
}

impl Margin {
    /// The margin in units of the metric, for two methods with these means.
    pub fn of(self, mean_a: f64, mean_b: f64) -> f64 {
        match self {
            Self::Absolute(margin) => margin,
            Self::Relative(share) => share * ((mean_a + mean_b) / 2.0).abs(),
        }
    }

    /// A margin from its text, `1%` or `0.002`.
    ///
    /// # Errors
    /// A text that is no positive number or share, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("expected a margin such as 1% (of the mean) or 0.002 (in units of the metric), found `{text}`");
        let (digits, scale, margin): (_, f64, fn(f64) -> Self) = match text.strip_suffix('%') {
            Some(digits) => (digits, 100.0, Self::Relative),
            None => (text, 1.0, Self::Absolute),
        };
        let value = digits.trim().parse::<f64>().map_err(|_| expected())? / scale;
        if value > 0.0 && value < 1.0 { Ok(margin(value)) } else { Err(expected()) }
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(margin) => write!(f, "{margin}"),
            Self::Relative(share) => write!(f, "{}%", (share * 1e8).round() / 1e6),
        }
    }
}

impl Serialize for Margin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Margin {
    fn schema_name() -> Cow<'static, str> {
        "Margin".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let share = json_schema!({"type": "string", "pattern": "^[0-9.eE+-]+ *%?$"});
        json_schema!({
            "description": "Differences up to it do not matter: `1%` of the mean, or `0.002` in units of the metric.",
            "anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, share]
        })
    }
}

impl<'de> Deserialize<'de> for Margin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MarginVisitor;
        impl de::Visitor<'_> for MarginVisitor {
            type Value = Margin;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a margin such as 1% (of the mean) or 0.002 (in units of the metric)")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Margin, E> {
                Margin::parse(text).map_err(E::custom)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Margin, E> {
                self.visit_str(&number.to_string())
            }
        }
        deserializer.deserialize_any(MarginVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_the_mean_of_both() {
        assert_eq!(Margin::parse("1%"), Ok(Margin::Relative(0.01)));
        assert_eq!(Margin::parse("0.002"), Ok(Margin::Absolute(0.002)));
        assert!((Margin::Relative(0.01).of(0.3, 0.2) - 0.0025).abs() < 1e-15);
        assert_eq!(Margin::Absolute(0.002).of(0.3, 0.2), 0.002);
        assert!((Margin::Relative(0.01).of(-0.3, -0.2) - 0.0025).abs() < 1e-15); // of a metric that is negative
    }

    #[test]
    fn what_is_written_is_read() {
        for margin in [Margin::Relative(0.015), Margin::Relative(0.07), Margin::Absolute(0.001)] {
            let text = serde_json::to_string(&margin).unwrap();
            assert_eq!(serde_json::from_str::<Margin>(&text).unwrap(), margin, "{text}");
        }
    }

    #[test]
    fn what_is_no_margin_is_refused() {
        for text in ["0", "-1%", "100%", "one", "", "%", "nan", "1"] {
            assert!(Margin::parse(text).unwrap_err().contains("expected a margin such as 1%"), "{text}");
        }
    }
}
