//! Words as a shell reads them.

use std::borrow::Cow;

/// A word of a command, in quotes where a shell would read something else.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_a_shell_would_split_or_end_is_quoted() {
        assert_eq!(["s3://a/b.yaml", "my file", "it's", ""].map(quoted), ["s3://a/b.yaml", "'my file'", "'it'\\''s'", "''"]);
    }
}
