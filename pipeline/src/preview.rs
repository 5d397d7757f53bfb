//! What the first rows of a source hold.

use crate::{
    Error, Result,
    source::{Rows, Source},
};
use dataset::Split;
use std::collections::HashSet;

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
        let (mut preview, mut users, mut items) = (Self::default(), HashSet::new(), HashSet::new());
        let is_whole = source.first_rows(Split::Train, ROWS, &mut |rows, place| {
            preview.add(rows, place);
            for (ids, id) in [(&mut users, rows.users[place]), (&mut items, rows.items[place])] {
                if !ids.contains(id) {
                    ids.insert(id.to_owned());
                }
            }
        })?;
        let seen = preview.seen as u64;
        let rows = if is_whole { seen } else { source.rows(Split::Train)?.max(seen) };
        match preview.seen {
            0 => Err(Error::setting("source", "there are no rows")),
            _ => Ok(Self { rows, is_whole, users: users.len(), items: items.len(), ..preview }),
        }
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
