//! Logs beside results: events for a log reader, lines for a person.

use clap::ValueEnum;
use dataset::quote;
use std::io::{self, Write};

/// How events are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line of text for each event.
    Text,
    /// One JSON object for each event.
    Json,
}

/// Says what is wrong. A log reader gets an event, a person a line. Where even that cannot be written, the exit code is left to tell.
pub(crate) fn complain(format: LogFormat, message: &str) {
    let message = quote::line(message.trim_end());
    match format {
        LogFormat::Json => tracing::error!("{message}"),
        LogFormat::Text => drop(writeln!(io::stderr(), "error: {message}")),
    }
}

/// Says a last word when nothing is wrong.
pub(crate) fn say(format: LogFormat, message: &str) {
    let message = quote::line(message.trim_end());
    match format {
        LogFormat::Json => tracing::warn!("{message}"),
        LogFormat::Text => drop(writeln!(io::stderr(), "{message}")),
    }
}
