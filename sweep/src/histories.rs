//! Histories of users that no model was trained with, from a file of their own: what `recommend --histories` folds in.

use crate::user_rows;
use anyhow::{Context, Result, bail};
use dataset::{Dataset, Interactions, Location, quote};
use std::collections::HashMap;

/// The column of items, by the names that it may have.
const ITEM: [&str; 2] = ["item_id", "item"];

/// Unknown items that are named.
const NAMED: usize = 5;

/// Users with the items that a model knows.
#[derive(Debug)]
pub(crate) struct Histories {
    /// The users' own ids, in the order of their first rows.
    pub(crate) user_ids: Vec<String>,
    /// Their items, by dense ids.
    pub(crate) items: Interactions,
    /// The place of each item among its user's rows, in the order of [`Interactions::items`]; of an item that comes again its last, as in training.
    pub(crate) places: Vec<u32>,
    /// Users without an item that is known, who are left out.
    pub(crate) without: usize,
    /// Rows whose item is not known.
    pub(crate) unknown_items: usize,
    /// Some of these items, in the order of the rows.
    unknown: Vec<String>,
}

impl Histories {
    /// Reads a table of users and items: `.parquet`, `.tsv`, or CSV with a header.
    ///
    /// # Errors
    /// A file that cannot be read, lacks a column, or has no user with an item that the dataset knows.
    pub(crate) fn read(file: &Location, dataset: &Dataset) -> Result<Self> {
        Self::new(user_rows::read(file, &ITEM)?, dataset).with_context(|| file.to_string())
    }

    fn new(rows: Vec<(String, Option<String>)>, dataset: &Dataset) -> Result<Self> {
        let known: HashMap<&str, u32> = dataset.item_ids.iter().map(String::as_str).zip(0..).collect();
        let (mut users, mut histories, mut unknown_items) = (HashMap::new(), Vec::<(String, Vec<u32>)>::new(), 0);
        let mut unknown: Vec<String> = Vec::new();
        for (row, (user, item)) in rows.into_iter().enumerate() {
            let Some(item) = item else { bail!("row {}: the item of user `{}` is empty (expected an id)", row + 1, quote::value(&user)) };
            let place = *users.entry(user).or_insert_with_key(|user| {
                histories.push((user.clone(), Vec::new()));
                histories.len() - 1
            });
            match known.get(item.as_str()) {
                Some(&item) => histories[place].1.push(item),
                None => {
                    unknown_items += 1;
                    if unknown.len() < NAMED && !unknown.contains(&item) {
                        unknown.push(item);
                    }
                }
            }
        }
        let all = histories.len();
        histories.retain(|(_, items)| !items.is_empty());
        if histories.is_empty() {
            bail!("no history has an item of {}, which has {} items (expected the items' own ids)", dataset.name, dataset.items());
        }
        let pairs: Vec<(u32, u32)> =
            (0..).zip(&histories).flat_map(|(user, (_, items))| items.iter().map(move |&item| (user, item))).collect();
        let items = Interactions::from_pairs(histories.len(), pairs.into_iter());
        let places = histories.iter().enumerate().flat_map(|(user, (_, history))| {
            let last: HashMap<u32, u32> = history.iter().enumerate().map(|(place, &item)| (item, place as u32)).collect();
            items.row(user).iter().map(move |item| last[item])
        });
        Ok(Self {
            places: places.collect(),
            items,
            without: all - histories.len(),
            user_ids: histories.into_iter().map(|(user, _)| user).collect(),
            unknown_items,
            unknown,
        })
    }

    /// The rows and users that were left out, in words that follow a sentence; nothing where all was known.
    pub(crate) fn left_out(&self) -> String {
        let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let named: Vec<String> = self.unknown.iter().map(|id| format!("`{}`", quote::value(id))).collect();
        let items = (self.unknown_items > 0).then(|| {
            format!("{} of items that the model does not know left out ({})", counted(self.unknown_items, "row"), named.join(", "))
        });
        let users = (self.without > 0).then(|| format!("no list for {} without an item that it knows", counted(self.without, "user")));
        items.into_iter().chain(users).map(|words| format!("; {words}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::table;

    fn small() -> Dataset {
        let nothing = || Interactions::from_pairs(1, std::iter::empty());
        Dataset {
            name: "small".into(),
            fingerprint: "f00d".into(),
            user_ids: vec!["a".into()],
            item_ids: ["1", "2", "x,y"].map(str::to_owned).to_vec(),
            train: nothing(),
            validation: nothing(),
            one_node_set: false,
            test: nothing(),
            fold_in: None,
            order: None,
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        }
    }

    fn file(name: &str, content: &str) -> Location {
        let file = Location::parse(&format!("memory:///histories/{name}")).unwrap();
        file.write(content.to_owned()).unwrap();
        file
    }

    #[test]
    fn rows_of_a_user_are_a_history() {
        let read = |name: &str, content: &str| Histories::read(&file(name, content), &small()).unwrap();
        let found = read("h.csv", "\u{feff}time,user_id,item\r\n5,u,2\r\n6,v,\"x,y\"\r\n7,u,1\r\n8,u,2\r\n9,w,9\r\n");
        assert_eq!((found.user_ids.as_slice(), found.unknown_items, found.without), (["u".to_owned(), "v".to_owned()].as_slice(), 1, 1));
        assert_eq!((found.items.row(0), found.items.row(1)), ([0, 1].as_slice(), [2].as_slice()));
        assert_eq!(found.places, [1, 2, 0], "item 2 came again");
        assert_eq!(
            found.left_out(),
            "; 1 row of items that the model does not know left out (`9`); no list for 1 user without an item that it knows"
        );
        assert_eq!(read("h.tsv", "user\titem\nu\t1\n").left_out(), "");
        for (name, content) in [
            ("commas.tsv", "user_id\titem_id\tage, years\nu\t1\t3, 4\n"),
            ("tabs.txt", "user_id\titem_id\tage, years\nu\t1\t3\n"),
            ("semicolons.csv", "user_id;item_id;age, years\nu;1;3,5\n"),
            ("quoted.csv", "\"user_id\",item_id,\"a\tb\"\nu,1,3\n"),
        ] {
            let found = read(name, content);
            assert_eq!((found.user_ids.as_slice(), found.items.row(0)), (["u".to_owned()].as_slice(), [0].as_slice()), "{name}");
        }
    }

    #[test]
    fn whole_numbers_of_parquet_are_ids() {
        let at = Location::parse("memory:///histories/h.parquet").unwrap();
        let numbers: arrow::array::ArrayRef = std::sync::Arc::new(arrow::array::Int64Array::from(vec![2, 1]));
        table::write(&at, &table::batch(vec![("user", numbers.clone(), false), ("item", numbers, false)])).unwrap();
        let found = Histories::read(&at, &small()).unwrap();
        assert_eq!((found.user_ids.as_slice(), found.items.row(0)), (["2".to_owned(), "1".to_owned()].as_slice(), [1].as_slice()));
    }

    #[test]
    fn a_parquet_row_without_a_user_is_named() {
        let at = Location::parse("memory:///histories/empty.parquet").unwrap();
        let text =
            |values: [&str; 2]| -> arrow::array::ArrayRef { std::sync::Arc::new(arrow::array::StringArray::from_iter_values(values)) };
        table::write(&at, &table::batch(vec![("user", text(["u", " "]), false), ("item", text(["1", "2"]), false)])).unwrap();
        let message = format!("{:#}", Histories::read(&at, &small()).unwrap_err());
        assert!(message.ends_with("row 2: column `user` is empty (expected a user's id)"), "{message}");
    }

    #[test]
    fn what_is_no_history_says_why() {
        let message = |name: &str, content: &str| format!("{:#}", Histories::read(&file(name, content), &small()).unwrap_err());
        assert_eq!(message("no.csv", "usr,item\na,1\n"), "memory:///histories/no.csv: no column `user_id` or `user` (found `usr`, `item`)");
        assert!(
            message("other.csv", "user,item\na,9\n")
                .ends_with("no history has an item of small, which has 3 items (expected the items' own ids)")
        );
        assert!(message("ragged.csv", "user,item\na\n").contains("line: 2"), "{}", message("ragged.csv", "user,item\na\n"));
    }
}
