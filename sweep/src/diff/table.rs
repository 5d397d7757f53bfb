//! `differences.parquet`: the methods that two sweeps have in common, on the users that both ranked.

use super::{Difference, MethodDifference};
use crate::{
    number,
    tables::{numbers, numbers_or_null, texts},
    tested::Tested,
};
use arrow::datatypes::{Float64Type, UInt32Type};
use dataset::{FileEntry, Location, Result, table};

impl Difference<'_> {
    /// Writes the table, one row for each method of each dataset.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub(crate) fn write(&self, at: &Location) -> Result<FileEntry> {
        let rows = || self.datasets.iter().flat_map(|dataset| dataset.methods.iter().map(move |method| (dataset, method)));
        let mut columns = vec![
            texts("dataset", rows().map(|(dataset, _)| &dataset.name)),
            texts("metric", rows().map(|_| self.at.metric.name())),
            numbers_or_null::<UInt32Type>("cutoff", rows().map(|_| self.at.cutoff)),
            texts("method", rows().map(|(_, row)| &row.key)),
            texts("title", rows().map(|(_, row)| &row.title)),
            numbers::<UInt32Type>("users", rows().map(|(dataset, _)| dataset.users as u32)),
            numbers::<Float64Type>("mean_a", rows().map(|(_, row)| row.means[0])),
            numbers::<Float64Type>("mean_b", rows().map(|(_, row)| row.means[1])),
        ];
        columns.extend(Tested::columns(rows().map(|(_, row)| row.tested.as_ref())));
        columns.push(texts("verdict", rows().map(|(_, row)| row.verdict())));
        table::write(at, &table::batch(columns))
    }
}

impl MethodDifference {
    /// Of the second sweep's result against the first's: `better`, `worse`, `equivalent` or `undecided`; where nothing is tested, whether the second sweep
    /// has the `same-trials`, `more-trials` or `fewer-trials`.
    pub(super) fn verdict(&self) -> &'static str {
        match (self.tested, self.alone) {
            (Some(tested), _) => tested.judged.verdict.name(),
            (None, [0, 0]) => "same-trials",
            (None, [0, _]) => "more-trials",
            (None, _) => "fewer-trials",
        }
    }

    /// The verdict for a reader, or what stands in place of a test.
    pub(super) fn said(&self) -> String {
        let has_more = |name: &str, count: usize| format!("{name} has {}", number::counted(count, "more training"));
        match (self.tested, self.alone) {
            (Some(_), _) => self.verdict().to_owned(),
            (None, [0, 0]) => "the same trials".to_owned(),
            (None, [0, more]) => has_more("B", more),
            (None, [more, _]) => has_more("A", more),
        }
    }
}
