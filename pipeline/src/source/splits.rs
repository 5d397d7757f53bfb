//! Files that come split: each row is an interaction, a repeat counts once.

use super::{
    SourceKind,
    columns::IdColumns,
    delimited::check_separator,
    files,
    row::Sinks,
    several::Several,
    text::{self, Header, Layout, OnBadRow},
};
use crate::Result;
use dataset::Split;
use serde::{Deserialize, Serialize};

/// `splits` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Splits {
    /// The file that models learn from; a folder with `/` at its end, or a pattern, as for the others.
    pub train: String,
    /// The file that is reported.
    pub test: String,
    /// The file that values are tuned on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<String>,
    /// One or more characters between fields.
    #[serde(default = "tab")]
    pub separator: String,
    /// Whether the first line of each file holds names.
    #[serde(default)]
    pub header: bool,
    /// Which columns hold the ids; others are not looked at.
    #[serde(default)]
    pub columns: IdColumns,
}

fn tab() -> String {
    "\t".to_owned()
}

impl SourceKind for Splits {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        let validation = self.validation.as_deref().map(|path| ("source.validation", Split::Validation, path));
        [("source.train", Split::Train, &*self.train)]
            .into_iter()
            .chain(validation)
            .chain([("source.test", Split::Test, &*self.test)])
            .collect()
    }

    fn check(&self) -> Result<()> {
        check_separator(&self.separator)?;
        super::Columns::from(self.columns.clone()).check(self.header)
    }

    fn read(&self, part: Split, sinks: &dyn Sinks) -> Result<()> {
        let Some((key, _, path)) = self.files().into_iter().find(|&(_, of, _)| of == part) else { return Ok(()) };
        let files = files::all(key, path)?;
        let layout = Layout {
            separator: &self.separator,
            header: if self.header { Header::Names } else { Header::Absent },
            columns: self.columns.clone().into(),
            on_bad_row: OnBadRow::Error,
            is_part: files.len() > 1,
            has_columns: true,
            advice: "correct the row",
        };
        Several::of(&files, sinks).read(|at, sinks| text::read(at, &layout, sinks))
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{pair, read, source, stored};
    use dataset::Split;
    use serde_json::json;

    #[test]
    fn each_part_is_its_file() {
        let (train, test) = (stored("splits/train.tsv", "0\t5\n0\t6\n1\t5\n"), stored("splits/test.tsv", "0\t7\n"));
        let source = source(json!({"splits": {"train": train, "test": test}}));
        assert_eq!(read(&source, Split::Train).unwrap().rows, [pair("0", "5"), pair("0", "6"), pair("1", "5")]);
        assert_eq!(read(&source, Split::Test).unwrap().rows, [pair("0", "7")]);
        assert_eq!(source.parts(), [Split::Train, Split::Test]);
    }

    #[test]
    fn a_header_and_names() {
        let train = stored("splits/named.csv", "item,when,user\ni,9,u\n");
        let columns = json!({"user": "user", "item": "item"});
        let source = source(json!({"splits": {"train": train, "test": train, "separator": ",", "header": true, "columns": columns}}));
        assert_eq!(read(&source, Split::Train).unwrap().rows, [pair("u", "i")]);
    }
}
