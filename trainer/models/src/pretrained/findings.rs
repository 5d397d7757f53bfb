//! What is found of the files of a model: what makes it unusable, and what a reader should know.

use crate::{Error, Result};
use dataset::quote;

/// Ids that a sentence names.
const NAMED: usize = 5;

/// Sentences on the files of a model.
#[derive(Debug, Default)]
pub struct Findings {
    wrong: Vec<String>,
    remarks: Vec<String>,
}

/// Ids that have something in common: how many, and the first of them.
#[derive(Debug, Default)]
pub(super) struct Named {
    count: usize,
    first: Vec<String>,
}

impl Findings {
    /// Something that no evaluation can go on with.
    pub fn wrong(&mut self, words: String) {
        if !self.wrong.contains(&words) {
            self.wrong.push(words); // users and items may have one file
        }
    }

    /// Something that an evaluation can go on with.
    pub fn remark(&mut self, words: String) {
        self.remarks.push(words);
    }

    /// The remarks.
    ///
    /// # Errors
    /// [`Error::Impossible`] with all that is wrong.
    pub fn remarks(self) -> Result<Vec<String>> {
        if self.wrong.is_empty() { Ok(self.remarks) } else { Err(Error::Impossible(self.wrong.join("; "))) }
    }
}

impl Named {
    /// Adds an id.
    pub(super) fn add(&mut self, id: &str) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(format!("`{}`", quote::value(id)));
        }
    }

    /// How many ids there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The ids in words: ``2 users (`a`, `b`)``; `None` where there are none.
    pub(super) fn words(&self, noun: &str) -> Option<String> {
        let more = self.count - self.first.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (self.count > 0).then(|| format!("{} ({}{more})", counted(self.count, noun), self.first.join(", ")))
    }
}

/// A number of things: `1 user`, `2 users`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("{count} {}", if count == 1 { noun } else { &plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_named_and_all_are_counted() {
        let mut named = Named::default();
        assert_eq!(named.words("user"), None);
        named.add("a\x1b");
        assert_eq!(named.words("user").unwrap(), "1 user (`a\\u{1b}`)");
        ["b", "c", "d", "e", "f", "g"].iter().for_each(|id| named.add(id));
        assert_eq!(named.words("entry").unwrap(), "7 entries (`a\\u{1b}`, `b`, `c`, `d`, `e` and 2 more)");
    }

    #[test]
    fn one_error_has_all_that_is_wrong() {
        let mut findings = Findings::default();
        findings.remark("fine".to_owned());
        findings.wrong("one".to_owned());
        findings.wrong("two".to_owned());
        let error = findings.remarks().unwrap_err();
        assert!(error.repeats() && error.to_string() == "one; two", "{error}");
    }
}
