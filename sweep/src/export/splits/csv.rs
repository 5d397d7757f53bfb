//! Comma-separated files with the header `user_id,item_id`.

use super::{PartFile, pairs};
use anyhow::Result;
use dataset::{Dataset, Interactions};

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    let content = |part: &Interactions| {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["user_id", "item_id"])?;
        pairs(dataset, part).try_for_each(|(user, item)| writer.write_record([user, item]))?;
        Ok(writer.into_inner()?)
    };
    super::files(dataset, |split| format!("{}.csv", split.name()), content)
}
