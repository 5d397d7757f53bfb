//! What a source gives: rows, one after the other.

use crate::{Error, Result};
use std::slice;

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
    /// What `number` counts: `line`, or `row` of a format without lines.
    pub(crate) unit: &'static str,
    /// The line on which it starts, or the row, from 1.
    pub(crate) number: u64,
    pub(crate) reason: &'a str,
    /// The row as it stands in the file.
    pub(crate) raw: &'a [u8],
}

impl Rejected<'_> {
    /// Where and why.
    pub(crate) fn words(&self) -> String {
        format!("{} {}: {}", self.unit, self.number, self.reason)
    }
}

/// Interactions by columns, all of one length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) users: &'a [&'a str],
    pub(crate) items: &'a [&'a str],
    pub(crate) ratings: Option<&'a [f64]>,
    pub(crate) times: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    /// The row at a place alone.
    pub(crate) fn only(self, place: usize) -> Self {
        let number = |numbers: Option<&'a [f64]>| numbers.map(|numbers| &numbers[place..=place]);
        Self {
            users: &self.users[place..=place],
            items: &self.items[place..=place],
            ratings: number(self.ratings),
            times: number(self.times),
        }
    }

    /// The time of a row, of which all are 0 where there are none. It never is -0, which would be equal to 0 here and before it there.
    pub(crate) fn time(&self, place: usize) -> f64 {
        self.times.map_or(0.0, |times| times[place] + 0.0)
    }

    /// Which rows have at least this rating, by their places.
    ///
    /// # Errors
    /// When there are no ratings.
    pub(crate) fn reaching(&self, least: Option<f64>) -> Result<impl Fn(usize) -> bool + use<'a>> {
        if least.is_some() && self.ratings.is_none() {
            let reason = "the source has no ratings (expected a rating column; or leave `min_rating` out)";
            return Err(Error::setting("min_rating", reason));
        }
        let rated = least.zip(self.ratings);
        Ok(move |place: usize| rated.is_none_or(|(least, ratings)| ratings[place] >= least))
    }
}

/// Where a source's rows go. Each thread that reads takes a sink of its own.
pub(crate) trait Sinks: Sync {
    /// The number of threads that a source may read with.
    fn threads(&self) -> usize;

    /// A sink for one thread.
    fn sink(&self) -> Box<dyn Sink + '_>;

    /// Takes a row that is left out; these come in the order of their lines.
    fn reject(&self, rejected: Rejected<'_>) -> Result<()>;
}

/// What takes the rows that one thread reads.
pub(crate) trait Sink {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()>;

    /// Called after the last row.
    fn finish(self: Box<Self>) -> Result<()>;

    fn row(&mut self, row: Row<'_>) -> Result<()> {
        let Row { user, item, rating, time } = row;
        self.rows(Rows {
            users: &[user],
            items: &[item],
            ratings: rating.as_ref().map(slice::from_ref),
            times: time.as_ref().map(slice::from_ref),
        })
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::Source;
    use dataset::{Location, Split};
    use std::sync::Mutex;

    /// Keeps everything as text.
    #[derive(Default)]
    pub(crate) struct Kept {
        pub(crate) rows: Vec<(String, String, Option<f64>, Option<f64>)>,
        pub(crate) rejected: Vec<(u64, String, Vec<u8>)>,
    }

    impl Sinks for Mutex<Kept> {
        fn threads(&self) -> usize {
            2
        }

        fn sink(&self) -> Box<dyn Sink + '_> {
            Box::new(self)
        }

        fn reject(&self, rejected: Rejected<'_>) -> Result<()> {
            self.lock().unwrap().rejected.push((rejected.number, rejected.reason.to_owned(), rejected.raw.to_owned()));
            Ok(())
        }
    }

    impl Sink for &Mutex<Kept> {
        fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
            let at = |numbers: Option<&[f64]>, row: usize| numbers.map(|numbers| numbers[row]);
            let row = |row: usize| (rows.users[row].to_owned(), rows.items[row].to_owned(), at(rows.ratings, row), at(rows.times, row));
            self.lock().unwrap().rows.extend((0..rows.users.len()).map(row));
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<()> {
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
        let kept = Mutex::new(Kept::default());
        source.read(part, &kept)?;
        Ok(kept.into_inner().unwrap())
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
