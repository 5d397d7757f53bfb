//! MovieLens' own rating files, told apart by their names.
//!
//! ```text
//! ratings.dat   1::1193::5::978300760                     1M, 10M
//! ratings.csv   userId,movieId,rating,timestamp           20M and later, latest
//! u.data        196<TAB>242<TAB>3<TAB>881250949           100K
//! ```

use super::{
    Has, KnownColumns, SourceKind,
    beginning::Beginning,
    columns::Columns,
    content, files,
    row::Sinks,
    text::{self, Header, Layout, OnBadRow},
};
use crate::{Error, Result};
use dataset::{Location, Split};
use serde::{Deserialize, Serialize};

/// `movielens` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Movielens {
    /// The file with the ratings.
    pub path: String,
}

impl SourceKind for Movielens {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        vec![("source.path", Split::Train, &self.path)]
    }

    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        let is_form = match (beginning.name(), beginning.first_line().map(str::trim_end)) {
            ("ratings.dat", Some(line)) => line.split("::").count() == 4,
            ("u.data", Some(line)) => line.split('\t').count() == 4,
            ("ratings.csv", Some(line)) => line == "userId,movieId,rating,timestamp",
            _ => false,
        };
        let is_all = is_form && beginning.known == KnownColumns::default() && !files::are_several(&beginning.path);
        Ok(is_all.then(|| Self { path: beginning.path.clone() }))
    }

    fn ratings(&self) -> Has {
        Has::Yes
    }

    fn timestamps(&self) -> Has {
        Has::Yes
    }

    fn check(&self) -> Result<()> {
        files::check_is_one("source.path", &self.path, "ratings.dat, ratings.csv or u.data itself")?;
        self.layout().map(|_| ())
    }

    fn read(&self, _part: Split, sinks: &dyn Sinks) -> Result<()> {
        text::read(&Location::parse(&self.path)?, &self.layout()?, sinks)
    }
}

impl Movielens {
    fn layout(&self) -> Result<Layout<'static>> {
        let at = Location::parse(&self.path)?;
        let (separator, header, columns) = match content::plain_name(&at).rsplit('.').next() {
            Some("dat") => ("::", Header::Absent, Columns::first_four()),
            Some("data") => ("\t", Header::Absent, Columns::first_four()),
            Some("csv") => (",", Header::Names, Columns::named("userId", "movieId", Some("rating"), Some("timestamp"))),
            _ => {
                let reason = format!(
                    "`{}` is no rating file of MovieLens (expected ratings.dat, ratings.csv or u.data, also compressed, or in an archive: `ml-1m.zip/ml-1m/ratings.dat`)",
                    at.name()
                );
                return Err(Error::setting("source.path", reason));
            }
        };
        let advice = "correct the row, or read the file as `format: delimited` with `on_bad_row: skip`";
        Ok(Layout { separator, header, columns, on_bad_row: OnBadRow::Error, is_part: false, has_columns: false, advice })
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{failure, read, source, stored};
    use dataset::Split;
    use serde_json::json;

    #[test]
    fn all_three_forms_read_the_same() {
        let forms = [
            ("ratings.dat", "1::1193::5::978300760\n"),
            ("ratings.csv", "userId,movieId,rating,timestamp\r\n1,1193,5.0,978300760\r\n"),
            ("u.data", "1\t1193\t5\t978300760\n"),
        ];
        for (name, content) in forms {
            let source = source(json!({"movielens": {"path": stored(name, content)}}));
            let rows = read(&source, Split::Train).unwrap().rows;
            assert_eq!(rows, [("1".into(), "1193".into(), Some(5.0), Some(978_300_760.0))], "{name}");
        }
    }

    #[test]
    fn another_name_is_refused() {
        let message = failure(&source(json!({"movielens": {"path": "movies.txt"}})));
        assert!(message.starts_with("`source.path`: `movies.txt` is no rating file"), "{message}");
    }
}
