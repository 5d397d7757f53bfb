//! Comma-separated files with the header `user_id,item_id`.

use super::{super::File, pairs, parts};
use anyhow::Result;
use dataset::Dataset;

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<File>> {
    let file = |(split, part): (dataset::Split, &dataset::Interactions)| {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["user_id", "item_id"])?;
        pairs(dataset, part).try_for_each(|(user, item)| writer.write_record([user, item]))?;
        Ok((format!("{}.csv", split.name()), writer.into_inner()?))
    };
    parts(dataset).map(file).collect()
}
