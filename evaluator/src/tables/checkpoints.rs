//! `checkpoints.parquet`: which checkpoints were ranked, and on which data.
//!
//! ```text
//! trial: utf8   checkpoint: utf8   sha256: utf8   dataset: utf8   dataset_at: utf8   fingerprint: utf8
//! ```
//! Rows follow the trials as ranked.

use super::columns;
use crate::{Result, Scorer, evaluate::Candidate};
use dataset::{Dataset, Location, table};

/// Writes a row for each checkpoint that was ranked on the dataset of a folder.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) for a checkpoint that cannot be read, or a table that cannot be stored.
pub fn write_checkpoints(at: &Location, candidates: &[Candidate], dataset: &Dataset, folder: &Location) -> Result<()> {
    let checksums = candidates.iter().map(|candidate| Scorer::checksum(&candidate.checkpoint)).collect::<Result<Vec<_>>>()?;
    let (places, folder) = (candidates.iter().map(|candidate| candidate.checkpoint.to_string()), folder.to_string());
    let batch = table::batch(vec![
        columns::strings(at, "trial", candidates.iter().map(|candidate| &candidate.trial))?,
        columns::strings(at, "checkpoint", places)?,
        columns::strings(at, "sha256", checksums.iter())?,
        columns::strings(at, "dataset", candidates.iter().map(|_| &dataset.name))?,
        columns::strings(at, "dataset_at", candidates.iter().map(|_| &folder))?,
        columns::strings(at, "fingerprint", candidates.iter().map(|_| &dataset.fingerprint))?,
    ]);
    table::write(at, &batch)?;
    Ok(())
}
