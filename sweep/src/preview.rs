//! What a source holds, in words: its format, its size, and its first rows as they are understood. `init` and `plan` show it.

use crate::number::{count, counted};
use chrono::DateTime;
use pipeline::{Interaction, Preview, Source};

/// What was found in a source, line by line; `subject` begins the first one.
pub(crate) fn lines(subject: &str, source: &Source, preview: &Preview) -> Vec<String> {
    let Preview { rows, seen, is_whole, users, items, ratings, times, first, rejected, first_rejected, padded, .. } = preview;
    let unit = times.map_or(Unit::Seconds, Unit::of);
    let mut held = format!("{}, {}", counted(*users, "user"), counted(*items, "item"));
    if let Some((least, most)) = ratings {
        held += &format!(", ratings from {least} to {most}");
    }
    if let Some((first, last)) = times {
        held += &format!(", times {}from {} to {}", unit.words(), unit.shown(*first), unit.shown(*last));
    }
    let (about, which) = match (is_whole, *rows > *seen as u64) {
        (true, _) => ("", "all"),
        (false, true) => ("about ", "the first"),
        (false, false) => ("more than ", "the first"),
    };
    let mut lines = vec![
        format!(
            "{subject} is read as {}, and {} {about}{}.",
            source.words(),
            if source.is_split() { "its train part has" } else { "has" },
            counted(*rows as usize, "row")
        ),
        format!("In {which} {} rows: {held}.", count(*seen)),
    ];
    if let Some(first) = first_rejected {
        let (all, were) = (counted(*seen + *rejected, "row"), if *rejected == 1 { "was" } else { "were" });
        lines.push(format!("{} of the first {all} cannot be read, and {were} left out; the first at {first}.", count(*rejected)));
    }
    if *padded > 0 {
        let rows = if *padded == 1 { "1 row has blanks".to_owned() } else { format!("{} rows have blanks", count(*padded)) };
        lines.push(format!("{rows} before or behind an id, which are part of it: `u1 ` is another user than `u1`."));
    }
    lines.push("The first ones, as they are understood:".to_owned());
    lines.extend(first.iter().map(|interaction| format!("    {}", shown(interaction, unit))));
    if unit == Unit::Mixed {
        let remark = "Some times look like seconds since 1970 and others like milliseconds: nothing tells them apart later. Bring them to one unit first.";
        lines.push(remark.to_owned());
    }
    lines
}

fn shown(Interaction { user, item, rating, time }: &Interaction, unit: Unit) -> String {
    let mut text = format!("user {}, item {}", dataset::quote::value(user), dataset::quote::value(item));
    if let Some(rating) = rating {
        text += &format!(", rating {rating}");
    }
    if let Some(time) = time {
        text += &format!(", time {}", unit.shown(*time));
    }
    text
}

/// The unit of times since 1970, as far as their range tells it. Nothing is converted by it: the moments of a split are in the source's own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Seconds,
    Milliseconds,
    /// Both.
    Mixed,
    /// Smaller or larger numbers, such as places in an order.
    Unknown,
}

impl Unit {
    /// That of times of this range.
    fn of((first, last): (f64, f64)) -> Self {
        let is = |seconds: f64| (1e8..1e11).contains(&seconds);
        match [first, last].map(|time| (is(time), is(time / 1e3))) {
            [(true, _), (true, _)] => Self::Seconds,
            [(_, true), (_, true)] => Self::Milliseconds,
            [(true, _), (_, true)] => Self::Mixed,
            _ => Self::Unknown,
        }
    }

    /// In words before a range; nothing of seconds, which dates of a split are.
    fn words(self) -> &'static str {
        match self {
            Self::Milliseconds => "in milliseconds (give moments of a split as such numbers) ",
            Self::Seconds | Self::Mixed | Self::Unknown => "",
        }
    }

    /// The day of a time, where the unit is known; else the number.
    fn shown(self, time: f64) -> String {
        let seconds = match self {
            Self::Seconds => Some(time),
            Self::Milliseconds => Some(time / 1e3),
            Self::Mixed | Self::Unknown => None,
        };
        let date = seconds.and_then(|seconds| DateTime::from_timestamp(seconds as i64, 0));
        date.map_or_else(|| time.to_string(), |date| date.date_naive().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_one_unit_are_days() {
        let shown = |first, last| {
            let unit = Unit::of((first, last));
            (unit, [first, last].map(|time| unit.shown(time)).join(" "))
        };
        assert_eq!(shown(978_300_760.0, 1_252_800_000.0), (Unit::Seconds, "2000-12-31 2009-09-13".to_owned()));
        assert_eq!(shown(978_300_760_000.0, 1_252_800_000_000.0), (Unit::Milliseconds, "2000-12-31 2009-09-13".to_owned()));
        assert_eq!(shown(978_300_760.0, 1_252_800_000_000.0), (Unit::Mixed, "978300760 1252800000000".to_owned()));
        assert_eq!(shown(0.0, 1_252_800_000.0), (Unit::Unknown, "0 1252800000".to_owned()));
    }
}
