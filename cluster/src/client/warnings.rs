//! `Warning` headers: what the API server has to say about an object that it takes all the same.

use http::HeaderMap;
use std::sync::{Arc, Mutex};

/// The warnings of all answers since they were last taken. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Keeps those of one answer.
    pub(super) fn keep(&self, headers: &HeaderMap) {
        let texts = headers.get_all(http::header::WARNING).iter().filter_map(|value| value.to_str().ok()).map(text);
        let mut kept = self.0.lock().expect("no holder of this lock panics");
        for text in texts {
            if !kept.contains(&text) {
                kept.push(text);
            }
        }
    }

    /// The warnings that were kept, once.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no holder of this lock panics"))
    }
}

/// The text of `299 - "text"` (RFC 7234, section 5.5), in which quotes are escaped.
fn text(header: &str) -> String {
    let quoted = header.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
    quoted.map_or(header, |(text, _)| text).replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_taken_out_of_its_quotes() {
        let warnings = Warnings::default();
        let mut headers = HeaderMap::new();
        headers.append("warning", r#"299 - "would violate PodSecurity \"restricted:latest\": runAsNonRoot != true""#.parse().unwrap());
        headers.append("warning", "299 - \"old\"".parse().unwrap());
        warnings.keep(&headers);
        warnings.keep(&headers);
        assert_eq!(warnings.take(), ["would violate PodSecurity \"restricted:latest\": runAsNonRoot != true", "old"]);
        assert_eq!(warnings.take(), [""; 0]);
    }
}
