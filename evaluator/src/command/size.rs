//! Sizes as people write them: `512MiB`, `4GB`.

/// Units and their number of bytes; those that end like another stand before it.
const UNITS: [(&str, f64); 9] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("B", 1.0),
];

/// A number of bytes from its text.
///
/// # Errors
/// A text that is no positive number with a unit, in words.
pub fn parse(text: &str) -> Result<usize, String> {
    let expected = || format!("expected a size such as 512MiB or 4GiB, found `{text}`");
    let (digits, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit))).ok_or_else(expected)?;
    let bytes = digits.trim().parse::<f64>().map_err(|_| expected())? * unit;
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
