//! RecBole's atomic files with splits of their own: `NAME.train.inter`, `NAME.valid.inter`, `NAME.test.inter`.
//!
//! Where the order of interactions is known, `timestamp` is the place of each in its user's history. `dataset: NAME`, `data_path: DIR` and `benchmark_filename: [train, valid, test]` make RecBole read them.

use super::{super::ids, ExportedPart, PartFile, fits_tabs};
use anyhow::Result;
use dataset::{Dataset, Split};

pub(in super::super) fn files(name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    ids::check(dataset, fits_tabs, "an atomic file of RecBole: take another format")?;
    let suffix = |split| match split {
        Split::Train => "train",
        Split::FoldIn => "fold-in",
        Split::Validation => "valid",
        Split::Test => "test",
    };
    let names = ["user_id:token", "item_id:token"].into_iter().chain(dataset.order.as_ref().map(|_| "timestamp:float"));
    let content = |part: &ExportedPart| Ok(part.tabs(Some(names.clone().collect()), ""));
    super::files(dataset, |split| format!("{name}.{}.inter", suffix(split)), content)
}
