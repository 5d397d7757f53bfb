//! Parquet tables with the columns `user_id` and `item_id`, which LensKit's `from_interactions_df` and `ItemListCollection.from_df` take.
//!
//! Ids are texts: read from comma-separated text, `007` would be another item.

use super::{PartFile, pairs};
use anyhow::Result;
use arrow::array::StringArray;
use dataset::{Dataset, Interactions, table};
use std::sync::Arc;

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    let content = |part: &Interactions| {
        let (users, items): (Vec<&str>, Vec<&str>) = pairs(dataset, part).unzip();
        let (users, items) = (StringArray::from(users), StringArray::from(items));
        Ok(table::encode(&table::batch(vec![("user_id", Arc::new(users), false), ("item_id", Arc::new(items), false)]))?)
    };
    super::files(dataset, |split| format!("{}.parquet", split.name()), content)
}
