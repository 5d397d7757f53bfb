//! What a source gives: rows, one after the other.

use crate::Result;

/// One raw interaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row<'a> {
    /// The user's own id, not empty.
    pub(crate) user: &'a str,
    /// The item's own id, not empty.
    pub(crate) item: &'a str,
    /// Finite; `None` in all rows when the source has no ratings.
    pub(crate) rating: Option<f64>,
    /// Finite, in any unit that grows with time; `None` in all rows when the source has no timestamps.
    pub(crate) time: Option<f64>,
}

/// A row that `on_bad_row: skip` leaves out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejected<'a> {
    /// The line on which it starts, from 1.
    pub(crate) line: u64,
    pub(crate) reason: &'a str,
    /// The row as it stands in the file.
    pub(crate) raw: &'a [u8],
}

/// What takes the rows of a source.
pub(crate) trait Sink {
    fn row(&mut self, row: Row<'_>) -> Result<()>;
    fn reject(&mut self, rejected: Rejected<'_>) -> Result<()>;
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::Source;
    use dataset::{Location, Split};

    /// Keeps everything as text.
    #[derive(Default)]
    pub(crate) struct Kept {
        pub(crate) rows: Vec<(String, String, Option<f64>, Option<f64>)>,
        pub(crate) rejected: Vec<(u64, String, Vec<u8>)>,
    }

    impl Sink for Kept {
        fn row(&mut self, row: Row<'_>) -> Result<()> {
            self.rows.push((row.user.to_owned(), row.item.to_owned(), row.rating, row.time));
            Ok(())
        }

        fn reject(&mut self, rejected: Rejected<'_>) -> Result<()> {
            self.rejected.push((rejected.line, rejected.reason.to_owned(), rejected.raw.to_owned()));
            Ok(())
        }
    }

    /// Puts a file in memory; its URL.
    pub(crate) fn stored(name: &str, content: impl Into<Vec<u8>>) -> String {
        let url = format!("memory:///sources/{name}");
        Location::parse(&url).unwrap().write(content.into()).unwrap();
        url
    }

    /// A source from its form in JSON.
    pub(crate) fn source(json: serde_json::Value) -> Source {
        serde_json::from_value(json).unwrap()
    }

    /// All rows of a part.
    pub(crate) fn read(source: &Source, part: Split) -> Result<Kept> {
        source.check()?;
        let mut kept = Kept::default();
        source.read(part, &mut kept)?;
        Ok(kept)
    }

    /// The error of reading a source, with the first source of the error.
    pub(crate) fn failure(source: &Source) -> String {
        let error = read(source, Split::Train).err().expect("the source is bad");
        match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        }
    }

    /// A row without rating and time.
    pub(crate) fn pair(user: &str, item: &str) -> (String, String, Option<f64>, Option<f64>) {
        (user.to_owned(), item.to_owned(), None, None)
    }
}
