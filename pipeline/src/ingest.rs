//! Raw rows on their way into cleaning: ids become codes, rows become batches.

use crate::{
    Error, Result,
    edges::{Catalogue, pair},
    rejected::RejectedRows,
    source::{Rejected, Row, Sink},
};
use arrow::{
    array::{ArrayRef, Float64Builder, RecordBatch, UInt64Builder},
    datatypes::{DataType, Field, Schema, SchemaRef},
};
use std::sync::{Arc, LazyLock};
use tokio::sync::mpsc::Sender;

/// Rows of one batch.
pub(crate) const BATCH: usize = 8_192;

/// `pair`: codes of user and item; `rating` and `time`: null throughout where the source has none.
pub(crate) static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("pair", DataType::UInt64, false),
        Field::new("rating", DataType::Float64, true),
        Field::new("time", DataType::Float64, true),
    ]))
});

/// Takes the rows of one part of a source.
pub(crate) struct Ingest<'a> {
    catalogue: &'a mut Catalogue,
    rejected: &'a mut RejectedRows,
    needs_rating: bool,
    batches: Sender<RecordBatch>,
    pairs: UInt64Builder,
    ratings: Float64Builder,
    times: Float64Builder,
    rows: usize,
}

impl<'a> Ingest<'a> {
    pub(crate) fn new(
        catalogue: &'a mut Catalogue,
        rejected: &'a mut RejectedRows,
        needs_rating: bool,
        batches: Sender<RecordBatch>,
    ) -> Self {
        let (pairs, ratings, times) =
            (UInt64Builder::with_capacity(BATCH), Float64Builder::with_capacity(BATCH), Float64Builder::with_capacity(BATCH));
        Self { catalogue, rejected, needs_rating, batches, pairs, ratings, times, rows: 0 }
    }

    /// Sends what is left; the number of rows.
    pub(crate) fn finish(mut self) -> Result<usize> {
        self.send()?;
        Ok(self.rows)
    }

    fn send(&mut self) -> Result<()> {
        let columns: Vec<ArrayRef> = vec![Arc::new(self.pairs.finish()), Arc::new(self.ratings.finish()), Arc::new(self.times.finish())];
        let batch = RecordBatch::try_new(Arc::clone(&SCHEMA), columns).expect("three columns of one length");
        let stopped =
            |_| Error::query("go on reading: cleaning has stopped", datafusion::error::DataFusionError::Execution("stopped".into()));
        self.batches.blocking_send(batch).map_err(stopped)
    }
}

impl Sink for Ingest<'_> {
    fn row(&mut self, row: Row<'_>) -> Result<()> {
        if self.needs_rating && row.rating.is_none() {
            return Err(Error::setting("min_rating", "the source has no ratings (expected a rating column; or leave `min_rating` out)"));
        }
        let (user, item) = (self.catalogue.users.code(row.user), self.catalogue.items.code(row.item));
        self.pairs.append_value(pair(user, item));
        self.ratings.append_option(row.rating);
        self.times.append_option(row.time);
        self.rows += 1;
        if self.rows.is_multiple_of(BATCH) { self.send() } else { Ok(()) }
    }

    fn reject(&mut self, rejected: Rejected<'_>) -> Result<()> {
        self.rejected.add(rejected)
    }
}
