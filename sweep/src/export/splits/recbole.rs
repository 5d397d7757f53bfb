//! RecBole's atomic files with splits of their own: `NAME.train.inter`, `NAME.valid.inter`, `NAME.test.inter`.
//!
//! `dataset: NAME`, `data_path: DIR` and `benchmark_filename: [train, valid, test]` make RecBole read them.

use super::{super::ids, PartFile, fits_tabs, tabs};
use anyhow::Result;
use dataset::{Dataset, Interactions, Split};

pub(in super::super) fn files(name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    ids::check(dataset, fits_tabs, "an atomic file of RecBole: take another format")?;
    let suffix = |split| match split {
        Split::Train => "train",
        Split::FoldIn => "fold-in",
        Split::Validation => "valid",
        Split::Test => "test",
    };
    let content = |part: &Interactions| Ok(tabs(dataset, part, "user_id:token\titem_id:token\n", ""));
    super::files(dataset, |split| format!("{name}.{}.inter", suffix(split)), content)
}
