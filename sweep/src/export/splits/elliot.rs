//! Tab-separated files without header, for Elliot's strategy `fixed`: user, item, rating, which is 1, and, where the order of interactions is known,
//! as a time the place of each in its user's history.
//!
//! `train_path: train.tsv`, `validation_path: validation.tsv` and `test_path: test.tsv` of `data_config` name them.

use super::{super::ids, PartFile, fits_tabs};
use anyhow::Result;
use dataset::Dataset;

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    ids::check(dataset, fits_tabs, "a tab-separated file of Elliot: take another format")?;
    super::files(dataset, |split| format!("{}.tsv", split.name()), |part| Ok(part.tabs(None, "\t1")))
}
