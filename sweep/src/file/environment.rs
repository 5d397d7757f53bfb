//! `${NAME}` in a sweep file stands for a variable of the environment; `$${` is a plain `${`.

use super::parse::events;
use dataset::{quote, redact::is_credential};
use granit_parser::{Event, Span};
use std::collections::{BTreeMap, HashMap};

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

/// The values of a sweep file that name variables, as typed, by the line and the column at which each stands.
pub(super) fn typed(text: &str) -> HashMap<(usize, usize), String> {
    if !text.contains("${") {
        return HashMap::new();
    }
    let named = |(event, span): (Event, Span)| match event {
        Event::Scalar(value, ..) if value.contains("${") => Some(((span.start.line(), span.start.col() + 1), value.into_owned())),
        _ => None,
    };
    events(text).flatten().filter_map(named).collect()
}

/// Whether a text is one variable and nothing else.
pub(super) fn is_variable(text: &str) -> bool {
    text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).is_some_and(|name| !name.contains(['$', '{', '}']))
}

/// The text with every variable replaced by its value in the environment.
///
/// # Errors
/// In words: a variable that is not set, a `${` that names none, or one that holds a credential.
pub(crate) fn expanded(text: &str) -> Result<String, String> {
    substitute(text, |name| std::env::var(name).ok())
}

/// The text with every variable replaced.
///
/// # Errors
/// In words: a variable that is not set, a `${` that names none, or one that holds a credential.
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
        if is_credential(name) {
            return Err(format!(
                "`{name}` is a secret, and what a sweep file means is stored and shown: leave it in the environment, where it is looked for"
            ));
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

    #[test]
    fn known_secrets_are_refused() {
        for name in ["AWS_SECRET_ACCESS_KEY", "azure_storage_sas_token", "RANKSWEEP_RENDEZVOUS_SECRET"] {
            let refused = substitute(&format!("a/${{{name}}}"), |_| Some("hunter2".to_owned())).unwrap_err();
            assert!(refused.starts_with(&format!("`{name}` is a secret")) && !refused.contains("hunter2"), "{refused}");
        }
        assert_eq!(substitute("a/${TOKEN}", |_| Some("x".to_owned())).unwrap(), "a/x");
    }

    #[test]
    fn what_was_typed_is_found_by_its_place() {
        let found = typed("a: 1\nb: [x, \"${HOME}/y\"]\nc: '$${HOME}'\n");
        assert_eq!(found[&(2, 8)], "${HOME}/y");
        assert_eq!(found.len(), 2);
    }
}
