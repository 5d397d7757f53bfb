//! Top-K lists in the user's own ids, from a stored scorer, by the same code as the evaluation.

mod format;

use crate::tables::TrialRow;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dataset::{Dataset, Interactions, Location, quote};
use evaluator::{Scorer, rank};
use format::{Recommendation, RecommendationWriter};
use std::collections::{HashMap, HashSet};

pub use format::ListFormat;

/// Users of one block, at most: what is in memory at once.
const BLOCK: usize = 1 << 14;
/// Rows of their lists, at most.
const ROWS: usize = 1 << 20;
/// Unknown ids that an error names.
const NAMED: usize = 10;

/// The lists that are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Items for each user, at most.
    pub k: usize,
    /// The users by their own ids, in the order of the lists; none for all users of the dataset.
    pub users: Option<&'a [String]>,
    /// Whether items that a user already has may be recommended.
    pub seen: Seen,
    /// The format of the file.
    pub format: ListFormat,
    /// Bytes for scores.
    pub memory: usize,
}

/// Whether items that a user already has may be recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seen {
    /// Leave out every item the user has, in train, fold-in, validation or test.
    Exclude,
    /// Leave out train and validation items only, so that lists can be judged against test.
    Evaluate,
    /// Rank all items.
    Include,
}

/// How many lists were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Users that have a list.
    pub users: usize,
    /// Users for whom nothing is left to recommend, or whom the model has no list of.
    pub without: usize,
    /// Users with a list and without train interactions, of whom the model knows nothing.
    pub unknown: usize,
}

/// Writes the lists, best item first: `user, user_id, rank, item, item_id, score`.
///
/// A user with fewer than k items left has a shorter list. Items of the same score stand in the order of their ids.
///
/// # Errors
/// When users are not in the dataset, naming them, or something cannot be read or stored.
pub fn write(at: &Location, dataset: &Dataset, scorer: &Scorer, request: &Request) -> Result<Written> {
    let users = match request.users {
        Some(ids) => dense(dataset, ids)?,
        None => (0..dataset.users() as u32).collect(),
    };
    let known = dataset.known();
    let (known_items, own) = (&*known, dataset.own_nodes());
    let seen: &[&Interactions] = match request.seen {
        Seen::Exclude => &[known_items, &dataset.validation, &dataset.test],
        Seen::Evaluate => &[known_items, &dataset.validation],
        Seen::Include => &[],
    };
    let masked: Vec<&Interactions> = seen.iter().copied().chain(&own).collect();
    let failed = || format!("cannot write {at}");
    let mut writer = RecommendationWriter::new(request.format).with_context(failed)?;
    let (longest, mut with_list) = (request.k.min(dataset.items()).max(1), 0);
    for block in users.chunks((ROWS / longest).clamp(1, BLOCK)) {
        let lists = rank::top_k(scorer, &known, &masked, block, request.k, request.memory)?;
        with_list += lists.iter().filter(|list| !list.is_empty()).count();
        writer.write(&rows(dataset, block, &lists)).with_context(failed)?;
    }
    at.write(writer.finish().with_context(failed)?)?;
    let unknown = users.iter().filter(|&&user| known.row(user as usize).is_empty()).count();
    Ok(Written { users: with_list, without: users.len() - with_list, unknown })
}

/// Reads users' own ids, one in a line. Empty lines are passed over.
///
/// # Errors
/// When the file cannot be read, is no UTF-8, or names no user.
pub fn read_users(file: &Location) -> Result<Vec<String>> {
    let bytes = file.read()?;
    let text = std::str::from_utf8(&bytes).with_context(|| format!("{file} is no UTF-8 text (expected one user id in a line)"))?;
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    let ids: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if ids.is_empty() {
        bail!("{file} names no user (expected one user id in a line)");
    }
    Ok(ids)
}

/// The trial of a method to recommend with where none is asked for: of those that were picked, the first split in the order of the trials, and there
/// the first seed.
pub fn first_picked<'a>(trials: &'a [TrialRow], dataset: &str, method: &str) -> Option<&'a TrialRow> {
    let mut picked: Vec<&TrialRow> =
        trials.iter().filter(|trial| trial.selected && trial.dataset == dataset && trial.method == method).collect();
    let first = picked.first()?.split_seed;
    picked.retain(|trial| trial.split_seed == first);
    picked.sort_by_key(|trial| trial.seed);
    picked.first().copied()
}

/// Dense ids in the order asked for, each once.
fn dense(dataset: &Dataset, ids: &[String]) -> Result<Vec<u32>> {
    let known: HashMap<&str, u32> = dataset.user_ids.iter().map(String::as_str).zip(0..).collect();
    let unknown: Vec<String> =
        ids.iter().filter(|id| !known.contains_key(id.as_str())).map(|id| format!("`{}`", quote::value(id))).collect();
    if !unknown.is_empty() {
        let (shown, more) = (unknown[..unknown.len().min(NAMED)].join(", "), unknown.len().saturating_sub(NAMED));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (count, name, all) = (unknown.len(), &dataset.name, dataset.users());
        bail!("{count} of {} users are not among the {all} users of {name} after its filters: {shown}{more}", ids.len());
    }
    let mut asked = HashSet::new();
    Ok(ids.iter().map(|id| known[id.as_str()]).filter(|user| asked.insert(*user)).collect())
}

/// The lists of a block of users, one after the other.
fn rows<'a>(dataset: &'a Dataset, users: &[u32], lists: &[Vec<(u32, f32)>]) -> Vec<Recommendation<'a>> {
    let of_user = |(&user, list): (&u32, &Vec<(u32, f32)>)| {
        let row = |(&(item, score), rank)| {
            let (user_id, item_id) = (&dataset.user_ids[user as usize], &dataset.item_ids[item as usize]);
            Recommendation { user, user_id, rank, item, item_id, score }
        };
        list.iter().zip(1..).map(row).collect::<Vec<_>>()
    };
    users.iter().zip(lists).flat_map(of_user).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{StringArray, UInt32Array};
    use dataset::table;
    use evaluator::{Factors, Matrix, Similarity};

    const ALL: Request = Request { k: 1, users: None, seen: Seen::Exclude, format: ListFormat::Parquet, memory: 1 << 20 };

    /// Item n scores n for every user.
    fn by_number() -> Scorer {
        let users = Matrix { rows: 2, dim: 1, values: vec![1.0, 1.0] };
        let items = Matrix { rows: 5, dim: 1, values: vec![0.0, 1.0, 2.0, 3.0, 4.0] };
        Scorer::Factors(Factors { users, items, similarity: Similarity::Dot })
    }

    fn small() -> Dataset {
        Dataset {
            name: "small".into(),
            fingerprint: "f00d".into(),
            user_ids: vec!["a".into(), "b,\"c\"".into()],
            item_ids: ["v", "w", "x", "y", "z"].map(str::to_owned).to_vec(),
            train: Interactions::from_pairs(2, [(0, 4), (1, 2)].into_iter()),
            validation: Interactions::from_pairs(2, [(0, 3)].into_iter()),
            one_node_set: false,
            test: Interactions::from_pairs(2, [(0, 2)].into_iter()),
            fold_in: None,
            order: None,
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        }
    }

    fn lists(name: &str, k: usize, users: Option<&[String]>, seen: Seen) -> Vec<(String, u32, String)> {
        let at = Location::parse(&format!("memory:///recommend/{name}.parquet")).unwrap();
        let request = Request { k, users, seen, ..ALL };
        assert_eq!(write(&at, &small(), &by_number(), &request).unwrap(), Written { users: 2, without: 0, unknown: 0 });
        let stored = table::read(&at).unwrap();
        let user: &StringArray = table::column(&stored, "user_id", &at).unwrap();
        let rank: &UInt32Array = table::column(&stored, "rank", &at).unwrap();
        let item: &StringArray = table::column(&stored, "item_id", &at).unwrap();
        (0..stored.num_rows()).map(|row| (user.value(row).to_owned(), rank.value(row), item.value(row).to_owned())).collect()
    }

    fn rows<const N: usize>(rows: [(&str, u32, &str); N]) -> Vec<(String, u32, String)> {
        rows.map(|(user, rank, item)| (user.to_owned(), rank, item.to_owned())).to_vec()
    }

    #[test]
    fn seen_items_are_left_out_or_not() {
        assert_eq!(lists("exclude", 1, None, Seen::Exclude), rows([("a", 1, "w"), ("b,\"c\"", 1, "z")]));
        assert_eq!(lists("evaluate", 1, None, Seen::Evaluate), rows([("a", 1, "x"), ("b,\"c\"", 1, "z")]));
        assert_eq!(lists("include", 1, None, Seen::Include), rows([("a", 1, "z"), ("b,\"c\"", 1, "z")]));
    }

    /// The user a is the item of that id too: it is in no list of its own, not even where seen items are.
    #[test]
    fn no_node_is_recommended_to_itself() {
        let at = Location::parse("memory:///recommend/nodes.parquet").unwrap();
        let item_ids = ["v", "w", "x", "y", "a"].map(str::to_owned).to_vec();
        let nodes = Dataset { one_node_set: true, item_ids, train: Interactions::empty(2), ..small() };
        write(&at, &nodes, &by_number(), &Request { seen: Seen::Include, ..ALL }).unwrap();
        let stored = table::read(&at).unwrap();
        let item: &StringArray = table::column(&stored, "item_id", &at).unwrap();
        assert_eq!((item.value(0), item.value(1)), ("y", "a"));
    }

    #[test]
    fn lists_come_in_the_order_asked_for_and_end_with_the_items() {
        let asked = ["b,\"c\"", "a", "a"].map(str::to_owned);
        let expected = rows([("b,\"c\"", 1, "z"), ("b,\"c\"", 2, "y"), ("b,\"c\"", 3, "w"), ("a", 1, "w"), ("a", 2, "v")]);
        assert_eq!(lists("asked", 3, Some(&asked), Seen::Exclude), expected);
    }

    #[test]
    fn users_without_train_interactions_are_counted() {
        let dataset = Dataset { train: Interactions::from_pairs(2, [(1, 2)].into_iter()), ..small() };
        let at = Location::parse("memory:///recommend/without.parquet").unwrap();
        assert_eq!(write(&at, &dataset, &by_number(), &ALL).unwrap(), Written { users: 2, without: 0, unknown: 1 });
    }

    #[test]
    fn unknown_users_are_named() {
        let asked: Vec<String> = (0..12).map(|user| format!("u{user}")).collect();
        let at = Location::parse("memory:///recommend/unknown.parquet").unwrap();
        let request = Request { users: Some(&asked), ..ALL };
        let message = write(&at, &small(), &by_number(), &request).unwrap_err().to_string();
        assert!(message.starts_with("12 of 12 users are not among the 2 users of small after its filters: `u0`, `u1`"), "{message}");
        assert!(message.ends_with("`u9` and 2 more"), "{message}");
    }

    #[test]
    fn a_users_file_has_one_id_in_a_line() {
        let file = Location::parse("memory:///recommend/users.txt").unwrap();
        file.write("\u{feff}a\r\n\r\nb,\"c\"\r\n").unwrap();
        assert_eq!(read_users(&file).unwrap(), ["a", "b,\"c\""]);
        file.write("\n").unwrap();
        assert!(read_users(&file).unwrap_err().to_string().ends_with("names no user (expected one user id in a line)"));
    }
}
