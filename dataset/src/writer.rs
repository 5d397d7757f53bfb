//! A prepared dataset on its way to storage some users at a time, as one that memory does not hold is made.

use crate::{
    Dataset, FileEntry, Files, Interactions, Location, Manifest, Result, SCHEMA_VERSION, Split, marker,
    prepared::ids,
    table_files::{FILE_ROWS, TableFiles, file_name, ranges},
};
use arrow::{
    array::{ArrayRef, StringArray, UInt32Array},
    datatypes::DataType,
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

const PARTS: [Split; 4] = [Split::Train, Split::Validation, Split::Test, Split::FoldIn];

/// Writes a dataset by runs of users, in files of this machine that go to the storage in the end: the bytes of [`Dataset::write`] of all users
/// together.
pub struct DatasetWriter {
    scratch: PathBuf,
    file_rows: usize,
    users: TableFiles,
    count: usize,
    /// One for each part, the last where users are held out.
    parts: Option<Vec<TableFiles>>,
    interactions: [usize; 4],
    ordered: bool,
    folded: bool,
}

impl DatasetWriter {
    /// Begins in an empty folder of this machine.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) when files cannot be made there.
    pub fn new(scratch: &Path) -> Result<Self> {
        Self::with_files_of(FILE_ROWS, scratch)
    }

    /// Begins, with at most so many rows in a file.
    fn with_files_of(file_rows: usize, scratch: &Path) -> Result<Self> {
        let users = TableFiles::create(scratch, "users", vec![("user", DataType::UInt32), ("user_id", DataType::Utf8)], file_rows)?;
        let scratch = scratch.to_owned();
        Ok(Self { scratch, file_rows, users, count: 0, parts: None, interactions: [0; 4], ordered: false, folded: false })
    }

    /// Takes the next users, whose dense ids start at 0 in `users`, with their own ids and interactions. Either all calls bring the order of
    /// interactions, or none; and so it is with histories to fold in.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) or [`Error::Content`](crate::Error::Content) when the disk does not take them.
    pub fn add(&mut self, users: &Dataset) -> Result<()> {
        let first = self.count as u32;
        self.count += users.users();
        let places = UInt32Array::from_iter_values(first..self.count as u32);
        self.users.push(&[Arc::new(places), Arc::new(StringArray::from_iter_values(&users.user_ids))])?;
        if self.parts.is_none() {
            self.ordered = users.order.is_some();
            self.folded = users.fold_in.is_some();
            self.parts = Some(self.begin_parts()?);
        }
        let files = self.parts.as_mut().expect("begun above");
        for ((file, part), count) in files.iter_mut().zip(PARTS).zip(&mut self.interactions) {
            let own: &Interactions = users.split(part);
            *count += own.len();
            let ids = UInt32Array::from_iter_values(own.users_at(0..own.len()).map(|user| first + user));
            let mut columns: Vec<ArrayRef> = vec![Arc::new(ids), Arc::new(UInt32Array::from(own.items().to_vec()))];
            if let Some(order) = &users.order {
                columns.push(Arc::new(UInt32Array::from(order.split(part).to_vec())));
            }
            file.push(&columns)?;
        }
        Ok(())
    }

    /// Stores the tables and then the manifest. `all` has what is the same for all users: the dataset's name, fingerprint, steps and settings,
    /// and the items' own ids.
    ///
    /// # Errors
    /// As for [`Dataset::write`].
    pub fn finish(mut self, all: &Dataset, folder: &Location) -> Result<Manifest> {
        let parts = match self.parts.take() {
            Some(parts) => parts,
            None => self.begin_parts()?,
        };
        let mut files = Files::new();
        let mut stored = |name: String, entry: FileEntry| -> Result<()> {
            folder.join(&name).take(&self.scratch.join(&name))?;
            files.insert(name, entry);
            Ok(())
        };
        for table in parts.into_iter().chain([self.users]) {
            table.finish()?.into_iter().try_for_each(|(name, entry)| stored(name, entry))?;
        }
        for (place, rows) in ranges(all.items(), self.file_rows).enumerate() {
            let (name, items) = (file_name("items", place), ids("item", "item_id", &all.item_ids, rows)?);
            files.insert(name.clone(), FileEntry::of(&items));
            folder.join(&name).write(items)?;
        }
        let [train, validation, test, folded] = self.interactions;
        let manifest = Manifest {
            schema_version: SCHEMA_VERSION,
            name: all.name.clone(),
            fingerprint: all.fingerprint.clone(),
            users: self.count,
            items: all.items(),
            train,
            fold_in: self.folded.then_some(folded),
            validation,
            test,
            one_node_set: all.one_node_set,
            ordered: self.ordered,
            steps: all.steps.clone(),
            settings: all.settings.clone(),
            files,
        };
        folder.join("manifest.json").write(marker::text(&manifest))?;
        Ok(manifest)
    }

    fn begin_parts(&self) -> Result<Vec<TableFiles>> {
        let names = if self.ordered { &["user", "item", "position"][..] } else { &["user", "item"] };
        let columns: Vec<_> = names.iter().map(|&name| (name, DataType::UInt32)).collect();
        let parts = PARTS.into_iter().filter(|&part| part != Split::FoldIn || self.folded);
        parts.map(|part| TableFiles::create(&self.scratch, part.name(), columns.clone(), self.file_rows)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counts, Order};
    use proptest::prelude::*;

    /// The users `from..to` of a dataset.
    fn run_of(dataset: &Dataset, from: usize, to: usize) -> Dataset {
        let rows = |part: Split| dataset.split(part).offsets()[from]..dataset.split(part).offsets()[to];
        let part = |part: Split| {
            let pairs = (from..to).flat_map(|user| dataset.split(part).row(user).iter().map(move |&item| ((user - from) as u32, item)));
            Interactions::from_pairs(to - from, pairs.collect::<Vec<_>>().into_iter())
        };
        let folded = |order: &Order| match &dataset.fold_in {
            Some(_) => order.fold_in[rows(Split::FoldIn)].to_vec(),
            None => Vec::new(),
        };
        let order = dataset.order.as_ref().map(|order| Order {
            train: order.train[rows(Split::Train)].to_vec(),
            fold_in: folded(order),
            validation: order.validation[rows(Split::Validation)].to_vec(),
            test: order.test[rows(Split::Test)].to_vec(),
        });
        Dataset {
            user_ids: dataset.user_ids[from..to].to_vec(),
            train: part(Split::Train),
            fold_in: dataset.fold_in.as_ref().map(|_| part(Split::FoldIn)),
            validation: part(Split::Validation),
            test: part(Split::Test),
            order,
            ..dataset.clone()
        }
    }

    fn content(folder: &Location) -> Vec<(String, Vec<u8>)> {
        folder.list().unwrap().iter().map(|at| (at.name().to_owned(), at.read().unwrap().to_vec())).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn runs_of_users_give_the_bytes_of_all(
            rows in prop::collection::vec((any::<bool>(), prop::collection::btree_map(0u32..30, 0usize..3, 0..12)), 1..40),
            runs in prop::collection::vec(1usize..9, 40), ordered: bool, folds: bool, file_rows in prop_oneof![1usize..40, Just(FILE_ROWS)],
        ) {
            let users = rows.len();
            // Users who are held out have in the fold-in what they would have in train.
            let of = |wanted: usize| {
                let part = move |held_out: bool, part: usize| if held_out && folds && part == 0 { 3 } else { part };
                let pairs = rows.iter().zip(0u32..).flat_map(|((held_out, row), user)| row.iter().map(move |(&item, &own)| (user, item, part(*held_out, own))));
                Interactions::from_pairs(users, pairs.filter(|pair| pair.2 == wanted).map(|pair| (pair.0, pair.1)).collect::<Vec<_>>().into_iter())
            };
            let places = |part: &Interactions| part.items().iter().map(|item| item * 7 % 5).collect();
            let [train, validation, test, folded] = [of(0), of(1), of(2), of(3)];
            let order = ordered.then(|| Order { train: places(&train), fold_in: places(&folded), validation: places(&validation), test: places(&test) });
            let dataset = Dataset {
                name: "d".into(), fingerprint: "f00d".into(), train, validation, test, one_node_set: false, order, fold_in: folds.then_some(folded),
                user_ids: (0..users).map(|user| format!("user {user}")).collect(),
                item_ids: (0..30).map(|item| format!("item {item}")).collect(),
                steps: vec![Counts { step: "read".into(), users, items: 30, interactions: 7 }],
                settings: serde_json::json!({"seed": 1}),
            };
            let [whole, by_runs] = ["whole", "runs"].map(|name| Location::parse(&format!("memory:///writer/{name}-{users}-{ordered}-{folds}-{file_rows}")).unwrap());
            [&whole, &by_runs].iter().flat_map(|folder| folder.list().unwrap()).for_each(|left| left.delete().unwrap());
            let expected = dataset.write_files_of(file_rows, &whole).unwrap();
            for (table, rows) in [("train", dataset.train.len()), ("users", users), ("items", 30)] {
                let files = expected.files.keys().filter(|name| name.starts_with(table)).count();
                prop_assert_eq!(files, rows.div_ceil(file_rows).max(1));
            }
            prop_assert_eq!(&Dataset::read(&whole).unwrap(), &dataset);
            let scratch = tempfile::tempdir().unwrap();
            let mut writer = DatasetWriter::with_files_of(file_rows, scratch.path()).unwrap();
            let (mut from, mut runs) = (0, runs.into_iter());
            while from < users {
                let to = users.min(from + runs.next().unwrap_or(users));
                writer.add(&run_of(&dataset, from, to)).unwrap();
                from = to;
            }
            prop_assert_eq!(writer.finish(&dataset, &by_runs).unwrap(), expected);
            prop_assert!(content(&by_runs) == content(&whole));
            prop_assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
        }
    }
}
