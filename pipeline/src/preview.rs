//! What the first rows of a source hold.

use crate::{
    Error, Result,
    source::{Rejected, Rows, Sink, Sinks, Source},
};
use dataset::Split;
use std::{collections::HashSet, sync::Mutex};

/// Rows that are looked at.
const ROWS: usize = 200_000;
/// Rows that are shown.
const SHOWN: usize = 3;

/// What the first rows of a source hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// About how many rows the source has; as many as were looked at where it has more and a format does not tell by its size.
    pub rows: u64,
    /// Rows that were looked at: the first 200,000, or all.
    pub seen: usize,
    /// Whether these are all.
    pub is_whole: bool,
    /// Distinct users among them.
    pub users: usize,
    /// Distinct items among them.
    pub items: usize,
    /// The smallest and the largest rating among them; `None` without ratings.
    pub ratings: Option<(f64, f64)>,
    /// The first and the last time among them; `None` without times.
    pub times: Option<(f64, f64)>,
    /// The first rows.
    pub first: Vec<Interaction>,
}

/// A row of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// The user's id.
    pub user: String,
    /// The item's id.
    pub item: String,
    /// The rating, where the source has ratings.
    pub rating: Option<f64>,
    /// The time, where the source has times.
    pub time: Option<f64>,
}

impl Preview {
    /// Reads the first rows of a source's train part.
    ///
    /// # Errors
    /// A source that cannot be read, has no row, or a bad one among the first.
    pub fn read(source: &Source) -> Result<Self> {
        source.check()?;
        let looking = Mutex::new(Looking::default());
        let ended = source.read(Split::Train, &looking);
        let Looking { mut preview, users, items } = looking.into_inner().expect("no holder of this lock panics");
        preview.is_whole = ended.is_ok();
        preview.rows = match preview.seen {
            ROWS if !preview.is_whole => source.rows(Split::Train)?.max(ROWS as u64),
            seen => ended.map(|()| seen as u64)?,
        };
        if preview.seen == 0 {
            return Err(Error::setting("source", "there are no rows"));
        }
        (preview.users, preview.items) = (users.len(), items.len());
        Ok(preview)
    }

    fn add(&mut self, rows: Rows<'_>, place: usize) {
        let rating = rows.ratings.map(|ratings| ratings[place]);
        let time = rows.times.map(|times| times[place]);
        self.ratings = rating.map(|rating| wider(self.ratings, rating));
        self.times = time.map(|time| wider(self.times, time));
        if self.first.len() < SHOWN {
            self.first.push(Interaction { user: rows.users[place].to_owned(), item: rows.items[place].to_owned(), rating, time });
        }
        self.seen += 1;
    }
}

fn wider(range: Option<(f64, f64)>, value: f64) -> (f64, f64) {
    range.map_or((value, value), |(least, most)| (least.min(value), most.max(value)))
}

/// What was seen so far.
#[derive(Default)]
struct Looking {
    preview: Preview,
    users: HashSet<String>,
    items: HashSet<String>,
}

impl Sinks for Mutex<Looking> {
    fn threads(&self) -> usize {
        1
    }

    fn sink(&self) -> Box<dyn Sink + '_> {
        Box::new(self)
    }

    fn reject(&self, _: Rejected<'_>) -> Result<()> {
        Ok(())
    }
}

impl Sink for &Mutex<Looking> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        let mut looking = self.lock().expect("no holder of this lock panics");
        let Looking { preview, users, items } = &mut *looking;
        for place in 0..rows.users.len() {
            if preview.seen == ROWS {
                return Err(Error::setting("source", "enough was seen"));
            }
            preview.add(rows, place);
            for (ids, id) in [(&mut *users, rows.users[place]), (&mut *items, rows.items[place])] {
                if !ids.contains(id) {
                    ids.insert(id.to_owned());
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Location;
    use serde_json::json;

    fn preview(name: &str, content: &str) -> Result<Preview> {
        let path = format!("memory:///preview/{name}");
        Location::parse(&path).unwrap().write(content.to_owned()).unwrap();
        let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
        let source = json!({"delimited": {"path": path, "header": false, "columns": columns}});
        Preview::read(&serde_json::from_value(source).unwrap())
    }

    #[test]
    fn all_rows_of_a_small_file() {
        let found = preview("small.csv", "u,i,4.5,30\nu,j,1,20\nv,i,2,40\nv,k,3,25\n").unwrap();
        assert_eq!((found.rows, found.seen, found.users, found.items, found.is_whole), (4, 4, 2, 3, true));
        assert_eq!((found.ratings, found.times), (Some((1.0, 4.5)), Some((20.0, 40.0))));
        let first = Interaction { user: "u".into(), item: "i".into(), rating: Some(4.5), time: Some(30.0) };
        assert_eq!((found.first.len(), &found.first[0]), (3, &first));
    }

    #[test]
    fn the_first_rows_of_a_large_file() {
        let content: String = (0..250_000).map(|row| format!("u{},i{},3,{row}\n", row % 1_000, row % 77)).collect();
        let found = preview("large.csv", &content).unwrap();
        assert_eq!((found.seen, found.users, found.items, found.times), (ROWS, 1_000, 77, Some((0.0, 199_999.0))));
        assert!(!found.is_whole && (230_000..280_000).contains(&found.rows), "{}", found.rows);
    }

    #[test]
    fn bad_rows_and_no_rows() {
        assert!(preview("bad.csv", "u,i,4,1\nu,i,good,1\n").unwrap_err().to_string().contains("bad.csv line 2"));
        assert!(preview("none.csv", "").unwrap_err().to_string().contains("there are no rows"));
    }
}
