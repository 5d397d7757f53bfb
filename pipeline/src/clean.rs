//! Threshold and duplicates.
//!
//! Rows with a rating below the threshold are dropped first. Of what is left, each user and item keep one interaction, with the latest
//! of its times; which of several rows with that time is kept makes no difference to what is left of a row. So the result does not depend
//! on the order of rows, on threads or on memory.
//!
//! Rows are sorted in memory, partition by partition. Those that do not fit are for [`relational`](crate::relational).

use crate::{
    Limits, Preparation, Result, distinct::Distinct, edges::Catalogue, freed::give_back, ingest::Cleaning, rejected::RejectedRows,
};
use dataset::Split;
use std::sync::atomic::Ordering;

/// What is left of one part of a source.
pub(crate) struct Cleaned {
    /// Rows that were read.
    pub(crate) read: usize,
    /// Rows that reached the threshold.
    pub(crate) rated: usize,
    /// Whether the source has timestamps.
    pub(crate) timed: bool,
    pub(crate) rows: Distinct,
}

/// Reads and cleans one part of a source.
pub(crate) fn clean(
    preparation: &Preparation,
    part: Split,
    min_rating: Option<f64>,
    catalogue: &mut Catalogue,
    rejected: &mut RejectedRows,
    limits: &Limits,
) -> Result<Cleaned> {
    let cleaning = Cleaning::new(min_rating, catalogue, rejected, limits);
    let reading = preparation.read(part, &cleaning);
    let (read, rated, timed) =
        (cleaning.read.load(Ordering::Relaxed), cleaning.rated.load(Ordering::Relaxed), cleaning.timed.load(Ordering::Relaxed));
    let rows = cleaning.finish(catalogue);
    reading?;
    let rows = Distinct::new(rows, catalogue.users.len());
    give_back();
    Ok(Cleaned { read, rated, timed, rows })
}
