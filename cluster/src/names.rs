//! The rules of Kubernetes for names.

/// Characters of a DNS label, and of a label's value.
pub(crate) const MOST: usize = 63;

/// Why a text is no DNS label (RFC 1123), if so.
pub(crate) fn not_a_label(text: &str) -> Option<String> {
    let outside = |c: &char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-');
    if let Some(c) = text.chars().find(outside) {
        return Some(format!("it has `{c}`, and a DNS label has lower-case letters, digits and `-` only"));
    }
    if text.is_empty() || text.starts_with('-') || text.ends_with('-') {
        return Some("a DNS label starts and ends with a letter or a digit".to_owned());
    }
    (text.len() > MOST).then(|| format!("it has {} characters, and a DNS label at most {MOST}", text.len()))
}

/// Why a text cannot name an object, if so: DNS labels joined by dots.
pub(crate) fn not_a_name(text: &str) -> Option<String> {
    let longest = 253;
    if text.len() > longest {
        return Some(format!("it has {} characters, and a name at most {longest}", text.len()));
    }
    text.split('.').find_map(not_a_label)
}

/// Why a text cannot be a label's value, if so.
pub(crate) fn not_a_value(text: &str) -> Option<String> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let fine = text.chars().all(inside) && ends(text.chars().next()) && ends(text.chars().next_back()) && text.len() <= MOST;
    let rule = "a label's value has at most 63 letters, digits, `-`, `_` and `.`, and starts and ends with a letter or a digit";
    (!text.is_empty() && !fine).then(|| rule.to_owned())
}

/// Why a text cannot be a label's key, if so: a name like a value's, after a DNS name and `/` or alone.
pub(crate) fn not_a_key(text: &str) -> Option<String> {
    let (prefix, name) = text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    if name.is_empty() {
        return Some("the key has no name".to_owned());
    }
    prefix.and_then(not_a_name).or_else(|| not_a_value(name))
}

/// The nearest DNS label to a text; `None` where nothing is left of it.
pub(crate) fn nearest_label(text: &str) -> Option<String> {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let label: String = text.chars().map(letter).take(MOST).collect();
    let label = label.trim_matches('-');
    (!label.is_empty()).then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_rfc_1123() {
        for fine in ["a", "a-b", "1", "softmax-at-k", &"a".repeat(63)] {
            assert_eq!(not_a_label(fine), None, "{fine}");
        }
        let reason = |text: &str| not_a_label(text).unwrap();
        assert!(reason("softmax_at_k").contains("`_`"));
        assert!(reason("Softmax").contains("`S`"));
        assert!(reason("a.b").contains("`.`"));
        assert!(reason("-a").contains("starts and ends") && reason("a-").contains("starts and ends") && reason("").contains("starts"));
        assert!(reason(&"a".repeat(64)).contains("64 characters"));
        assert_eq!(not_a_name("registry.example.com"), None);
        assert!(not_a_name("a..b").is_some());
    }

    #[test]
    fn keys_and_values_of_labels() {
        for fine in ["nvidia.com/gpu.product", "pool", "topology.kubernetes.io/zone", "A_b.c"] {
            assert_eq!(not_a_key(fine), None, "{fine}");
        }
        for bad in ["", "a/", "/a", "a b", "-a", "A.com/x", "a/b/c"] {
            assert!(not_a_key(bad).is_some(), "{bad}");
        }
        assert_eq!(not_a_value(""), None);
        assert_eq!(not_a_value("NVIDIA-H100"), None);
        assert!(not_a_value("a/b").is_some());
    }

    #[test]
    fn the_nearest_label_is_one() {
        for (text, label) in [("Softmax_at_K", Some("softmax-at-k")), ("_a.b_", Some("a-b")), ("--", None)] {
            assert_eq!(nearest_label(text).as_deref(), label);
            assert!(label.is_none_or(|label| not_a_label(label).is_none()));
        }
    }
}
