//! A run file of TREC: `qid Q0 docid rank score tag`, without a header.
//!
//! The score orders, as in trec_eval, and ranks are not looked at: programs write anything there.

use super::{super::Content, Entry, Gathered, delimited::number};

pub(super) fn read(content: &Content, gathered: &mut Gathered<'_>) -> Result<(), String> {
    let text = std::str::from_utf8(&content.bytes).map_err(|_| "it is no UTF-8 text (expected a TREC run file)".to_owned())?;
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    for (line, place) in lines {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (&[user, _, item, _, score] | &[user, _, item, _, score, _]) = &fields[..] else {
            return Err(format!("line {place} has {} fields (expected `qid Q0 docid rank score tag`)", fields.len()));
        };
        gathered.add(Entry { user, item, score: Some(number(score, "score", place)?), rank: None });
    }
    Ok(())
}
