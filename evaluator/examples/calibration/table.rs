//! Markdown, with marks at what is outside of its target.

use crate::simulated::Rate;
use std::{io, io::Write};

/// The range that a rate should lie in.
pub(crate) struct Target {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Target {
    /// The rate in three digits; `!` outside of the range, `!!` by more than two standard errors.
    pub(crate) fn cell(&self, rate: Rate) -> String {
        let value = rate.value();
        let (beyond, bound) = if value > self.high { (value - self.high, self.high) } else { (self.low - value, self.low) };
        let mark = match beyond {
            beyond if beyond <= 0.0 => "",
            beyond if beyond <= 2.0 * rate.standard_error_at(bound) => " !",
            _ => " !!",
        };
        format!("{value:.3}{mark}")
    }
}

/// The rate in three digits, of what has no target.
pub(crate) fn cell(rate: Rate) -> String {
    format!("{:.3}", rate.value())
}

/// Writes the heads of the columns.
pub(crate) fn head(columns: &[&str], out: &mut impl Write) -> io::Result<()> {
    row(columns, out)?;
    writeln!(out, "|{}", "---|".repeat(columns.len()))
}

/// Writes a row, at once: rows take long.
pub(crate) fn row<T: AsRef<str>>(cells: &[T], out: &mut impl Write) -> io::Result<()> {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    writeln!(out, "| {} |", cells.join(" | "))?;
    out.flush()
}
