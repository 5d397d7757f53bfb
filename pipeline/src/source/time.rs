//! Times as texts: numbers, dates of ISO 8601, also with slashes, and dates as C's `asctime` and Twitter write them.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};

/// Forms of a date with a time of day, without a zone.
const LOCAL: [&str; 11] = [
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%MZ",
    "%Y-%m-%d %H:%M:%S%.f UTC",
    "%Y%m%dT%H%M%SZ",
    "%Y%m%dT%H%M%S",
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y/%m/%d %H:%M",
    "%a %b %e %H:%M:%S %Y",
];
/// Forms of a date alone. The day before the month, or after it, is told by no text, and so neither is a form here.
const DAYS: [&str; 2] = ["%Y-%m-%d", "%Y/%m/%d"];
/// Forms of a date with its zone, beside RFC 3339's.
const ZONED: [&str; 6] = [
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f %#z",
    "%Y-%m-%dT%H:%M%#z",
    "%Y-%m-%d %H:%M%#z",
    "%a %b %e %H:%M:%S %z %Y",
];
/// The first year: what is less has fewer digits than a year of a date.
const FIRST_YEAR: i32 = 1000;

/// A number as it is, or a date as seconds since 1970 in UTC; `None` for another text. A date without a zone is taken for one of UTC.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let text = text.trim_ascii();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let local = || {
        let forms = LOCAL.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
        forms.or_else(|| Some(DAYS.iter().find_map(|form| NaiveDate::parse_from_str(text, form).ok())?.and_time(NaiveTime::MIN)))
    };
    let form = || ZONED.iter().find_map(|form| DateTime::parse_from_str(text, form).ok());
    let zoned = DateTime::parse_from_rfc3339(text).ok().or_else(form);
    zoned
        .map(|zoned| zoned.naive_utc())
        .or_else(local)
        .filter(|time| time.year() >= FIRST_YEAR)
        .map(|time| time.and_utc())
        .map(|time| time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9)
}

/// Seconds since 1970 as a date of ISO 8601 in UTC, to the second; `None` for one of a year that no date has.
pub(crate) fn date(seconds: f64) -> Option<String> {
    DateTime::from_timestamp(seconds.floor() as i64, 0).map(|time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `date --date … +%s.%N`.
    #[test]
    fn numbers_and_dates() {
        let cases = [
            ("978300760", Some(978_300_760.0)),
            (" -1.5e3 ", Some(-1_500.0)),
            ("2024-05-01", Some(1_714_521_600.0)),
            ("2024-05-01 12:30:15", Some(1_714_566_615.0)),
            ("2024-05-01T12:30:15.25", Some(1_714_566_615.25)),
            ("2024-05-01T12:30:15Z", Some(1_714_566_615.0)),
            ("2024-05-01 12:30", Some(1_714_566_600.0)),
            ("2024-05-01T12:30:15+02:00", Some(1_714_559_415.0)),
            ("1969-12-31T23:59:59.5Z", Some(-0.5)),
            ("2024/05/01", Some(1_714_521_600.0)),
            ("2024/5/1 12:30", Some(1_714_566_600.0)),
            ("Wed May 01 12:30:15 +0200 2024", Some(1_714_559_415.0)),
            ("Wed May  1 12:30:15 2024", Some(1_714_566_615.0)),
            ("2024-05-01T12:30", Some(1_714_566_600.0)),
            ("2024-05-01T12:30Z", Some(1_714_566_600.0)),
            ("2024-05-01T12:30:15+0200", Some(1_714_559_415.0)),
            ("20240501T123015Z", Some(1_714_566_615.0)),
            ("2024-05-01 12:30:15 UTC", Some(1_714_566_615.0)),
            ("2024-05-01 12:30:15.25 +0200", Some(1_714_559_415.25)),
            ("2024-05-01 12:30:15+00", Some(1_714_566_615.0)),
            ("2024-05-01 12:30:15.25+02", Some(1_714_559_415.25)),
            ("2024-05-01T12:30:15+02", Some(1_714_559_415.0)),
            ("2024-05-01 12:30+02:00", Some(1_714_559_400.0)),
            ("2024-05-01 12:30-0530", Some(1_714_586_400.0)),
            ("24-05-01", None),
            ("05/01/2024", None),
            ("2024-13-01", None),
            ("yesterday", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text}");
        }
        assert_eq!(date(1_714_566_615.25).unwrap(), "2024-05-01T12:30:15Z");
        assert_eq!(date(f64::INFINITY), None);
    }
}
