//! Files that come split: each row is an interaction, a repeat counts once.

use super::{
    SourceKind, archive,
    beginning::Beginning,
    columns::{Columns, IdColumns},
    delimited::{Delimited, check_separator},
    files,
    row::Sinks,
    several::Several,
    text::{self, Header, Layout, OnBadRow},
};
use crate::Result;
use dataset::{Location, Split};
use serde::{Deserialize, Serialize};

/// What train files are called in their names: `train.csv`, `ml.train.inter`.
const TRAIN: &str = "train";
/// What those of the other parts are called in its place.
const TEST: &str = "test";
const VALIDATION: [&str; 4] = ["validation", "valid", "val", "dev"];

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

    /// A file called `train` with one called `test` beside it, and perhaps one called `valid`, alone or in a folder.
    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        // It has no such columns.
        if beginning.known.rating.is_some() || beginning.known.timestamp.is_some() {
            return Ok(None);
        }
        let Some(train) = train_of(&beginning.path)? else { return Ok(None) };
        let Some(test) = beside(&train, TEST)? else { return Ok(None) };
        let validation = VALIDATION.into_iter().find_map(|word| beside(&train, word).transpose()).transpose()?;
        let of_train = Beginning::read(&train, beginning.known.clone())?;
        let Some(Delimited { separator, header, columns: Columns { user, item, .. }, .. }) = Delimited::recognise(&of_train)? else {
            return Ok(None);
        };
        Ok(Some(Self { train, test, validation, separator, header, columns: IdColumns { user, item } }))
    }

    fn words(&self) -> Option<String> {
        let validation = self.validation.as_ref().map_or_else(String::new, |path| format!("{path} as validation and "));
        Some(format!("a split that exists, by users and items alone: {} with {validation}{} as test", self.train, self.test))
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

/// The train file that a path names, or that a folder has alone; none of a pattern.
fn train_of(path: &str) -> Result<Option<String>> {
    if files::is_pattern(path) {
        return Ok(None);
    }
    if !path.ends_with('/') {
        return Ok(renamed(path, TRAIN).map(|_| path.to_owned()));
    }
    let mut trains = files::named("path", path)?.into_iter().filter(|(name, _)| renamed(name, TRAIN).is_some());
    Ok(trains.next().filter(|_| trains.next().is_none()).map(|(name, _)| format!("{path}{name}")))
}

/// The file that is called as the train file is, but for the word of its part; none where it is not there.
fn beside(train: &str, word: &str) -> Result<Option<String>> {
    let Some(path) = renamed(train, word) else { return Ok(None) };
    Ok(archive::exists(&Location::parse(&path)?)?.then_some(path))
}

/// A path whose last step has another word in the place of the one word `train`; none where it has no such word.
fn renamed(path: &str, word: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (&path[..=folder.len()], name));
    let is_apart = |at: usize| {
        let of_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let (before, behind) = (&name.as_bytes()[..at], &name.as_bytes()[at + TRAIN.len()..]);
        !of_word(before.last().copied()) && !of_word(behind.first().copied())
    };
    let at = name.match_indices(TRAIN).map(|(at, _)| at).find(|&at| is_apart(at))?;
    Some(format!("{folder}{}{word}{}", &name[..at], &name[at + TRAIN.len()..]))
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{pair, read, source, stored};
    use super::renamed;
    use dataset::Split;
    use serde_json::json;

    #[test]
    fn names_of_parts() {
        assert_eq!(renamed("d/train.csv", "test").as_deref(), Some("d/test.csv"));
        assert_eq!(renamed("train/ml.train.inter.gz", "valid").as_deref(), Some("train/ml.valid.inter.gz"));
        assert_eq!(renamed("ratings_train-2.tsv", "val").as_deref(), Some("ratings_val-2.tsv"));
        assert_eq!(
            (renamed("training.csv", "test"), renamed("d/train/x.csv", "test"), renamed("mytrain1.csv", "test")),
            (None, None, None)
        );
    }

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
