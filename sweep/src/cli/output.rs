//! What a command says on standard output: its result, as text.

use anyhow::Context;
use dataset::Location;
use std::{
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

/// Writes a text to standard error, where standard output is taken.
pub(super) fn print_aside(text: &str) -> anyhow::Result<()> {
    io::stderr().lock().write_all(text.as_bytes()).context("cannot write to standard error")
}

/// Writes a text; a reader that went away (`| head`) is no error.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write the result to standard output"),
        _ => Ok(()),
    }
}

/// Whether a file that is to be written is standard output itself, whose bytes must have no text among them.
pub(super) fn is_stdout(at: &Location) -> bool {
    let identity = |path: PathBuf| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    let found = at.local_path().and_then(identity);
    found.is_some() && found == identity("/dev/stdout".into())
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
