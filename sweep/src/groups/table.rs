//! `user_groups.parquet`: the methods of a sweep on groups of users.

use super::{Group, OnDataset, OnGroup, UserGroups};
use crate::{
    tables::{numbers, numbers_or_null, texts, texts_or_null},
    tested::Tested,
};
use arrow::datatypes::{Float64Type, UInt32Type};
use dataset::{FileEntry, Location, Result, table};

impl UserGroups {
    /// Writes the table: by dataset, group and mean, the best first.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub(crate) fn write(&self, at: &Location) -> Result<FileEntry> {
        let rows: Vec<(&OnDataset, &Group, &OnGroup)> = self
            .datasets
            .iter()
            .flat_map(|dataset| {
                dataset.groups.iter().flat_map(move |group| group.methods.iter().map(move |method| (dataset, group, method)))
            })
            .collect();
        let mut columns = vec![
            texts("dataset", rows.iter().map(|(dataset, ..)| &dataset.name)),
            texts("column", rows.iter().map(|_| &self.column)),
            texts("group", rows.iter().map(|(_, group, _)| &group.value)),
            numbers::<UInt32Type>("users", rows.iter().map(|(_, group, _)| group.users as u32)),
            texts("metric", rows.iter().map(|_| self.at.metric.name())),
            numbers_or_null::<UInt32Type>("cutoff", rows.iter().map(|_| self.at.cutoff)),
            texts("method", rows.iter().map(|(.., row)| &row.key)),
            texts("title", rows.iter().map(|(.., row)| &row.title)),
            numbers::<Float64Type>("mean", rows.iter().map(|(.., row)| row.mean)),
        ];
        columns.extend(Tested::columns(rows.iter().map(|(.., row)| row.against.as_ref())));
        columns
            .push(texts_or_null("verdict", rows.iter().map(|(.., row)| row.against.as_ref().map(|against| against.judged.verdict.name()))));
        table::write(at, &table::batch(columns))
    }
}
