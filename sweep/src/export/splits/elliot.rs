//! Tab-separated files without header, for Elliot's strategy `fixed`: user, item, rating, which is 1.
//!
//! `train_path: train.tsv`, `validation_path: validation.tsv` and `test_path: test.tsv` of `data_config` name them.

use super::{
    super::{File, ids},
    SEPARATORS, parts, tabs,
};
use anyhow::Result;
use dataset::Dataset;

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<File>> {
    ids::check(dataset, &SEPARATORS, "a tab-separated file of Elliot")?;
    Ok(parts(dataset).map(|(split, part)| (format!("{}.tsv", split.name()), tabs(dataset, part, "", "\t1"))).collect())
}
