//! RecBole's atomic files with splits of their own: `NAME.train.inter`, `NAME.valid.inter`, `NAME.test.inter`.
//!
//! `dataset: NAME`, `data_path: DIR` and `benchmark_filename: [train, valid, test]` make RecBole read them.

use super::{
    super::{File, ids},
    SEPARATORS, parts, tabs,
};
use anyhow::Result;
use dataset::{Dataset, Split};

pub(in super::super) fn files(name: &str, dataset: &Dataset) -> Result<Vec<File>> {
    ids::check(dataset, &SEPARATORS, "an atomic file of RecBole")?;
    let suffix = |split| match split {
        Split::Train => "train",
        Split::FoldIn => "fold-in",
        Split::Validation => "valid",
        Split::Test => "test",
    };
    let file = |(split, part)| (format!("{name}.{}.inter", suffix(split)), tabs(dataset, part, "user_id:token\titem_id:token\n", ""));
    Ok(parts(dataset).map(file).collect())
}
