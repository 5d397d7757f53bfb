//! The meaning of a plain YAML word: nothing, a truth value, a number or a text (the core schema of YAML 1.2, finite decimal numbers only).

/// Whether the word stands for no value.
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// `true` and `false`; not `yes`, `no`, `on`, `off`.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// A whole decimal number.
pub(super) fn integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// A finite decimal number, with or without a point and an exponent.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    plain.then(|| text.parse().ok()).flatten().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_yaml_says() {
        assert!(is_null("~") && is_null("") && !is_null("none"));
        assert_eq!((boolean("true"), boolean("yes")), (Some(true), None));
        assert_eq!((integer("-12"), integer("+7"), integer("1.0"), integer("-"), integer("1e3")), (Some(-12), Some(7), None, None, None));
        assert_eq!((number("1e-3"), number(".5"), number("2"), number("-0.25")), (Some(0.001), Some(0.5), Some(2.0), Some(-0.25)));
        assert_eq!((number(".inf"), number("nan"), number("1e999"), number("0x10"), number("")), (None, None, None, None, None));
    }
}
