//! Sizes as people write them: `512MiB`, `4GB`.

/// Units and their number of bytes.
const UNITS: [(&str, usize); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// A number of bytes from its text.
///
/// # Errors
/// A text that is no positive number with a unit, in words.
pub(super) fn parse(text: &str) -> Result<usize, String> {
    let expected = || format!("expected a size such as 512MiB or 4GiB, found `{text}`");
    let (digits, unit) =
        UNITS.iter().find_map(|(name, unit)| text.strip_suffix(name).map(|digits| (digits, *unit))).ok_or_else(expected)?;
    let count: f64 = digits.trim().parse().map_err(|_| expected())?;
    let bytes = count * unit as f64;
    if bytes >= 1.0 && bytes < usize::MAX as f64 { Ok(bytes as usize) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_have_units() {
        assert_eq!((parse("4GiB"), parse("1.5 MiB"), parse("250MB")), (Ok(4 << 30), Ok(3 << 19), Ok(250_000_000)));
        assert_eq!(parse("4G").unwrap_err(), "expected a size such as 512MiB or 4GiB, found `4G`");
        assert!(parse("-1GiB").is_err() && parse("4096").is_err() && parse("nanGiB").is_err());
    }
}
