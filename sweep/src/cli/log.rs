//! Where log lines go: to standard error, without what no message shows.

use dataset::redact::redacted;
use std::io::{self, Write};

/// Standard error, one line at a time.
pub(super) struct Lines(io::Stderr);

impl Lines {
    /// The output for one event.
    pub(super) fn new() -> Self {
        Self(io::stderr())
    }
}

impl Write for Lines {
    /// Takes a whole line, as the log's layer gives it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(redacted(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
