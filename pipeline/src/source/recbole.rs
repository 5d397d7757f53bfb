//! RecBole's atomic interaction files: tab-separated, with a header of `name:type`.
//!
//! Columns are found by name: `user_id` and `item_id`; `rating` and `timestamp` where they are. Others are not looked at, but for a sequence of items, of which the items would be lost.

use super::{
    Has, KnownColumns, SourceKind,
    beginning::Beginning,
    blocks::{Block, Blocks},
    columns::{ColumnRef, Columns},
    files,
    records::Records,
    row::Sinks,
    text::{self, Header, Layout, OnBadRow},
};
use crate::{Error, Result};
use dataset::{Location, Split, quote};
use serde::{Deserialize, Serialize};

/// `recbole` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recbole {
    /// The `.inter` file.
    pub path: String,
}

impl SourceKind for Recbole {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        vec![("source.path", Split::Train, &self.path)]
    }

    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        let names: Vec<&str> = beginning.first_line().map_or_else(Vec::new, |line| line.trim_end().split('\t').collect());
        let has = |column: &str| names.iter().any(|name| name.split(':').next() == Some(column));
        let is_typed = names.iter().all(|name| name.contains(':')) && has("user_id") && has("item_id");
        let is_all = is_typed && beginning.known == KnownColumns::default() && !files::are_several(&beginning.path);
        Ok(is_all.then(|| Self { path: beginning.path.clone() }))
    }

    fn ratings(&self) -> Has {
        Has::Perhaps
    }

    fn timestamps(&self) -> Has {
        Has::Perhaps
    }

    fn check(&self) -> Result<()> {
        files::check_is_one("source.path", &self.path, "the .inter file itself, such as ml-100k/ml-100k.inter")
    }

    fn read(&self, _part: Split, sinks: &dyn Sinks) -> Result<()> {
        let at = Location::parse(&self.path)?;
        let layout = Layout {
            separator: "\t",
            header: Header::Typed,
            columns: columns(&at)?,
            on_bad_row: OnBadRow::Error,
            is_part: false,
            has_columns: false,
            advice: "correct the row, or read the file as `format: delimited` with `on_bad_row: skip`",
        };
        text::read(&at, &layout, sinks)
    }
}

/// The optional columns are asked for only where the header has them.
fn columns(at: &Location) -> Result<Columns> {
    let mut block = Block::default();
    Blocks::open(at, "\t")?.next(&mut block)?;
    let mut records = Records::new(&block.text, 1, b"\t");
    let header = records.next(at)?;
    let names = || header.iter().flat_map(|header| header.fields.iter()).map(|field| String::from_utf8_lossy(field));
    if let Some(sequence) = names().find(|name| name.starts_with("item") && name.ends_with(":token_seq")) {
        let reason = format!(
            "the column `{}` has a sequence of items in each row, which is not read here: give each user and item a row of its own, with a \
             `timestamp`; models of sequences make histories of these",
            quote::value(&sequence)
        );
        return Err(Error::file(at, reason));
    }
    let has = |name: &str| names().any(|field| field.split(':').next() == Some(name));
    let optional = |name: &str| has(name).then(|| ColumnRef::Name(name.to_owned()));
    Ok(Columns { rating: optional("rating"), timestamp: optional("timestamp"), ..Columns::named("user_id", "item_id", None, None) })
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{failure, pair, read, source, stored};
    use dataset::Split;
    use serde_json::json;

    #[test]
    fn columns_are_found_by_name() {
        let content = "venue:token\titem_id:token\tuser_id:token\ttimestamp:float\trating:float\nx\t242\t196\t881250949\t3\n";
        let found = source(json!({"recbole": {"path": stored("a.inter", content)}}));
        assert_eq!(read(&found, Split::Train).unwrap().rows, [("196".into(), "242".into(), Some(3.0), Some(881_250_949.0))]);
        let bare = source(json!({"recbole": {"path": stored("b.inter", "user_id:token\titem_id:token\n196\t242\n")}}));
        assert_eq!(read(&bare, Split::Train).unwrap().rows, [pair("196", "242")]);
    }

    /// RecBole's files of sessions: only their last items would be left.
    #[test]
    fn sequences_of_items_are_refused() {
        let content = "user_id:token\titem_id_list:token_seq\titem_id:token\ns1\ta b c\td\n";
        let message = failure(&source(json!({"recbole": {"path": stored("sessions.inter", content)}})));
        assert!(message.contains("the column `item_id_list:token_seq` has a sequence of items in each row"), "{message}");
    }

    #[test]
    fn several_files_are_refused() {
        for path in ["ml-100k/", "ml-100k/*.inter"] {
            let message = source(json!({"recbole": {"path": path}})).check().unwrap_err().to_string();
            let expected = "(expected the .inter file itself, such as ml-100k/ml-100k.inter)";
            assert_eq!(message, format!("`source.path`: `{path}` stands for several files, and this format is read from one {expected}"));
        }
    }

    #[test]
    fn a_missing_column_is_named() {
        let message = failure(&source(json!({"recbole": {"path": stored("c.inter", "user:token\titem_id:token\n1\t2\n")}})));
        assert!(
            message.ends_with("no column `user_id` (user) in the header; its 2 columns are `user:token`, `item_id:token`"),
            "{message}"
        );
    }
}
