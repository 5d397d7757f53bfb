//! What a source holds, in words: its format, its size, and its first rows as they are understood. `init` and `plan` show it.

use crate::number::{count, counted};
use chrono::DateTime;
use pipeline::{Interaction, Preview, Source};

/// What was found in a source, line by line; `subject` begins the first one.
pub(crate) fn lines(subject: &str, source: &Source, preview: &Preview) -> Vec<String> {
    let Preview { rows, seen, is_whole, users, items, ratings, times, first } = preview;
    let mut held = format!("{}, {}", counted(*users, "user"), counted(*items, "item"));
    if let Some((least, most)) = ratings {
        held += &format!(", ratings from {least} to {most}");
    }
    if let Some((first, last)) = times {
        held += &format!(", times from {} to {}", day(*first), day(*last));
    }
    let (about, which) = match (is_whole, *rows > *seen as u64) {
        (true, _) => ("", "all"),
        (false, true) => ("about ", "the first"),
        (false, false) => ("more than ", "the first"),
    };
    let mut lines = vec![
        format!("{subject} is read as {}, and has {about}{}.", source.words(), counted(*rows as usize, "row")),
        format!("In {which} {} rows: {held}.", count(*seen)),
        "The first ones, as they are understood:".to_owned(),
    ];
    lines.extend(first.iter().map(|interaction| format!("    {}", shown(interaction))));
    lines
}

fn shown(Interaction { user, item, rating, time }: &Interaction) -> String {
    let mut text = format!("user {}, item {}", dataset::quote::value(user), dataset::quote::value(item));
    if let Some(rating) = rating {
        text += &format!(", rating {rating}");
    }
    if let Some(time) = time {
        text += &format!(", time {}", day(*time));
    }
    text
}

/// The day of a time, where it may be one in seconds or milliseconds since 1970; else the number.
fn day(time: f64) -> String {
    let seconds = if time.abs() >= 1e11 { time / 1e3 } else { time };
    let is_time = (1e8..1e11).contains(&seconds);
    let date = is_time.then(|| DateTime::from_timestamp(seconds as i64, 0)).flatten();
    date.map_or_else(|| time.to_string(), |date| date.date_naive().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_seconds_and_milliseconds_are_days() {
        assert_eq!([978_300_760.0, 1_252_800_000_000.0, 17.0].map(day), ["2000-12-31", "2009-09-13", "17"]);
    }
}
