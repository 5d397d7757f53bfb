//! `${NAME}` in a sweep file stands for a variable of the environment; `$${` is a plain `${`.

use super::parse::events;
use dataset::quote;
use granit_parser::Event;
use std::collections::BTreeMap;

/// The variables that the values of a sweep file name, with what they are set to.
pub(super) fn named_in(text: &str) -> BTreeMap<String, String> {
    let mut named = BTreeMap::new();
    for event in events(text).flatten() {
        let (Event::Scalar(value, ..), _) = event else { continue };
        let read = |name: &str| {
            let value = std::env::var(name).ok()?;
            named.insert(name.to_owned(), value.clone());
            Some(value)
        };
        // A file that was read has no value that cannot be replaced.
        drop(substitute(&value, read));
    }
    named
}

/// The text with every variable replaced.
///
/// # Errors
/// In words: a variable that is not set, or a `${` that names none.
pub(super) fn substitute(text: &str, mut variable: impl FnMut(&str) -> Option<String>) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            result.push_str(&rest[..at]);
            result.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        result.push_str(&rest[..at]);
        let (name, after) = rest[at + 2..].split_once('}').ok_or_else(|| format!("`{}` has no closing `}}`", quote::value(&rest[at..])))?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`${{{}}}` is no name of an environment variable (letters, digits and `_`)", quote::value(name)));
        }
        result.push_str(
            &variable(name)
                .ok_or_else(|| format!("the environment variable `{}` is not set; set it, or write the value here", quote::value(name)))?,
        );
        rest = after;
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_home(text: &str) -> Result<String, String> {
        substitute(text, |name| (name == "HOME").then(|| "/home/ann".to_owned()))
    }

    #[test]
    fn variables_are_replaced_and_escapes_kept() {
        assert_eq!(with_home("${HOME}/data/${HOME}.csv").unwrap(), "/home/ann/data//home/ann.csv");
        assert_eq!(with_home("costs $5 and $${HOME}").unwrap(), "costs $5 and ${HOME}");
    }

    #[test]
    fn variables_are_found_in_values_and_not_in_comments() {
        let named = named_in("a: '${CARGO_PKG_NAME}/x' # ${CARGO_PKG_VERSION}\nb: [\"${CARGO_PKG_NAME}\", $${CARGO_MANIFEST_DIR}]\n");
        assert_eq!(named.into_iter().collect::<Vec<_>>(), [("CARGO_PKG_NAME".to_owned(), "sweep".to_owned())]);
    }

    #[test]
    fn what_is_unset_or_malformed_is_named() {
        assert_eq!(with_home("${HOUSE}/x").unwrap_err(), "the environment variable `HOUSE` is not set; set it, or write the value here");
        assert_eq!(with_home("a/${HOME").unwrap_err(), "`${HOME` has no closing `}`");
        assert!(with_home("${HO-ME}").unwrap_err().starts_with("`${HO-ME}` is no name"));
    }
}
