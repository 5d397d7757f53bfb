//! The tables of a prepared dataset on their way from storage into memory, held against its manifest.

use crate::{
    Cache, Error, Interactions, Location, Manifest, Result, Split,
    manifest::REMEDY,
    table,
    table_files::{file_name, first_file},
};
use arrow::array::{RecordBatch, StringArray, UInt32Array};

/// Reads the tables of one dataset.
pub(crate) struct Reader<'a> {
    /// Where tables may be kept.
    pub(crate) cache: Option<&'a Cache>,
    /// The dataset's folder.
    pub(crate) folder: &'a Location,
    /// Its manifest.
    pub(crate) manifest: &'a Manifest,
    /// Whether the order of interactions is read.
    pub(crate) ordered: bool,
}

impl Reader<'_> {
    /// The own ids of users or items, by dense id.
    pub(crate) fn ids(&self, table: &str, column: &str, listed: usize) -> Result<Vec<String>> {
        let batches = self.batches(table, &[column], table, listed)?;
        let mut ids = Vec::with_capacity(listed);
        for (batch, at) in &batches {
            ids.extend(table::column::<StringArray>(batch, column, at)?.iter().map(|id| id.unwrap_or_default().to_owned()));
        }
        Ok(ids)
    }

    /// One part, and the places of its interactions in time where the order is read.
    pub(crate) fn split(&self, split: Split) -> Result<(Interactions, Vec<u32>)> {
        let Manifest { users: user_count, items: item_count, train, fold_in, validation, test, .. } = *self.manifest;
        let listed = match split {
            Split::Train => train,
            Split::FoldIn => fold_in.unwrap_or_default(),
            Split::Validation => validation,
            Split::Test => test,
        };
        let columns: &[&str] = if self.ordered { &["user", "item", "position"] } else { &["user", "item"] };
        let batches = self.batches(split.name(), columns, "interactions", listed)?;
        let (mut ids, mut places) = (Vec::with_capacity(batches.len()), Vec::new());
        for (batch, at) in &batches {
            let users: &UInt32Array = table::column(batch, "user", at)?;
            let items: &UInt32Array = table::column(batch, "item", at)?;
            check_range("user", users, user_count, at)?;
            check_range("item", items, item_count, at)?;
            if self.ordered {
                places.extend_from_slice(table::column::<UInt32Array>(batch, "position", at)?.values());
            }
            ids.push((&users.values()[..], &items.values()[..]));
        }
        let pairs = || ids.iter().flat_map(|(users, items)| users.iter().copied().zip(items.iter().copied()));
        if self.ordered && !pairs().is_sorted_by(|one, other| one < other) {
            let at = self.folder.join(&first_file(split.name()));
            return Err(Error::content(at, format!("its rows are not by user, then item, each once; {REMEDY}")));
        }
        Ok((Interactions::from_pairs(user_count, pairs()), places))
    }

    /// Columns of a table, each batch with the file that it is of. There are as many rows as are listed of `what`: nothing is made from that number before.
    fn batches(&self, table: &str, columns: &[&str], what: &str, listed: usize) -> Result<Vec<(RecordBatch, Location)>> {
        let Self { cache, folder, manifest, .. } = self;
        let mut batches = Vec::new();
        let later = (1..).map(|place| file_name(table, place)).take_while(|name| manifest.files.contains_key(name));
        for name in [first_file(table)].into_iter().chain(later) {
            let at = folder.join(&name);
            let entry = manifest.files.get(&name).ok_or_else(|| Error::content(&at, "the manifest does not list this file"))?;
            let at = at.holding(entry, REMEDY);
            let bytes = cache.map_or_else(|| at.read(), |cache| cache.table(&at, entry))?;
            batches.extend(table::decode_columns(bytes, columns, &at)?.into_iter().map(|batch| (batch, at.clone())));
        }
        match batches.iter().map(|(batch, _)| batch.num_rows()).sum::<usize>() {
            rows if rows == listed => Ok(batches),
            rows => {
                Err(Error::content(folder.join(&first_file(table)), format!("{rows} {what} where the manifest says {listed}; {REMEDY}")))
            }
        }
    }
}

fn check_range(what: &str, ids: &UInt32Array, bound: usize, at: &Location) -> Result<()> {
    match ids.values().iter().find(|&&id| id as usize >= bound) {
        Some(id) => Err(Error::content(at, format!("{what} {id} is outside the {bound} {what}s of the manifest"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_outside_the_manifest_is_an_error() {
        let at = Location::parse("memory:///prepared/test.parquet").unwrap();
        let message = check_range("item", &UInt32Array::from(vec![1, 90_017]), 8_360, &at).unwrap_err().to_string();
        assert!(message.ends_with("item 90017 is outside the 8360 items of the manifest"), "{message}");
    }
}
