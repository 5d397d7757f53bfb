//! A prepared dataset in memory, and its way to and from storage.
//!
//! ```text
//! users.parquet, items.parquet                      user|item: uint32   user_id|item_id: utf8
//! train.parquet, validation.parquet, test.parquet   user: uint32        item: uint32          by user, then item
//! fold-in.parquet                                   user: uint32        item: uint32          where the split holds users out
//! ```
//! Where the source has timestamps, and no noise was added, the parts have a column more, `position: uint32`: see [`Order`]. A table of more than
//! 134,217,728 rows goes on in `train-2.parquet`, `train-3.parquet` and so on; the manifest lists its files.

use crate::{
    Cache, Counts, Error, FileEntry, Files, Histories, Interactions, Location, Manifest, Order, Result, SCHEMA_VERSION, Split,
    manifest::REMEDY,
    marker, quote,
    reader::Reader,
    table,
    table_files::{FILE_ROWS, file_name, ranges},
};
use arrow::array::{ArrayRef, StringArray, UInt32Array};
use rayon::prelude::*;
use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, LazyLock},
};

/// The interactions of no users.
static NOBODY: LazyLock<Interactions> = LazyLock::new(|| Interactions::empty(0));

/// A prepared dataset: the users' own ids and sets of interactions between dense ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The dataset's name in the sweep file.
    pub name: String,
    /// Hash of all that determines the content.
    pub fingerprint: String,
    /// The users' own ids, by dense id.
    pub user_ids: Vec<String>,
    /// The items' own ids, by dense id.
    pub item_ids: Vec<String>,
    /// What models learn from.
    pub train: Interactions,
    /// The histories of users whom no training sees, who have nothing in train; `None` where the split holds no users out.
    pub fold_in: Option<Interactions>,
    /// What values are tuned on; may be empty.
    pub validation: Interactions,
    /// What is reported.
    pub test: Interactions,
    /// Whether users and items are one set of nodes, of which none is ranked for itself.
    pub one_node_set: bool,
    /// The order in which the interactions came, where it is known and was asked for.
    pub order: Option<Order>,
    /// What was left after each step of the preparation.
    pub steps: Vec<Counts>,
    /// The resolved settings of the preparation.
    pub settings: serde_json::Value,
}

impl Dataset {
    /// Number of users.
    pub fn users(&self) -> usize {
        self.user_ids.len()
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.item_ids.len()
    }

    /// One part; [`Split::FoldIn`] is that of no users where the split holds none out.
    pub fn split(&self, split: Split) -> &Interactions {
        match split {
            Split::Train => &self.train,
            Split::FoldIn => self.fold_in.as_ref().unwrap_or(&NOBODY),
            Split::Validation => &self.validation,
            Split::Test => &self.test,
        }
    }

    /// Each user's items of some parts in the order in which they came; `None` where it is not known.
    pub fn histories(&self, splits: &[Split]) -> Option<Histories> {
        let order = self.order.as_ref()?;
        let parts: Vec<_> = splits.iter().map(|&split| (self.split(split), order.split(split))).collect();
        Some(Histories::new(self.users(), &parts))
    }

    /// The folder's name under `datasets/` in the storage.
    pub fn folder(name: &str, fingerprint: &str) -> String {
        format!("{name}-{fingerprint}")
    }

    /// Writes the tables and then the manifest, so that an unfinished folder is never taken for a dataset.
    ///
    /// # Errors
    /// [`Error::Store`] when something cannot be stored.
    pub fn write(&self, folder: &Location) -> Result<Manifest> {
        self.write_files_of(FILE_ROWS, folder)
    }

    /// Writes, with at most so many rows in a file.
    pub(crate) fn write_files_of(&self, file_rows: usize, folder: &Location) -> Result<Manifest> {
        let mut files = Files::new();
        for (name, table) in self.encoded(file_rows)? {
            files.insert(name.clone(), FileEntry::of(&table));
            folder.join(&name).write(table)?;
        }
        let manifest = Manifest {
            schema_version: SCHEMA_VERSION,
            name: self.name.clone(),
            fingerprint: self.fingerprint.clone(),
            users: self.users(),
            items: self.items(),
            train: self.train.len(),
            fold_in: self.fold_in.as_ref().map(Interactions::len),
            validation: self.validation.len(),
            test: self.test.len(),
            one_node_set: self.one_node_set,
            ordered: self.order.is_some(),
            steps: self.steps.clone(),
            settings: self.settings.clone(),
            files,
        };
        folder.join("manifest.json").write(marker::text(&manifest))?;
        Ok(manifest)
    }

    /// Each file's name, and its bytes.
    fn encoded(&self, file_rows: usize) -> Result<Vec<(String, Vec<u8>)>> {
        let pairs = |split: Split| move |rows: Range<usize>| self.pairs(split, rows);
        let [train, test, validation, fold_in] = [Split::Train, Split::Test, Split::Validation, Split::FoldIn].map(pairs);
        let users = |rows: Range<usize>| ids("user", "user_id", &self.user_ids, rows);
        let items = |rows: Range<usize>| ids("item", "item_id", &self.item_ids, rows);
        let tables: [(&'static str, Option<usize>, Encode<'_>); 6] = [
            (Split::Train.name(), Some(self.train.len()), &train),
            (Split::Test.name(), Some(self.test.len()), &test),
            (Split::Validation.name(), Some(self.validation.len()), &validation),
            ("users", Some(self.users()), &users),
            ("items", Some(self.items()), &items),
            (Split::FoldIn.name(), self.fold_in.as_ref().map(Interactions::len), &fold_in),
        ];
        let mut files = Vec::new();
        for (table, rows, encode) in tables {
            let ranges = rows.into_iter().flat_map(|rows| ranges(rows, file_rows));
            files.extend(ranges.enumerate().map(|(place, rows)| (file_name(table, place), rows, encode)));
        }
        files.into_par_iter().map(|(name, rows, encode)| Ok((name, encode(rows)?))).collect()
    }

    /// Rows of one part as a table.
    fn pairs(&self, split: Split, rows: Range<usize>) -> Result<Vec<u8>> {
        let interactions = self.split(split);
        let users = |rows: Range<usize>| Arc::new(UInt32Array::from_iter_values(interactions.users_at(rows))) as ArrayRef;
        let items = |rows: Range<usize>| Arc::new(UInt32Array::from(interactions.items()[rows].to_vec())) as ArrayRef;
        match &self.order {
            None => table::encode_sorted(rows, &[("user", &users), ("item", &items)]),
            Some(order) => {
                let places = |rows: Range<usize>| Arc::new(UInt32Array::from(order.split(split)[rows].to_vec())) as ArrayRef;
                table::encode_sorted(rows, &[("user", &users), ("item", &items), ("position", &places)])
            }
        }
    }

    /// Reads the manifest of a finished dataset.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the dataset is unfinished or absent; [`Error::Content`] for another schema version; [`Error::Damaged`] for a
    /// manifest that was changed or cut off.
    pub fn read_manifest(folder: &Location) -> Result<Manifest> {
        let at = folder.join("manifest.json");
        // The version first: another one may have other keys, and an older one no checksum of its own.
        match serde_json::from_slice::<Version>(&at.read()?).map(|stored| stored.schema_version) {
            Ok(newer) if newer > SCHEMA_VERSION => {
                let reason =
                    format!("schema version {newer} is newer than {SCHEMA_VERSION}, which this build reads; use a newer ranksweep");
                Err(Error::content(at, reason))
            }
            Ok(older) if older < SCHEMA_VERSION => {
                Err(Error::content(at, format!("schema version {older} where this build reads {SCHEMA_VERSION}; {REMEDY}")))
            }
            _ => {
                let manifest: Manifest = marker::read(&at, REMEDY)?;
                manifest.check().map_err(|reason| Error::content(&at, format!("{reason}; {REMEDY}")))?;
                Ok(manifest)
            }
        }
    }

    /// Reads the manifest of a finished dataset beside which all of its tables stand, by their sizes.
    ///
    /// # Errors
    /// As for [`read_manifest`](Self::read_manifest), and [`Error::Damaged`] for a table that is missing or has another size.
    pub fn find(folder: &Location) -> Result<Manifest> {
        let manifest = Self::read_manifest(folder)?;
        let sizes: HashMap<String, u64> = folder.listing()?.into_iter().map(|file| (file.at.name().to_owned(), file.bytes)).collect();
        match manifest.files.iter().find(|(name, entry)| sizes.get(*name) != Some(&entry.bytes)) {
            None => Ok(manifest),
            Some((name, entry)) => {
                let found = sizes.get(name).map_or_else(|| "is missing".to_owned(), |size| format!("has {size} bytes"));
                Err(Error::damaged(folder.join(name), format!("it {found}, and the manifest says {} bytes; {REMEDY}", entry.bytes)))
            }
        }
    }

    /// Reads a dataset and checks it against its manifest.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a missing manifest; [`Error::Damaged`] for a table that is missing or not the manifest's; [`Error::Content`] for
    /// an id out of range, or a held-out item that is also in train.
    pub fn read(folder: &Location) -> Result<Self> {
        Self::read_through(None, folder, true)
    }

    /// Reads a dataset, whose tables may be kept in a cache, and checks it against its manifest. The order of interactions is read where it
    /// is known and `ordered` asks for it.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_through(cache: Option<&Cache>, folder: &Location, ordered: bool) -> Result<Self> {
        let manifest = Self::read_manifest(folder)?;
        let ordered = ordered && manifest.ordered;
        let reader = Reader { cache, folder, manifest: &manifest, ordered };
        // Ids first: a number of users that is not theirs makes nothing.
        let (user_ids, item_ids) = (reader.ids("users", "user_id", manifest.users)?, reader.ids("items", "item_id", manifest.items)?);
        let [(train, of_train), (validation, of_validation), (test, of_test)] =
            [reader.split(Split::Train)?, reader.split(Split::Validation)?, reader.split(Split::Test)?];
        let (fold_in, of_fold_in) = manifest.fold_in.map(|_| reader.split(Split::FoldIn)).transpose()?.unzip();
        let dataset = Self {
            user_ids,
            item_ids,
            train,
            fold_in,
            validation,
            test,
            order: ordered.then_some(Order {
                train: of_train,
                fold_in: of_fold_in.unwrap_or_default(),
                validation: of_validation,
                test: of_test,
            }),
            name: manifest.name,
            fingerprint: manifest.fingerprint,
            one_node_set: manifest.one_node_set,
            steps: manifest.steps,
            settings: manifest.settings,
        };
        dataset.check_disjoint().and_then(|()| dataset.check_held_out()).map_err(|reason| Error::content(folder, reason))?;
        Ok(dataset)
    }

    /// Checks that no interaction stands in two parts.
    ///
    /// # Errors
    /// A sentence that names the first offending pair by the dataset's own ids.
    pub fn check_disjoint(&self) -> Result<(), String> {
        let held_out = [(Split::Validation, Split::Train), (Split::Test, Split::Train), (Split::Test, Split::Validation)];
        let folded = [(Split::Validation, Split::FoldIn), (Split::Test, Split::FoldIn)];
        for (held, known) in held_out.into_iter().chain(folded.into_iter().filter(|_| self.fold_in.is_some())) {
            for (user, item) in self.split(held).pairs() {
                if self.split(known).contains(user as usize, item) {
                    let (user, item) = (quote::value(&self.user_ids[user as usize]), quote::value(&self.item_ids[item as usize]));
                    return Err(format!(
                        "user `{user}` has item `{item}` in {} and in {}; an interaction may stand in one part only",
                        held.name(),
                        known.name()
                    ));
                }
            }
        }
        Ok(())
    }
}

/// What every version of a manifest has.
#[derive(serde::Deserialize)]
struct Version {
    schema_version: u32,
}

/// What gives the bytes of rows of a table.
type Encode<'a> = &'a (dyn Fn(Range<usize>) -> Result<Vec<u8>> + Sync);

/// Rows of the table of dense and own ids.
pub(crate) fn ids(dense: &'static str, own: &'static str, ids: &[String], rows: Range<usize>) -> Result<Vec<u8>> {
    let places = |rows: Range<usize>| Arc::new(UInt32Array::from_iter_values(rows.start as u32..rows.end as u32)) as ArrayRef;
    let texts = |rows: Range<usize>| Arc::new(StringArray::from_iter_values(&ids[rows])) as ArrayRef;
    table::encode_sorted(rows, &[(dense, &places), (own, &texts)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Dataset {
        Dataset {
            name: "small".into(),
            fingerprint: "f00d".into(),
            user_ids: vec!["a".into(), "b,\"c\"".into()],
            item_ids: vec!["x".into(), "y".into(), "z".into()],
            train: Interactions::from_pairs(2, [(0, 0), (1, 2)].into_iter()),
            validation: Interactions::empty(2),
            one_node_set: false,
            test: Interactions::from_pairs(2, [(0, 1), (1, 0)].into_iter()),
            order: None,
            fold_in: None,
            steps: vec![Counts { step: "read".into(), users: 2, items: 3, interactions: 4 }],
            settings: serde_json::json!({"seed": 1}),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = Location::parse("memory:///prepared/roundtrip").unwrap();
        small().write(&folder).unwrap();
        assert_eq!(Dataset::read(&folder).unwrap(), small());
    }

    /// The order is there for who asks for it, and for others not even read.
    #[test]
    fn the_order_is_read_where_it_is_asked_for() {
        let folder = Location::parse("memory:///prepared/ordered").unwrap();
        let order = Order { train: vec![1, 0], fold_in: Vec::new(), validation: Vec::new(), test: vec![0, 1] };
        let ordered = Dataset { order: Some(order), ..small() };
        assert!(ordered.write(&folder).unwrap().ordered);
        assert_eq!(Dataset::read(&folder).unwrap(), ordered);
        assert_eq!(Dataset::read_through(None, &folder, false).unwrap(), small());
        let histories = ordered.histories(&[Split::Train, Split::Test]).unwrap();
        assert_eq!((histories.row(0), histories.row(1)), (&[1, 0][..], &[2, 0][..]));
        assert_eq!(small().histories(&[Split::Train]), None);
    }

    #[test]
    fn an_order_of_rows_that_are_not_sorted_is_refused() {
        let folder = Location::parse("memory:///prepared/unsorted").unwrap();
        let order = Order { train: vec![1, 0], fold_in: Vec::new(), validation: Vec::new(), test: vec![0, 1] };
        let mut manifest = Dataset { order: Some(order), ..small() }.write(&folder).unwrap();
        let column = |values: [u32; 2]| Arc::new(UInt32Array::from(values.to_vec())) as ArrayRef;
        let batch =
            table::batch(vec![("user", column([1, 0]), false), ("item", column([2, 0]), false), ("position", column([0, 0]), false)]);
        let entry = table::write(&folder.join("train.parquet"), &batch).unwrap();
        manifest.files.insert("train.parquet".to_owned(), entry);
        folder.join("manifest.json").write(marker::text(&manifest)).unwrap();
        let message = Dataset::read(&folder).unwrap_err().to_string();
        assert!(
            message.ends_with("train.parquet: its rows are not by user, then item, each once; delete the folder and prepare again"),
            "{message}"
        );
        assert_eq!(Dataset::read_through(None, &folder, false).unwrap().train, small().train);
    }

    #[test]
    fn a_folder_without_a_manifest_is_no_dataset() {
        let folder = Location::parse("memory:///prepared/unfinished").unwrap();
        small().write(&folder).unwrap();
        folder.join("manifest.json").delete().unwrap();
        assert!(matches!(Dataset::read(&folder), Err(Error::NotFound { .. })));
    }

    #[test]
    fn a_manifest_of_another_version_says_which_way() {
        let folder = Location::parse("memory:///prepared/versions").unwrap();
        for (version, advice) in [(9, "use a newer ranksweep"), (0, "prepare again")] {
            folder.join("manifest.json").write(format!(r#"{{"schema_version": {version}, "new_key": 1}}"#)).unwrap();
            let message = Dataset::read_manifest(&folder).unwrap_err().to_string();
            assert!(message.contains("manifest.json: schema version") && message.ends_with(advice), "{message}");
        }
    }

    #[test]
    fn a_changed_table_is_refused() {
        let folder = Location::parse("memory:///prepared/changed").unwrap();
        small().write(&folder).unwrap();
        folder.join("test.parquet").write("junk").unwrap();
        let message = Dataset::read(&folder).unwrap_err().to_string();
        assert!(message.contains("test.parquet") && message.contains("checksum"), "{message}");
    }

    #[test]
    fn counts_that_are_not_those_of_the_tables_are_refused() {
        let folder = Location::parse("memory:///prepared/counts").unwrap();
        let manifest = small().write(&folder).unwrap();
        let at = folder.join("manifest.json");
        let refused = |manifest: &Manifest| {
            at.write(marker::text(manifest)).unwrap();
            Dataset::read(&folder).unwrap_err().to_string()
        };
        for users in [1 << 60, usize::MAX, 1 << 33] {
            let message = refused(&Manifest { users, ..manifest.clone() });
            assert!(message.contains(&format!("manifest.json: `users` is {users}: expected at most 2147483648")), "{message}");
        }
        let message = refused(&Manifest { users: 2_000_000_000, ..manifest.clone() });
        assert!(message.contains("users.parquet: 2 users where the manifest says 2000000000"), "{message}");
        let message = refused(&Manifest { items: 2, ..manifest.clone() });
        assert!(message.contains("items.parquet: 3 items where the manifest says 2"), "{message}");
        let message = refused(&Manifest { test: 1 << 40, ..manifest.clone() });
        assert!(message.contains("test.parquet: 2 interactions where the manifest says 1099511627776"), "{message}");
        let message = refused(&Manifest { train: usize::MAX, ..manifest });
        assert!(message.contains("`train` is 18446744073709551615"), "{message}");
    }

    #[test]
    fn a_dataset_is_found_with_all_of_its_tables() {
        let folder = Location::parse("memory:///prepared/found").unwrap();
        assert!(matches!(Dataset::find(&folder), Err(Error::NotFound { .. })));
        let manifest = small().write(&folder).unwrap();
        assert_eq!(Dataset::find(&folder).unwrap(), manifest);
        folder.join("users.parquet").delete().unwrap();
        let message = Dataset::find(&folder).unwrap_err().to_string();
        assert!(message.contains("users.parquet: it is missing, and the manifest says"), "{message}");
        folder.join("users.parquet").write("short").unwrap();
        assert!(Dataset::find(&folder).unwrap_err().to_string().contains("users.parquet: it has 5 bytes"));
        let text = marker::text(&manifest).replace("\"users\": 2", "\"users\": 3");
        folder.join("manifest.json").write(text).unwrap();
        let message = Dataset::read_manifest(&folder).unwrap_err().to_string();
        assert!(message.ends_with("manifest.json: its own checksum differs; delete the folder and prepare again"), "{message}");
    }

    #[test]
    fn a_test_item_in_train_is_named_by_its_own_id() {
        let mut leaking = small();
        leaking.test = Interactions::from_pairs(2, [(1, 2)].into_iter());
        let message = leaking.check_disjoint().unwrap_err();
        assert!(message.contains("b,\"c\"") && message.contains("`z`"), "{message}");
    }
}
