//! Output of a command: its result, as text.

use super::Usage;
use anyhow::Context;
use dataset::{Location, quote};
use std::{
    borrow::Cow,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

/// Writes a text to standard error, where standard output is taken.
pub(super) fn print_aside(text: &str) -> anyhow::Result<()> {
    io::stderr().lock().write_all(shown(text).as_bytes()).context("cannot write to standard error")
}

/// Writes a text, in which what a terminal would obey is visible, colours aside; a reader that went away (`| head`) is no error.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    print_exact(&shown(text))
}

/// Writes a text as [`print`] does, and says whether anybody reads it still: for output that goes on.
pub(super) fn print_on(text: &str) -> anyhow::Result<bool> {
    written(&shown(text))
}

/// Writes a text as it is, for programs: JSON, YAML.
pub(super) fn print_exact(text: &str) -> anyhow::Result<()> {
    written(text).map(drop)
}

/// Whether the text came through; `false` where the reader went away.
fn written(text: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("cannot write the result to standard output"),
    }
}

/// The text with its hidden characters by their numbers, but for line ends, tabs and colours.
fn shown(text: &str) -> Cow<'_, str> {
    let is_left = |letter: char| matches!(letter, '\n' | '\t');
    if !text.contains(|letter| quote::is_hidden(letter) && !is_left(letter)) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        match quote::is_hidden(letter) && !is_left(letter) && !is_color(&text[at..]) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// Whether a text begins with a colour: an escape, `[`, numbers and `m`.
fn is_color(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\x1b[") else { return false };
    rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';').starts_with('m')
}

/// Whether a file that is to be written is standard output itself, whose bytes must have no text among them.
pub(super) fn is_stdout(at: &Location) -> bool {
    let identity = |path: PathBuf| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    let found = at.local_path().and_then(identity);
    found.is_some() && found == identity("/dev/stdout".into())
}

/// Where a table goes that is written as Parquet, by a flag.
///
/// # Errors
/// [`Usage`] for no place, and for a name with the suffix of another format.
pub(super) fn parquet(flag: &str, url: &str) -> Result<Location, Usage> {
    const OTHERS: [&str; 9] = ["csv", "tsv", "json", "jsonl", "md", "tex", "html", "txt", "xlsx"];
    let at = Location::parse(url).map_err(|error| Usage(format!("{flag}: {error}")))?;
    match at.name().rsplit_once('.') {
        Some((_, suffix)) if OTHERS.contains(&suffix) => Err(Usage(format!(
            "{flag}: the table is written as Parquet, and {} has the suffix of another format; name it .parquet",
            quote::value(url)
        ))),
        _ => Ok(at),
    }
}

/// Bytes in the unit that suits them.
pub(super) fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// Columns of the terminal; `None` where standard output is none.
pub(super) fn width() -> Option<u16> {
    let term = console::Term::stdout();
    term.is_term().then(|| term.size().1)
}

/// Whether standard output shows colours.
pub(super) fn is_colored() -> bool {
    console::colors_enabled()
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn colours_and_lines_stay_and_the_rest_is_visible() {
        let colored = "\x1b[1;32mbpr\x1b[0m\t0.5\nnext é\n";
        assert_eq!(shown(colored), colored);
        assert_eq!(shown("\x1b[2J\x1b]0;title\x07a\u{202e}b\r\n"), "\\u{1b}[2J\\u{1b}]0;title\\u{7}a\\u{202e}b\\r\n");
    }
}
