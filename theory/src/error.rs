//! Values that are out of range, as errors.

/// The result of what can be asked for wrongly.
pub type Result<T> = std::result::Result<T, Error>;

/// A value that is out of range. Keys are named as on the command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--{key} {value}: expected {expected}")]
pub struct Error {
    /// The option.
    pub key: &'static str,
    /// The key's value.
    pub value: u64,
    /// The values that are possible, in words.
    pub expected: String,
}

/// Refuses a value below `least` or above `most`; `reason` says where the ends come from.
///
/// # Errors
/// Names the option, its value and what is possible.
pub fn within(key: &'static str, value: u64, least: u64, most: u64, reason: &str) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error { key, value, expected: format!("{least} to {most}{reason}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_key_value_and_range() {
        let error = within("negatives", 2_000, 1, 1_000, ", the population").unwrap_err();
        assert_eq!(error.to_string(), "--negatives 2000: expected 1 to 1000, the population");
        assert_eq!(within("negatives", 1_000, 1, 1_000, ""), Ok(()));
    }
}
