//! JSON lines: an object on each line, as Amazon's reviews come.
//!
//! ```text
//! {"user_id": "A2SUAM1J3GNN3B", "parent_asin": "0005019281", "rating": 5.0, "timestamp": 1252800000000, "text": "…"}
//! ```
//! Ids are texts or whole numbers. Ratings are numbers, also as texts; timestamps are numbers or dates of ISO 8601. Other keys are not looked at.

use super::{
    Has, SourceKind,
    beginning::Beginning,
    blocks::{Block, Blocks},
    columns::{Columns, NamedColumns},
    files, parallel, roles,
    row::{Rejected, Row, Sink, Sinks},
    several::Several,
    text::OnBadRow,
    time,
};
use crate::{Error, Result};
use dataset::{Location, Split, quote};
use serde::{
    Deserialize, Serialize,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use std::{borrow::Cow, fmt};

/// What no line of JSON holds, so that no block is cut by quotes.
const SEPARATOR: &str = "\u{1f}";

/// `json-lines` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonLines {
    /// The file, a folder with `/` at its end, or a pattern.
    pub path: String,
    /// Which keys hold what.
    pub columns: NamedColumns,
    /// What to do with a row that cannot be used.
    #[serde(default)]
    pub on_bad_row: OnBadRow,
}

impl SourceKind for JsonLines {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        vec![("source.path", Split::Train, &self.path)]
    }

    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        let Some(object) =
            beginning.first_line().and_then(|line| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).ok())
        else {
            return Ok(None);
        };
        let keys: Vec<String> = object.into_iter().map(|(key, _)| key).collect();
        let columns = roles::by_name(beginning.at.name(), &keys, &beginning.known)?;
        Ok(Some(Self { path: beginning.path.clone(), columns: columns.into_named(), on_bad_row: OnBadRow::default() }))
    }

    fn ratings(&self) -> Has {
        Has::from(self.columns.rating.is_some())
    }

    fn timestamps(&self) -> Has {
        Has::from(self.columns.timestamp.is_some())
    }

    fn skips(&self) -> bool {
        self.on_bad_row == OnBadRow::Skip
    }

    fn skip_bad_rows(&mut self) -> bool {
        self.on_bad_row = OnBadRow::Skip;
        true
    }

    fn check(&self) -> Result<()> {
        Columns::from(self.columns.clone()).check(true)
    }

    fn read(&self, _part: Split, sinks: &dyn Sinks) -> Result<()> {
        let files = files::all("source.path", &self.path)?;
        Several::of(&files, sinks).read(|at, sinks| self.read_file(at, sinks))
    }
}

impl JsonLines {
    fn read_file(&self, at: &Location, sinks: &dyn Sinks) -> Result<()> {
        let (mut blocks, mut block) = (Blocks::open(at, SEPARATOR)?, Block::default());
        if !blocks.next(&mut block)? {
            return Ok(());
        }
        parallel::read(blocks, block, sinks, &|block, sink, reject| self.block(at, block, sink, reject))
    }

    fn block(&self, at: &Location, block: &Block, sink: &mut dyn Sink, reject: parallel::Reject<'_>) -> Result<()> {
        for (line, raw) in (block.line..).zip(block.text.split(|&byte| byte == b'\n')) {
            let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
            if raw.trim_ascii().is_empty() {
                continue;
            }
            match self.found(raw).and_then(|found| self.give(&found, sink)) {
                Ok(given) => given?,
                Err(reason) => match (self.on_bad_row, with_keys(reason, raw)) {
                    (OnBadRow::Skip, reason) => reject(Rejected { unit: "line", number: line, reason: &reason, raw })?,
                    (OnBadRow::Error, reason) => {
                        let what = if reason.starts_with(MISSING) { "`columns` or the row" } else { "the row" };
                        return Err(Error::line(at, line, format!("{reason}; correct {what}, or set `on_bad_row: skip`")));
                    }
                },
            }
        }
        Ok(())
    }

    /// The values of a line.
    fn found<'a>(&self, raw: &'a [u8]) -> Result<[Value<'a>; 4], String> {
        let mut json = serde_json::Deserializer::from_slice(raw);
        let found = Keys(&self.columns).deserialize(&mut json).and_then(|found| json.end().map(|()| found));
        found.map_err(|error| {
            let words = error.to_string();
            format!("it is no object of JSON: {}", words.split(" at line ").next().unwrap_or(&words))
        })
    }

    /// Gives a row, or says why it is none.
    fn give(&self, [user, item, rating, timestamp]: &[Value<'_>; 4], sink: &mut dyn Sink) -> Result<Result<()>, String> {
        let columns = &self.columns;
        let number = |value: &Value<'_>, key: &Option<String>| key.as_ref().map(|key| value.number(key)).transpose();
        let time = |value: &Value<'_>, key: &Option<String>| key.as_ref().map(|key| value.time(key)).transpose();
        let (user, item) = (user.id(&columns.user)?, item.id(&columns.item)?);
        let (rating, time) = (number(rating, &columns.rating)?, time(timestamp, &columns.timestamp)?);
        Ok(sink.row(Row { user: &user, item: &item, rating, time }))
    }
}

/// How the reason begins where a key is missing.
const MISSING: &str = "no key";

/// The reason, and where a key is missing those that the line has.
fn with_keys(reason: String, raw: &[u8]) -> String {
    if !reason.starts_with(MISSING) {
        return reason;
    }
    match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(raw) {
        Ok(object) => format!("{reason}; the line has {}", quote::names(&object.into_iter().map(|(key, _)| key).collect::<Vec<_>>())),
        Err(_) => reason,
    }
}

/// The value of a key that is looked for.
#[derive(Clone, Debug, Default, PartialEq)]
enum Value<'a> {
    #[default]
    Missing,
    Text(Cow<'a, str>),
    Whole(i128),
    Number(f64),
    /// Null, a truth value, a list or an object.
    Other,
}

impl Value<'_> {
    fn id(&self, key: &str) -> Result<Cow<'_, str>, String> {
        match self {
            Self::Text(text) if !text.trim_ascii().is_empty() => Ok(Cow::Borrowed(text)),
            Self::Whole(number) => Ok(Cow::Owned(number.to_string())),
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(53) => Ok(Cow::Owned((*number as i64).to_string())),
            Self::Missing => Err(format!("{MISSING} `{}`", quote::value(key))),
            Self::Text(_) => Err(format!("`{}` is empty (expected an id)", quote::value(key))),
            Self::Number(number) if number.fract() == 0.0 => Err(format!(
                "`{}` is {number:e}, which may not be exact (expected a text, or a whole number below 2^64 without exponent)",
                quote::value(key)
            )),
            Self::Number(number) => Err(format!("`{}` is {number} (expected a text or a whole number)", quote::value(key))),
            Self::Other => Err(format!("`{}` is no id (expected a text or a whole number)", quote::value(key))),
        }
    }

    fn number(&self, key: &str) -> Result<f64, String> {
        self.as_number(key, "a number", |text| text.trim_ascii().parse().ok())
    }

    fn time(&self, key: &str) -> Result<f64, String> {
        self.as_number(key, "a number, or a date such as 2024-05-01T12:30:00Z", time::parse)
    }

    fn as_number(&self, key: &str, expected: &str, parse: impl Fn(&str) -> Option<f64>) -> Result<f64, String> {
        let found = match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Text(text) => parse(text),
            Self::Missing => return Err(format!("{MISSING} `{}`", quote::value(key))),
            Self::Other => None,
        };
        found.filter(|number| number.is_finite()).ok_or_else(|| {
            let shown = if let Self::Text(text) = self { format!("is `{}`", quote::value(text)) } else { "is none".to_owned() };
            format!("`{}` {shown} (expected {expected})", quote::value(key))
        })
    }
}

/// Takes the values of these keys out of an object: user, item, rating, timestamp. Of a key that stands twice, the last.
struct Keys<'k>(&'k NamedColumns);

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = [Value<'de>; 4];

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = [Value<'de>; 4];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let NamedColumns { user, item, rating, timestamp } = self.0;
        let wanted = [Some(user), Some(item), rating.as_ref(), timestamp.as_ref()];
        let mut found = <[Value<'de>; 4]>::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match wanted.iter().position(|wanted| wanted.is_some_and(|wanted| *wanted == key)) {
                Some(place) => found[place] = map.next_value()?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Value<'de>, E> {
                Ok(Value::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Value<'de>, E> {
                Ok(Value::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value<'de>, E> {
                Ok(Value::Whole(number.into()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value<'de>, E> {
                Ok(Value::Whole(number.into()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value<'de>, E> {
                Ok(Value::Number(number))
            }

            fn visit_bool<E: de::Error>(self, _: bool) -> Result<Value<'de>, E> {
                Ok(Value::Other)
            }

            fn visit_unit<E: de::Error>(self) -> Result<Value<'de>, E> {
                Ok(Value::Other)
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{failure, pair, read, source, stored};
    use dataset::Split;
    use serde_json::{Value, json};

    fn from(name: &str, content: &str, more: Value) -> crate::Source {
        let columns = json!({"user": "user", "item": "asin", "rating": "stars", "timestamp": "when"});
        let mut settings = json!({"path": stored(name, content), "columns": columns});
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        source(json!({"json-lines": settings}))
    }

    #[test]
    fn values_of_all_forms() {
        let content = concat!(
            "{\"user\": \"a\\u00fc\\\"b\\\"\", \"asin\": 7, \"stars\": \"4.5\", \"when\": \"2024-05-01T12:30:15Z\", \"text\": {\"user\": [1, \"x\"]}}\r\n",
            "\n",
            " {\"when\": 12.5, \"stars\": 5, \"asin\": 8.0, \"user\": \"first\", \"user\": \"u\"}",
        );
        let rows = read(&from("forms.jsonl", content, json!({})), Split::Train).unwrap().rows;
        let expected = [("aü\"b\"".into(), "7".into(), Some(4.5), Some(1_714_566_615.0)), ("u".into(), "8".into(), Some(5.0), Some(12.5))];
        assert_eq!(rows, expected);
        let ids = from("ids.jsonl", "{\"user\": 18446744073709551615, \"asin\": -1}", json!({"columns": {"user": "user", "item": "asin"}}));
        assert_eq!(read(&ids, Split::Train).unwrap().rows, [pair("18446744073709551615", "-1")]);
    }

    #[test]
    fn bad_rows_are_named_or_skipped() {
        let good = "{\"user\": \"u\", \"asin\": \"i\", \"stars\": 4, \"when\": 1}\n";
        let cases = [
            ("[1, 2]", "it is no object of JSON: invalid type: sequence, expected an object"),
            ("{\"user\": \"u\"", "it is no object of JSON: EOF while parsing"),
            ("{\"user\": \"u\", \"asin\": \"i\", \"stars\": 4, \"when\": 1} x", "trailing characters"),
            ("{\"user\": \"u\", \"stars\": 4, \"when\": 1}", "no key `asin`"),
            ("{\"user\": null, \"asin\": \"i\", \"stars\": 4, \"when\": 1}", "`user` is no id (expected a text or a whole number)"),
            ("{\"user\": 1.5, \"asin\": \"i\", \"stars\": 4, \"when\": 1}", "`user` is 1.5"),
            ("{\"user\": \" \", \"asin\": \"i\", \"stars\": 4, \"when\": 1}", "`user` is empty"),
            ("{\"user\": \"u\", \"asin\": \"i\", \"stars\": \"good\", \"when\": 1}", "`stars` is `good` (expected a number)"),
            ("{\"user\": \"u\", \"asin\": \"i\", \"stars\": 1, \"when\": \"NaN\"}", "`when` is `NaN` (expected a number, or a date"),
        ];
        for (row, expected) in cases {
            let content = format!("{good}\n{row}\n{good}");
            let message = failure(&from("bad.jsonl", &content, json!({})));
            assert!(message.contains("bad.jsonl line 3: ") && message.contains(expected), "{message}");
            let kept = read(&from("skip.jsonl", &content, json!({"on_bad_row": "skip"})), Split::Train).unwrap();
            assert_eq!((kept.rows.len(), kept.rejected[0].0, &kept.rejected[0].2[..]), (2, 3, row.as_bytes()));
        }
    }

    #[test]
    fn lines_are_right_in_every_block() {
        let row = |n: usize| {
            format!("{{\"text\": \"{}\", \"user\": \"u{n}\", \"asin\": {n}, \"stars\": 1, \"when\": {n}}}\n", "\\\"x, ".repeat(n % 9))
        };
        let content: String = (0..20_000).map(row).collect();
        let mut rows = read(&from("blocks.jsonl", &content, json!({})), Split::Train).unwrap().rows;
        rows.sort_by(|one, other| one.3.partial_cmp(&other.3).unwrap());
        assert!(rows.iter().enumerate().all(|(n, row)| row.0 == format!("u{n}") && row.1 == n.to_string()));
        assert_eq!(rows.len(), 20_000);
        let message = failure(&from("late.jsonl", &format!("{content}{{}}\n"), json!({})));
        assert!(message.contains("late.jsonl line 20001: no key `user`"), "{message}");
    }
}
