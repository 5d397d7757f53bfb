//! Comma- or tab-separated values with a header.

use super::{super::Content, Entry, Gathered, places};
use dataset::quote;

/// Reads comma-separated values.
pub(super) fn read_commas(content: &Content, gathered: &mut Gathered<'_>) -> Result<(), String> {
    read(content, b',', gathered)
}

/// Reads tab-separated values.
pub(super) fn read_tabs(content: &Content, gathered: &mut Gathered<'_>) -> Result<(), String> {
    read(content, b'\t', gathered)
}

fn read(content: &Content, delimiter: u8, gathered: &mut Gathered<'_>) -> Result<(), String> {
    let text = content.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content.bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let (user, item, score, rank) = places(&header.iter().collect::<Vec<_>>())?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| error.to_string())? {
        let line = record.position().map_or(0, csv::Position::line);
        // Every record has as many fields as the header.
        let score = score.map(|place| number(&record[place], "score", line)).transpose()?;
        let rank = rank.map(|place| whole(&record[place], "rank", line)).transpose()?;
        gathered.add(Entry { user: &record[user], item: &record[item], score, rank });
    }
    Ok(())
}

/// A whole number of a field, which may be written as one with decimals, `1.0`.
fn whole(text: &str, what: &str, line: u64) -> Result<i64, String> {
    let refused = || format!("line {line}: the {what} is `{}` (expected a whole number)", quote::value(text));
    let of_decimal = |number: f64| (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64);
    let text = text.trim();
    text.parse().ok().or_else(|| text.parse().ok().and_then(of_decimal)).ok_or_else(refused)
}

/// A number of a field.
pub(super) fn number<T: std::str::FromStr>(text: &str, what: &str, line: u64) -> Result<T, String> {
    let refused = |_| format!("line {line}: the {what} is `{}` (expected a number)", quote::value(text));
    text.trim().parse().map_err(refused)
}
