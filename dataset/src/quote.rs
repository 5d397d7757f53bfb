//! Text from outside as messages show it: on one line, without what a terminal would obey, and no longer than a reader takes in.
//!
//! Control characters and those that turn the direction of writing are shown by their numbers: `\u{1b}` for an escape.

use crate::redact::redacted;
use serde::Serialize;
use std::borrow::Cow;

/// Characters of one quoted value, at most.
const VALUE: usize = 100;
/// Characters of a whole message, at most.
const LINE: usize = 1_600;
/// Characters that are kept of the end of a message that is cut, where the advice stands.
const END: usize = 400;
/// Names that are quoted of a list.
const NAMES: usize = 20;

/// One value, such as a key, an id or a number that is none: its characters that cannot be seen by their numbers, the rest after the first 100 cut.
pub fn value(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(VALUE) {
        Some((end, _)) => format!("{}… ({} characters)", visible(&text[..end]), text.chars().count()).into(),
        None => visible(text),
    }
}

/// A whole message: without secrets, its characters that cannot be seen by their numbers, and its middle cut where it is long.
pub fn line(message: &str) -> Cow<'_, str> {
    match redacted(message) {
        Cow::Borrowed(message) => cut(message),
        Cow::Owned(message) => cut(&message).into_owned().into(),
    }
}

fn cut(message: &str) -> Cow<'_, str> {
    let count = message.chars().count();
    if count <= LINE {
        return visible(message);
    }
    let at = |place: usize| message.char_indices().nth(place).map_or(message.len(), |(at, _)| at);
    let (start, end) = (&message[..at(LINE - END)], &message[at(count - END)..]);
    format!("{} … ({} characters left out) … {}", visible(start), count - LINE, visible(end)).into()
}

/// The name that a loss, a sampler or a model has in a sweep file, from its settings: `dns-mn`.
///
/// # Panics
/// For what is not stored as one key with its settings.
pub fn kind(settings: &impl Serialize) -> String {
    let settings = serde_json::to_value(settings).expect("settings are plain data");
    settings.as_object().and_then(|settings| settings.keys().next().cloned()).expect("a kind is a key with its settings")
}

/// Several values, each in backquotes: the first 20, and how many more there are.
pub fn names<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|name| format!("`{}`", value(name.as_ref()))).collect();
    let more = names.len().saturating_sub(NAMES);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// The text with its characters that cannot be seen by their numbers.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match is_hidden(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// Whether a terminal obeys a character in place of showing it, or shows what follows elsewhere.
pub fn is_hidden(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_a_line = matches!(letter, '\u{2028}' | '\u{2029}');
    letter.is_control() || turns || ends_a_line || matches!(letter, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(value("\x1b[31mred\x07\u{9b}2J\u{202e}txt\r\n\t"), "\\u{1b}[31mred\\u{7}\\u{9b}2J\\u{202e}txt\\r\\n\\t");
        assert_eq!(value("Crème brûlée, 東京 \\ \u{200d}"), "Crème brûlée, 東京 \\ \u{200d}");
    }

    #[test]
    fn long_values_are_cut_and_counted() {
        let long = value(&"é".repeat(10_000_000)).into_owned();
        assert_eq!(long, format!("{}… (10000000 characters)", "é".repeat(100)));
        assert_eq!(value(&"x".repeat(100)), "x".repeat(100));
    }

    #[test]
    fn a_long_message_keeps_its_start_and_its_advice() {
        let message = line(&format!("a.csv line 3: {}\x1b; correct the row", "x".repeat(5_000))).into_owned();
        assert!(message.starts_with("a.csv line 3: xxx") && message.ends_with("x\\u{1b}; correct the row"), "{message}");
        assert!(message.contains(" characters left out) … ") && message.chars().count() < 1_700, "{message}");
    }

    #[test]
    fn of_many_names_some_are_listed() {
        assert_eq!(names(&["a", "b\x1b"]), "`a`, `b\\u{1b}`");
        let many: Vec<String> = (0..1_000).map(|name| name.to_string()).collect();
        assert!(names(&many).ends_with("`18`, `19` and 980 more"));
        assert_eq!(names::<&str>(&[]), "");
    }
}
