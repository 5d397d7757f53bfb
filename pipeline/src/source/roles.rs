//! Which columns of a table hold what, found by their names or their values.

use super::{
    columns::{ColumnRef, Columns},
    time,
};
use crate::{Error, Result};
use dataset::quote;

/// The word for an optional column that is left out.
const NONE: &str = "none";

/// Columns that are known already, by name or by index from 0; the others are to be found. Of those that may be left out, `none` leaves one out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownColumns {
    /// The user's id.
    pub user: Option<String>,
    /// The item's id.
    pub item: Option<String>,
    /// A number.
    pub rating: Option<String>,
    /// A number that grows with time, or a date.
    pub timestamp: Option<String>,
}

/// Names of columns in data that people share, in small letters and digits alone; of several in one file the first of these counts.
const USERS: &[&str] = &[
    "user",
    "userid",
    "uid",
    "username",
    "reviewerid",
    "reviewer",
    "customerid",
    "customer",
    "visitorid",
    "visitor",
    "memberid",
    "member",
    "accountid",
    "account",
    "clientid",
    "client",
    "profileid",
    "profile",
    "personid",
    "person",
    "authorid",
    "author",
    "sessionid",
    "session",
];
const ITEMS: &[&str] = &[
    "item",
    "itemid",
    "iid",
    "movieid",
    "movie",
    "productid",
    "product",
    "parentasin",
    "asin",
    "bookid",
    "isbn",
    "book",
    "businessid",
    "business",
    "gmapid",
    "venueid",
    "venue",
    "poi",
    "placeid",
    "place",
    "locationid",
    "location",
    "artistid",
    "artist",
    "trackid",
    "track",
    "songid",
    "song",
    "articleid",
    "article",
    "newsid",
    "news",
    "videoid",
    "video",
    "animeid",
    "anime",
    "recipeid",
    "recipe",
    "gameid",
    "game",
    "sku",
];
const RATINGS: &[&str] = &["rating", "ratings", "stars", "star", "score", "overall", "rate", "preference"];
const TIMES: &[&str] =
    &["timestamp", "time", "ts", "datetime", "date", "unixreviewtime", "reviewtime", "unixtime", "createdat", "eventtime", "when"];

/// Ratings are numbers up to this; what is larger counts something else.
const LARGEST_RATING: f64 = 100.0;
/// Times in seconds are numbers from this on: 1973 and later.
const EARLIEST_TIME: f64 = 1e8;

/// Whether a name is that of a column that is looked for.
pub(super) fn is_known(name: &str) -> bool {
    let plain = plain(name);
    [USERS, ITEMS, RATINGS, TIMES].iter().any(|names| names.contains(&plain.as_str()))
}

/// Columns by their names. `file` is what holds them.
///
/// # Errors
/// When no column is known to hold users or items, or one that is asked for is not there.
pub(super) fn by_name(file: &str, names: &[String], known: &KnownColumns) -> Result<Columns> {
    let KnownColumns { user, item, rating, timestamp } = known;
    let is_asked = |name: &String| [user, item, rating, timestamp].into_iter().flatten().any(|asked| asked == name);
    let find = |asked: &Option<String>, usual: &[&str], role: &str| match asked {
        Some(asked) => names.iter().find(|name| *name == asked).map(Some).ok_or_else(|| {
            Error::setting("columns", format!("{file} has no column `{}` for {role}; it has {}", quote::value(asked), quote::names(names)))
        }),
        None => Ok(usual.iter().find_map(|usual| names.iter().find(|name| plain(name) == *usual && !is_asked(name)))),
    };
    let must = |asked: &Option<String>, usual: &[&str], role: &str| {
        find(asked, usual, role)?.ok_or_else(|| {
            let present = quote::names(names);
            Error::setting(
                "columns",
                format!("{file} has the columns {present}: none of them is known to hold {role}; name it by --{role}"),
            )
        })
    };
    let name = |name: &String| ColumnRef::Name(name.clone());
    let perhaps = |asked: &Option<String>, usual: &[&str], role: &str| match asked.as_deref() {
        Some(NONE) if !names.iter().any(|name| name == NONE) => Ok(None),
        _ => find(asked, usual, role),
    };
    Ok(Columns {
        user: name(must(&known.user, USERS, "user")?),
        item: name(must(&known.item, ITEMS, "item")?),
        rating: perhaps(&known.rating, RATINGS, "rating")?.map(name),
        timestamp: perhaps(&known.timestamp, TIMES, "timestamp")?.map(name),
    })
}

/// Columns without names: users and items first, then ratings and times by their values. `rows` are some rows of `file`, all of one length.
///
/// # Errors
/// When a column that is asked for is no index.
pub(super) fn by_value(file: &str, rows: &[Vec<String>], known: &KnownColumns) -> Result<Columns> {
    let width = rows.first().map_or(0, Vec::len);
    let asked = |asked: &Option<String>, role: &str| {
        let index = |text: &String| match text.parse::<usize>() {
            Ok(index) if index < width => Ok(index),
            _ => {
                let text = quote::value(text);
                Err(Error::setting(
                    "columns",
                    format!("{file} has {width} columns without names, and --{role} is `{text}` (expected an index from 0)"),
                ))
            }
        };
        asked.as_ref().map(index).transpose()
    };
    let perhaps = |column: &Option<String>, role: &str| match column.as_deref() {
        Some(NONE) => Ok(Some(None)),
        _ => asked(column, role).map(|index| index.map(Some)),
    };
    let (user, item) = (asked(&known.user, "user")?, asked(&known.item, "item")?);
    let (time, rating) = (perhaps(&known.timestamp, "timestamp")?, perhaps(&known.rating, "rating")?);
    let mut taken: Vec<usize> = [user, item, time.flatten(), rating.flatten()].into_iter().flatten().collect();
    let mut next = |found: Option<usize>| {
        let index = found.unwrap_or_else(|| (0..).find(|index| !taken.contains(index)).expect("there are more numbers than columns"));
        taken.push(index);
        index
    };
    let (user, item) = (next(user), next(item));
    if user.max(item) >= width {
        let message = format!("{file} has {width} columns, and what is asked for leaves none for the users or the items");
        return Err(Error::setting("columns", message));
    }
    let rest = |taken: &[usize]| (0..width).filter(|index| !taken.contains(index)).collect::<Vec<_>>();
    let all = |column: usize, is: fn(&str) -> bool| rows.iter().all(|row| is(&row[column]));
    let time = time.unwrap_or_else(|| rest(&taken).into_iter().find(|&column| all(column, is_time)));
    taken.extend(time);
    let rating = rating.unwrap_or_else(|| rest(&taken).into_iter().find(|&column| all(column, is_rating)));
    let index = ColumnRef::Index;
    Ok(Columns { user: index(user), item: index(item), rating: rating.map(index), timestamp: time.map(index) })
}

/// Whether a text is a number.
pub(super) fn is_number(text: &str) -> bool {
    text.trim_ascii().parse::<f64>().is_ok()
}

fn is_rating(text: &str) -> bool {
    text.trim_ascii().parse::<f64>().is_ok_and(|number| number.abs() <= LARGEST_RATING)
}

/// Whether a text is a time that a column without a name may hold.
pub(super) fn is_time(text: &str) -> bool {
    time::parse(text).is_some_and(|time| !is_number(text) || time >= EARLIEST_TIME)
}

/// Whether a text begins as numbers and dates of all countries do.
pub(super) fn begins_with_digit(text: &str) -> bool {
    text.trim_ascii().trim_start_matches(['-', '+']).starts_with(|first: char| first.is_ascii_digit())
}

/// A name in small letters and digits alone, without RecBole's type.
fn plain(name: &str) -> String {
    let name = name.split(':').next().unwrap_or_default();
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_that_people_use() {
        let of = |list: &[&str]| by_name("f", &names(list), &KnownColumns::default()).unwrap();
        let movielens = of(&["userId", "movieId", "rating", "timestamp"]);
        assert_eq!(movielens, Columns::named("userId", "movieId", Some("rating"), Some("timestamp")));
        let amazon = of(&["asin", "rating", "parent_asin", "user_id", "timestamp"]);
        assert_eq!(amazon, Columns::named("user_id", "parent_asin", Some("rating"), Some("timestamp")));
        assert_eq!(of(&["date", "stars", "business_id", "user_id"]), Columns::named("user_id", "business_id", Some("stars"), Some("date")));
        assert_eq!(of(&["user_id:token", "item_id:token"]), Columns::named("user_id:token", "item_id:token", None, None));
    }

    #[test]
    fn what_is_not_known_is_asked_for() {
        let of = |known: KnownColumns| by_name("f.csv", &names(&["who", "what", "rating"]), &known).map_err(|error| error.to_string());
        let message = of(KnownColumns::default()).unwrap_err();
        assert!(message.contains("none of them is known to hold user; name it by --user"), "{message}");
        let known = |user: &str, item: &str| KnownColumns { user: Some(user.into()), item: Some(item.into()), ..KnownColumns::default() };
        assert_eq!(of(known("who", "what")).unwrap(), Columns::named("who", "what", Some("rating"), None));
        assert!(of(known("whom", "what")).unwrap_err().contains("f.csv has no column `whom` for user; it has `who`, `what`, `rating`"));
    }

    #[test]
    fn values_tell_ratings_from_times() {
        let of = |rows: &[&[&str]], known: &KnownColumns| {
            let rows: Vec<Vec<String>> = rows.iter().map(|row| names(row)).collect();
            by_value("f", &rows, known).map_err(|error| error.to_string())
        };
        let index = ColumnRef::Index;
        let columns = |user, item, rating: Option<usize>, timestamp: Option<usize>| Columns {
            user: index(user),
            item: index(item),
            rating: rating.map(index),
            timestamp: timestamp.map(index),
        };
        let none = KnownColumns::default();
        assert_eq!(of(&[&["196", "242", "3", "881250949"]], &none), Ok(columns(0, 1, Some(2), Some(3))));
        assert_eq!(of(&[&["u", "i", "2024-05-01", "4.5"], &["u", "j", "2024-05-02", "1"]], &none), Ok(columns(0, 1, Some(3), Some(2))));
        assert_eq!(of(&[&["u", "i", "3000", "text"]], &none), Ok(columns(0, 1, None, None)));
        let known = KnownColumns { user: Some("2".into()), ..none.clone() };
        assert_eq!(of(&[&["7", "5.0", "u"]], &known), Ok(columns(2, 0, Some(1), None)));
        assert!(
            of(&[&["7", "5.0", "u"]], &KnownColumns { item: Some("3".into()), ..none }).unwrap_err().contains("(expected an index from 0)")
        );
    }
}
