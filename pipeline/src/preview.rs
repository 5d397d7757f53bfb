//! What the first rows of a source hold.

use crate::{
    Error, Result,
    dictionary::Dictionary,
    k_core::{Degrees, KCore, peel},
    source::{Rows, Sampled, Source},
};
use dataset::{Counts, Interactions, Split};

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
    /// Rows that stood among them and were left out, as they cannot be read.
    pub rejected: usize,
    /// The first of these, with the reason, in words; `None` where none was.
    pub first_rejected: Option<String>,
    /// Rows whose user or item has blanks around its id, which are part of it.
    pub padded: usize,
    pairs: Vec<(u32, u32)>,
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
        let (mut preview, mut users, mut items) = (Self::default(), Dictionary::default(), Dictionary::default());
        let Sampled { is_whole, rejected, first_rejected } = source.first_rows(Split::Train, ROWS, &mut |rows, place| {
            preview.add(rows, place);
            preview.pairs.push((users.code(rows.users[place]), items.code(rows.items[place])));
        })?;
        let seen = preview.seen as u64;
        let rows = if is_whole { seen } else { source.rows(Split::Train)?.max(seen) };
        match (preview.seen, &first_rejected) {
            (0, None) => Err(Error::setting("source", "there are no rows")),
            (0, Some(first)) => Err(Error::setting(
                "source",
                format!("none of the {rejected} rows can be read: correct the separator, the columns or the rows, the first at {first}"),
            )),
            _ => Ok(Self { rows, is_whole, users: users.len(), items: items.len(), rejected, first_rejected, ..preview }),
        }
    }

    /// What stays of a k-core of the rows that were looked at, before any other filter.
    pub fn core(&self, k: u32) -> Counts {
        let rows = Interactions::from_pairs(self.users, self.pairs.iter().copied());
        let mut degrees = Degrees::of(&rows, self.items);
        let core = KCore::Both(k);
        let rounds = peel(&rows, &mut degrees, core.bounds());
        degrees.counts(core.step(rounds))
    }

    fn add(&mut self, rows: Rows<'_>, place: usize) {
        let rating = rows.ratings.map(|ratings| ratings[place]);
        let time = rows.times.map(|times| times[place]);
        let is_padded = |id: &str| id.trim().len() < id.len();
        self.padded += usize::from(is_padded(rows.users[place]) || is_padded(rows.items[place]));
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
    fn ids_with_blanks_around_them_are_counted() {
        let found = preview("padded.csv", "u,i,3,0\nu , j,3,0\nv, i,3,0\n").unwrap();
        assert_eq!((found.padded, found.users, found.items, &found.first[1].user[..]), (2, 3, 3, "u "));
    }

    #[test]
    fn cores_are_those_of_the_rows() {
        let found = preview("cores.csv", "u,i,3,0\nu,j,3,0\nu,j,3,1\nv,i,3,0\nv,j,3,0\nw,j,3,0\n").unwrap();
        let core = |k| {
            let Counts { users, items, interactions, .. } = found.core(k);
            [users, items, interactions]
        };
        assert_eq!((core(1), core(2), core(3)), ([3, 2, 5], [2, 2, 4], [0, 0, 0]));
    }

    #[test]
    fn rows_that_are_left_out_are_counted() {
        let of = |name: &str, content: &str| {
            let path = format!("memory:///preview/{name}");
            Location::parse(&path).unwrap().write(content.to_owned()).unwrap();
            let columns = json!({"user": 0, "item": 1, "rating": 2});
            Preview::read(
                &serde_json::from_value(json!({"delimited": {"path": path, "header": false, "columns": columns, "on_bad_row": "skip"}}))
                    .unwrap(),
            )
        };
        let found = of("left-out.csv", "u,i,4\nu,j,\nv,i,good\nv,k,3\n").unwrap();
        assert_eq!((found.seen, found.rejected, found.is_whole), (2, 2, true));
        let first = found.first_rejected.unwrap();
        assert!(first.starts_with("line 2: column 2 (rating): ``"), "{first}");
        let error = of("all-left-out.csv", "u,i,a\nu,j,b\n").unwrap_err().to_string();
        assert!(error.contains("none of the 2 rows can be read") && error.contains("the first at line 1: "), "{error}");
    }

    #[test]
    fn bad_rows_and_no_rows() {
        assert!(preview("bad.csv", "u,i,4,1\nu,i,good,1\n").unwrap_err().to_string().contains("bad.csv line 2"));
        assert!(preview("none.csv", "").unwrap_err().to_string().contains("there are no rows"));
    }
}
